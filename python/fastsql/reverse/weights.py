"""The file that a reverse model is kept in (`fastsql.model.one_file`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from fastsql.model.attention import Array, Part
from fastsql.model.encoder import WordTable
from fastsql.model.one_file import Arrays, FileKind, as_float32, read_model, stored_arrays, write_model
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import SCALE
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.model import ReverseModel
from fastsql.reverse.network import ReverseNetwork

FORMAT = 1
WORDS = "words.weight"
REVERSE = FileKind("reverse", FORMAT, 12 * 10**6, "Train it again, or install fastsql again.")


@dataclass(frozen=True, eq=False)
class StoredReverse:
    """A reverse model as its file holds it.

    `arrays` are those of `ReverseConfig.shapes`, float32, or int8 [out, in] beside "<name>.scale" float32[out]. `digest` is
    their SHA-256.
    """

    config: ReverseConfig
    arrays: Arrays
    digest: str

    def network(self) -> ReverseNetwork:
        """The network in NumPy, whose weights are float32."""
        weights = {name: self.weights(name) for name in self.config.shapes() if name != WORDS}
        return ReverseNetwork(
            self.config, Part(weights), WordTable(self.arrays[WORDS], self.arrays[WORDS + SCALE])
        )

    def weights(self, name: str) -> Array:
        """One of the arrays, float32."""
        return as_float32(self.arrays, name)


def load_reverse(path: str | Path, tokenizer: Tokenizer) -> ReverseModel:
    """Read a reverse model, which shares the `tokenizer` of a parser's bundle. Raises as `read_reverse` does."""
    return ReverseModel(read_reverse(path, tokenizer).network(), tokenizer)


def read_reverse(path: str | Path, tokenizer: Tokenizer) -> StoredReverse:
    """Read the file of a reverse model that shares the `tokenizer` of a parser's bundle.

    Raises ModelError where the file is missing, too large, damaged, of another format, or trained with another tokenizer.
    """
    content = read_model(path, REVERSE, tokenizer)
    config = ReverseConfig.from_dict(content.sizes)
    if config.pieces != tokenizer.vocabulary:
        raise REVERSE.damaged(content.file, "it has another number of word pieces than its tokenizer")
    return StoredReverse(config, stored_arrays(content, REVERSE, config.shapes(), {WORDS}), content.digest)


def count_weights(path: str | Path) -> int:
    """How many weights a reverse model has. Raises ModelError as `load_reverse` does, whatever the tokenizer."""
    sizes = read_model(path, REVERSE, None).sizes
    return sum(math.prod(shape) for shape in ReverseConfig.from_dict(sizes).shapes().values())


def save_reverse(
    path: str | Path, config: ReverseConfig, weights: dict[str, Array], tokenizer: Tokenizer
) -> Path:
    """Write a reverse model. Raises ModelError where the file would be too large."""
    return write_model(path, REVERSE, config.to_dict(), config.shapes(), weights, tokenizer, {WORDS})
