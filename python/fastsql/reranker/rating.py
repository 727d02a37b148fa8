"""Whether a program is what a question asks for: what a parser asks of the reranker."""

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
from fastsql.reranker.config import RerankerConfig
from fastsql.reranker.reading import MAX_TOKENS, PROGRAM_TOKENS, Row, asked, row
from fastsql.reranker.weights import StoredReranker, read_reranker
from fastsql.reverse.source import SourceReaders
from fastsql.schema.model import Structure

Scorer: TypeAlias = Callable[[Sequence[Row]], NDArray[np.float64]]
"""Rows, at least one, to the log-odds of each, float64[rows]."""


class Rater:
    """Log-odds that a program is what a question asks for, by C++ where it was built, else by the reference. Thread-safe.

    `digest` is the SHA-256 of the weights.
    """

    def __init__(self, score: Scorer, config: RerankerConfig, tokenizer: Tokenizer, digest: str) -> None:
        self.digest = digest
        self._score = score
        self._tokenizer = tokenizer
        self._readers = SourceReaders(tokenizer, config.numbers)

    def __call__(
        self, question: str, earlier: Sequence[str], programs: Sequence[Program], schema: Structure
    ) -> NDArray[np.float64]:
        """The log-odds of each program over a schema, in nats, float64[programs].

        Of a question that is too long the beginning is read.

        `earlier` are the questions before it in its conversation, the latest last; programs refer to none of them, but have
        written out what they say. A program's number does not depend on the others. NaN for a program that is empty or has
        more than `PROGRAM_TOKENS` tokens.
        """
        found = np.full(len(programs), np.nan)
        reader = self._readers.over(schema)
        question_row = asked(question, earlier, self._tokenizer)
        rows: dict[int, Row] = {}
        for number, program in enumerate(programs):
            if program:
                try:
                    source = reader.read(program)
                except LimitError:
                    continue
                if len(source.ids) <= PROGRAM_TOKENS:
                    rows[number] = row(question_row, source)
        if rows:
            found[list(rows)] = self._score(list(rows.values()))
        return found


def open_rater(
    path: str | Path, tokenizer: Tokenizer, *, core: ModuleType | None = None, threads: int = 1
) -> Rater:
    """Read a reranker, which shares the `tokenizer` of a parser's bundle.

    `core` is the native module (`backends.native`) to compute with, on so many threads; None computes in NumPy, to the same
    end. Raises as `read_reranker` does.
    """
    stored = read_reranker(path, tokenizer)
    score = _by_reference(stored) if core is None else _by_core(stored, core, threads)
    return Rater(score, stored.config, tokenizer, stored.digest)


def _by_reference(stored: StoredReranker) -> Scorer:
    network = stored.network()

    def score(rows: Sequence[Row]) -> NDArray[np.float64]:
        return np.array([network.log_odds(one) for one in rows])

    return score


def _by_core(stored: StoredReranker, core: ModuleType, threads: int) -> Scorer:
    network = core.RerankerNetwork(
        {**stored.config.to_dict(), "max_tokens": MAX_TOKENS}, stored.arrays, threads
    )

    def score(rows: Sequence[Row]) -> NDArray[np.float64]:
        packed = (
            np.concatenate([getattr(one, name) for one in rows])
            for name in ("ids", "kinds", "tables", "shared")
        )
        lengths = np.array([len(one.ids) for one in rows], dtype=np.int32)
        found: NDArray[np.float64] = network.log_odds(*packed, lengths)
        return found

    return score
