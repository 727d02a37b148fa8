"""The file that a reranker is kept in (`fastsql.model.one_file`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from fastsql.model.attention import Array, Part
from fastsql.model.encoder import WordTable
from fastsql.model.one_file import Arrays, FileKind, as_float32, read_model, stored_arrays, write_model
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import SCALE
from fastsql.reranker.config import RerankerConfig
from fastsql.reranker.network import RerankerNetwork

FORMAT = 1
WORDS = "words.weight"
RERANKER = FileKind("reranker", FORMAT, 24 * 10**6, "Train it again, or install fastsql again.")


@dataclass(frozen=True, eq=False)
class StoredReranker:
    """A reranker as its file holds it: `arrays` are those of `RerankerConfig.shapes`, `digest` is their SHA-256."""

    config: RerankerConfig
    arrays: Arrays
    digest: str

    def network(self) -> RerankerNetwork:
        """The network in NumPy, whose weights are float32."""
        weights = {name: as_float32(self.arrays, name) for name in self.config.shapes() if name != WORDS}
        words = WordTable(self.arrays[WORDS], self.arrays[WORDS + SCALE])
        return RerankerNetwork(self.config, Part(weights), words)


def read_reranker(path: str | Path, tokenizer: Tokenizer) -> StoredReranker:
    """Read the file of a reranker that shares the `tokenizer` of a parser's bundle.

    Raises ModelError where the file is missing, too large, damaged, of another format, or trained with another tokenizer.
    """
    content = read_model(path, RERANKER, tokenizer)
    config = RerankerConfig.from_dict(content.sizes)
    if config.pieces != tokenizer.vocabulary:
        raise RERANKER.damaged(content.file, "it has another number of word pieces than its tokenizer")
    return StoredReranker(config, stored_arrays(content, RERANKER, config.shapes(), {WORDS}), content.digest)


def count_weights(path: str | Path) -> int:
    """How many weights a reranker has. Raises ModelError as `read_reranker` does, whatever the tokenizer."""
    sizes = read_model(path, RERANKER, None).sizes
    return sum(math.prod(shape) for shape in RerankerConfig.from_dict(sizes).shapes().values())


def save_reranker(
    path: str | Path, config: RerankerConfig, weights: dict[str, Array], tokenizer: Tokenizer
) -> Path:
    """Write a reranker. Raises ModelError where the file would be too large."""
    return write_model(path, RERANKER, config.to_dict(), config.shapes(), weights, tokenizer, {WORDS})
