"""From beams to batches: which hypotheses of a question are learnt from, and what stands before it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from fastsql.model.tokenizer import Tokenizer
from fastsql.reranker.reading import PROGRAM_TOKENS, Row, asked, row
from fastsql.training.reranker.beams import Beam, Judged
from fastsql.training.reranker.network import Packed, pack
from fastsql.training.reranker.settings import RerankerSettings

_POOL = 20
"""Batches that are sorted by length together, so that little is padded and the order stays random."""
_NEAR = 5.0
"""Nats behind the likeliest within which a wrong hypothesis is learnt from: who asks a reranker asks about few others."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of all hypotheses, whether each is right, bool[rows], and how many rows each question has."""

    rows: Packed
    right: Tensor
    counts: list[int]


class BeamReader:
    """Makes batches of beams; rows that are too long are left out."""

    def __init__(self, beams: Sequence[Beam], tokenizer: Tokenizer, settings: RerankerSettings) -> None:
        self._tokenizer = tokenizer
        self._most, self._optim = settings.data.most, settings.optim
        self._beams = [short for beam in beams if (short := _short(beam)).hypotheses]
        self._over: dict[str, list[str]] = defaultdict(list)
        for beam in self._beams:
            self._over[beam.schema].append(beam.question)

    def __len__(self) -> int:
        return len(self._beams)

    def epoch(self, seed: str) -> Iterator[Batch]:
        """The batches of an epoch; each question comes as often as its weight says, with some of its hypotheses."""
        rng, optim = random.Random(seed), self._optim
        drawn: list[Beam] = []
        for beam in self._beams:
            weight = beam.weight * (1.0 if any(one.right for one in beam.hypotheses) else optim.wrong)
            drawn += [beam] * (int(weight) + (rng.random() < weight % 1))
        rng.shuffle(drawn)
        chunks: list[list[Beam]] = []
        pool = _POOL * optim.questions
        for start in range(0, len(drawn), pool):
            chunks += _chunks(drawn[start : start + pool], optim.questions)
        rng.shuffle(chunks)
        for chunk in chunks:
            yield self._batch(
                [
                    (beam, self._before(beam, rng), drawn_from(beam.hypotheses, self._most, rng))
                    for beam in chunk
                ]
            )

    def plain(self) -> Iterator[tuple[Sequence[Beam], Batch]]:
        """Every question once, with all of its hypotheses."""
        for chunk in _chunks(self._beams, self._optim.questions):
            yield chunk, self._batch([(beam, beam.earlier, beam.hypotheses) for beam in chunk])

    def _before(self, beam: Beam, rng: random.Random) -> Sequence[str]:
        """The questions before one; now and then such as have nothing to do with it."""
        if beam.earlier or rng.random() >= self._optim.after_others:
            return beam.earlier
        others = [one for one in self._over[beam.schema] if one != beam.question]
        return [rng.choice(others) for _ in range(rng.choice((1, 1, 2)))] if others else beam.earlier

    def _batch(self, chosen: Sequence[tuple[Beam, Sequence[str], Sequence[Judged]]]) -> Batch:
        rows: list[Row] = []
        for beam, earlier, hypotheses in chosen:
            question = asked(beam.question, earlier, self._tokenizer)
            rows += [row(question, one.source) for one in hypotheses]
        right = torch.tensor([one.right for _, _, hypotheses in chosen for one in hypotheses])
        return Batch(pack(rows), right, [len(hypotheses) for _, _, hypotheses in chosen])


def drawn_from(hypotheses: Sequence[Judged], most: int, rng: random.Random) -> list[Judged]:
    """Two right ones at most, and `most` - 2 of the likeliest wrong ones: the first two, and others by chance."""
    right = [one for one in hypotheses if one.right]
    if len(right) > 2:
        right = [right[0], rng.choice(right[1:])]
    wrong = sorted((one for one in hypotheses if not one.right), key=lambda one: -one.rank)
    least = max(one.rank for one in hypotheses) - _NEAR
    near = [one for one in wrong if one.rank > least] or wrong[:1]
    room = most - 2
    if len(near) > room:
        near = near[:2] + rng.sample(near[2:], room - 2)
    return right + near


def loss_of(scores: Tensor, batch: Batch) -> Tensor:
    """The mean over questions of two losses: of the right ones' share of a softmax, and of each being right by itself.

    The first tells hypotheses of one question apart, the second what is right from what is not, whoever asks.
    """
    each = F.binary_cross_entropy_with_logits(scores, batch.right.to(scores.dtype), reduction="none")
    total = scores.new_zeros(())
    places = zip(*(torch.split(one, batch.counts) for one in (scores, batch.right, each)), strict=True)
    for said, right, alone in places:
        total = total + alone.mean()
        if right.any() and not right.all():
            total = total + said.logsumexp(0) - said[right].logsumexp(0)
    return total / len(batch.counts)


def _short(beam: Beam) -> Beam:
    """Without hypotheses that are not read."""
    return replace(
        beam, hypotheses=tuple(one for one in beam.hypotheses if len(one.source.ids) <= PROGRAM_TOKENS)
    )


def _chunks(beams: Sequence[Beam], questions: int) -> list[list[Beam]]:
    """Questions of like length together."""
    ordered = sorted(beams, key=_size)
    return [ordered[start : start + questions] for start in range(0, len(ordered), questions)]


def _size(beam: Beam) -> float:
    return len(beam.question) / 4 + sum(len(one.source.ids) for one in beam.hypotheses) / len(beam.hypotheses)
