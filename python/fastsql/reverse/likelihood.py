"""How likely a question is for each of a few programs: what a parser asks of the reverse model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError
from fastsql.grammar.program import Program
from fastsql.model.tokenizer import Tokenizer
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.network import ReverseNetwork
from fastsql.reverse.source import MAX_TOKENS, Ints, Source, SourceReaders
from fastsql.reverse.weights import StoredReverse, read_reverse
from fastsql.schema.model import Structure

Scorer: TypeAlias = Callable[[Sequence[Source], Ints], NDArray[np.float64]]
"""Sources, at least one, and a question's pieces int32[T] with the end to log P(question | source), float64[sources]."""


class Likelihood:
    """log P(question | program), by C++ where it was built, else by the reference. Thread-safe.

    `digest` is the SHA-256 of the weights.
    """

    def __init__(self, score: Scorer, config: ReverseConfig, tokenizer: Tokenizer, digest: str) -> None:
        self.digest = digest
        self._score = score
        self._config = config
        self._tokenizer = tokenizer
        self._readers = SourceReaders(tokenizer, config.numbers)

    def __call__(self, question: str, programs: Sequence[Program], schema: Structure) -> NDArray[np.float64]:
        """How likely the question is where each of the programs over a schema is meant, float64[programs].

        It is that of the question's pieces and its end, and does not depend on the other programs. NaN for a program that is
        empty or has more than `MAX_TOKENS` tokens. Raises LimitError where the question is too long.
        """
        found = np.full(len(programs), np.nan)
        reader = self._readers.over(schema)
        sources: dict[int, Source] = {}
        for number, program in enumerate(programs):
            if program:
                try:
                    sources[number] = reader.read(program)
                except LimitError:
                    continue
        if sources:
            found[list(sources)] = self._score(list(sources.values()), self._pieces(question))
        return found

    def _pieces(self, question: str) -> Ints:
        pieces = np.append(self._tokenizer.tokenize(question).ids, self._config.end).astype(np.int32)
        if len(pieces) > MAX_TOKENS:
            raise LimitError(
                f"{len(pieces):,} tokens are more than the {MAX_TOKENS} that the reverse model reads",
                where="question",
                remedy="Ask a shorter question.",
            )
        return pieces


def open_likelihood(
    path: str | Path, tokenizer: Tokenizer, *, core: ModuleType | None = None, threads: int = 1
) -> Likelihood:
    """Read a reverse model for its likelihoods, which shares the `tokenizer` of a parser's bundle.

    `core` is the native module (`backends.native`) to compute with, on so many threads; None computes in NumPy, to the same
    end. Raises as `load_reverse` does.
    """
    stored = read_reverse(path, tokenizer)
    score = _by_reference(stored.network()) if core is None else _by_core(stored, core, threads)
    return Likelihood(score, stored.config, tokenizer, stored.digest)


def _by_reference(network: ReverseNetwork) -> Scorer:
    def score(sources: Sequence[Source], pieces: Ints) -> NDArray[np.float64]:
        # One by one: padding would show in the last digits.
        each = (network.log_probabilities(network.encode([source]), pieces[None]) for source in sources)
        return np.array([row.sum(dtype=np.float64) for row in each])

    return score


def _by_core(stored: StoredReverse, core: ModuleType, threads: int) -> Scorer:
    sizes = {**stored.config.to_dict(), "max_tokens": MAX_TOKENS}
    network = core.ReverseNetwork(sizes, stored.arrays, threads)

    def score(sources: Sequence[Source], pieces: Ints) -> NDArray[np.float64]:
        packed = (
            np.concatenate([getattr(one, name) for one in sources]) for name in ("ids", "kinds", "tables")
        )
        lengths = np.array([len(one.ids) for one in sources], dtype=np.int32)
        found: NDArray[np.float64] = network.log_probability(*packed, lengths, pieces)
        return found

    return score
