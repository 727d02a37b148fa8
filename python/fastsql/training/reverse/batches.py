"""From programs with questions to padded batches of like length."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from fastsql.model.tokenizer import Tokenizer
from fastsql.reverse.source import OTHER, Source, SourceReader
from fastsql.schema import Schema
from fastsql.training.reverse.network import ReverseBatch
from fastsql.training.reverse.pairs import AskedProgram
from fastsql.training.reverse.settings import PairSettings, StepSettings

_POOL = 40
"""Batches that are sorted by length together, so that little is padded and the order stays random."""


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A pair with its question in pieces, the end piece included."""

    pair: AskedProgram
    pieces: list[int]
    size: int  # tokens of source and question


class PairReader:
    """Makes pieces, sources and batches of pairs."""

    def __init__(
        self,
        schemas: dict[str, Schema],
        tokenizer: Tokenizer,
        symbols: dict[str, int],
        settings: PairSettings,
    ) -> None:
        self._readers = {name: SourceReader(schema, tokenizer, symbols) for name, schema in schemas.items()}
        self._tokenizer = tokenizer
        self._settings = settings

    def pieces(self, pairs: Iterable[AskedProgram]) -> list[Piecewise]:
        """Those pairs that are not too long."""
        found = []
        for pair in pairs:
            ids = [*self._tokenizer.tokenize(pair.question).ids.tolist(), self._tokenizer.sep]
            tokens = len(self.source(pair).ids)
            if tokens <= self._settings.longest_source and len(ids) <= self._settings.longest_question:
                found.append(Piecewise(pair, ids, tokens + len(ids)))
        return found

    def source(self, pair: AskedProgram, rng: random.Random | None = None, style: str = "") -> Source:
        """A pair's program, in its own style where none is given."""
        return self._readers[pair.schema].read(pair.program, style or pair.style, rng)

    def written(self, pairs: Sequence[Piecewise]) -> tuple[int, ...]:
        """Pieces that questions have and their sources lack, often enough, and the end piece."""
        counts: Counter[int] = Counter()
        for one in pairs:
            counts.update(set(one.pieces).difference(self.source(one.pair).ids.tolist()))
        often = {piece for piece, count in counts.items() if count >= self._settings.least}
        return tuple(sorted(often | {self._tokenizer.sep}))

    def epoch(
        self, pairs: Sequence[Piecewise], settings: StepSettings, seed: str
    ) -> Iterator[tuple[ReverseBatch, int]]:
        """The batches of an epoch and how many pairs each holds; each pair comes as often as its weight says."""
        rng = random.Random(seed)
        drawn = [
            one for one in pairs for _ in range(int(one.pair.weight) + (rng.random() < one.pair.weight % 1))
        ]
        rng.shuffle(drawn)
        batches: list[list[Piecewise]] = []
        pool = _POOL * 32
        for start in range(0, len(drawn), pool):
            batches += _batches(sorted(drawn[start : start + pool], key=_size), settings.tokens)
        rng.shuffle(batches)
        for chosen in batches:
            sources = [
                self.source(
                    one.pair,
                    rng if rng.random() < settings.synonyms else None,
                    OTHER if rng.random() < settings.no_style else "",
                )
                for one in chosen
            ]
            yield collate(sources, [one.pieces for one in chosen]), len(chosen)

    def plain(self, pairs: Sequence[Piecewise], settings: StepSettings) -> Iterator[ReverseBatch]:
        """Every pair once, as it is."""
        for chosen in _batches(sorted(pairs, key=_size), settings.tokens):
            yield collate([self.source(one.pair) for one in chosen], [one.pieces for one in chosen])


def _size(one: Piecewise) -> int:
    return one.size


def _batches(ordered: list[Piecewise], tokens: int) -> list[list[Piecewise]]:
    """Cut where the next pair would make a batch, padded to its longest, larger than `tokens`."""
    batches: list[list[Piecewise]] = [[]]
    for one in ordered:
        if batches[-1] and one.size * (len(batches[-1]) + 1) > tokens:
            batches.append([])
        batches[-1].append(one)
    return [batch for batch in batches if batch]


def collate(sources: Sequence[Source], questions: Sequence[Sequence[int]]) -> ReverseBatch:
    """Pad sources and pieces to tensors."""
    length = [len(source.ids) for source in sources]
    asked = [len(question) for question in questions]
    return ReverseBatch(
        ids=_padded([source.ids for source in sources]),
        kinds=_padded([source.kinds for source in sources]),
        tables=_padded([source.tables for source in sources]),
        length=torch.tensor(length),
        pieces=_padded([np.asarray(question) for question in questions]),
        written=torch.arange(max(asked)) < torch.tensor(asked)[:, None],
    )


def _padded(rows: Sequence[NDArray[np.integer]]) -> torch.Tensor:
    table = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return torch.from_numpy(table)
