"""Questions piece by piece: drawn by chance, or the likeliest that a beam finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.model.attention import Array
from fastsql.reverse.network import Encoded, Memory, ReverseNetwork
from fastsql.reverse.source import Ints, Source

MAX_PIECES = 80
"""Of one question. The longest that is trained on has 56."""
_LENGTH_EXPONENT = 0.8
"""Hypotheses of a beam are compared by their score over length to this power (Wu et al., 2016)."""
_WITHOUT_VALUE, _WITHOUT_NAME = 4.0, 1.0
"""What a value, and the name of a table or column, that a question lacks takes from its log probability."""


@dataclass(frozen=True)
class Written:
    """A question's pieces, without the last; `copied` says of each from where in the source it comes, -1 for nowhere."""

    pieces: tuple[int, ...]
    copied: tuple[int, ...]
    log_probability: float


@dataclass(frozen=True, eq=False)
class _Choices:
    """What may be written next.

    `probability` float32[B, outputs + S] of what can be written and, behind it, of what can only be copied; `pieces` int32
    of the same shape; `copied` int32, the place in the source that it is copied from, -1 where hardly any of it is copied.
    """

    probability: Array
    pieces: Ints
    copied: Ints


class Generator:
    """Writes questions from encoded sources; `banned` are pieces that stand for no text unless they are copied."""

    def __init__(self, network: ReverseNetwork, banned: tuple[int, ...]) -> None:
        self._network = network
        self._outputs = np.asarray(network.config.outputs, dtype=np.int32)
        self._banned = np.isin(self._outputs, banned) & (self._outputs != network.config.end)

    def sample(
        self, encoded: Encoded, rngs: list[np.random.Generator], temperature: float, nucleus: float
    ) -> list[Written]:
        """One question for each source, drawn by its own generator.

        Nucleus sampling (Holtzman et al., 2020): one of the likeliest pieces that together have the probability `nucleus`,
        each as likely as its probability to the power of 1 / `temperature` says.
        """
        rows, slots = np.arange(len(rngs)), self._slots(encoded)
        last = np.full((len(rngs), 1), self._network.config.start, dtype=np.int32)
        memory: Memory | None = None
        pieces: list[list[int]] = [[] for _ in rngs]
        copied: list[list[int]] = [[] for _ in rngs]
        total = np.zeros(len(rngs))
        open_rows = np.ones(len(rngs), dtype=bool)
        for _ in range(MAX_PIECES):
            choices, memory = self._next(encoded, slots, last, memory)
            chosen = np.array(
                [
                    _draw(row, rng, temperature, nucleus)
                    for row, rng in zip(choices.probability, rngs, strict=True)
                ]
            )
            last = choices.pieces[rows, chosen][:, None]
            total += open_rows * np.log(np.maximum(choices.probability[rows, chosen], 1e-30))
            open_rows = open_rows & (last[:, 0] != self._network.config.end)
            for row in np.flatnonzero(open_rows):
                pieces[row].append(int(last[row, 0]))
                copied[row].append(int(choices.copied[row, chosen[row]]))
            if not open_rows.any():
                break
        return [
            Written(tuple(one), tuple(places), float(score))
            for one, places, score in zip(pieces, copied, total, strict=True)
        ]

    def beam(self, encoded: Encoded, source: Source, width: int) -> list[Written]:
        """The likeliest questions of one source, best first, at most `width`.

        Of what the beam ends with, those come first that leave out least of the source (the coverage of Wu et al., 2016): a
        likely question may be one that says half of what was meant.
        """
        end = self._network.config.end
        rows, slots = encoded, self._slots(encoded)
        live = [Written((), (), 0.0)]
        last = np.array([[self._network.config.start]], dtype=np.int32)
        memory: Memory | None = None
        done: list[Written] = []
        for _ in range(MAX_PIECES):
            choices, memory = self._next(rows, np.repeat(slots, len(live), axis=0), last, memory)
            scores = np.log(np.maximum(choices.probability, 1e-30)) + np.array(
                [[one.log_probability] for one in live]
            )
            order = np.argsort(-scores, axis=None, kind="stable")[: 2 * width]
            grown: list[tuple[int, Written]] = []
            for row, slot in zip(*np.unravel_index(order, scores.shape), strict=True):
                piece, score, parent = int(choices.pieces[row, slot]), float(scores[row, slot]), live[row]
                if piece == end:
                    done.append(Written(parent.pieces, parent.copied, score))
                elif len(grown) < width:
                    place = int(choices.copied[row, slot])
                    grown.append((int(row), Written((*parent.pieces, piece), (*parent.copied, place), score)))
            if len(done) >= width:
                break
            parents = np.array([row for row, _ in grown])
            live = [one for _, one in grown]
            rows = encoded.rows(np.zeros(len(live), dtype=np.intp))
            memory = tuple(layer[:, parents] for layer in memory)
            last = np.array([[one.pieces[-1]] for one in live], dtype=np.int32)
        return sorted(done or live, key=lambda one: _score(one, source), reverse=True)[:width]

    def _next(
        self, encoded: Encoded, slots: NDArray[np.intp], last: Ints, memory: Memory | None
    ) -> tuple[_Choices, Memory]:
        states, memory = self._network.decode(encoded, last, memory)
        written, copied = (scores[:, 0] for scores in self._network.scores(encoded, states, last))
        largest = np.maximum(written.max(axis=-1), copied.max(axis=-1))[:, None]
        by_writing, by_copying = np.exp(written - largest), np.exp(copied - largest)
        total = by_writing.sum(axis=-1, keepdims=True) + by_copying.sum(axis=-1, keepdims=True)
        return self._merged(encoded, slots, by_writing[:, :-1] / total, by_copying / total), memory

    def _merged(self, encoded: Encoded, slots: NDArray[np.intp], written: Array, copied: Array) -> _Choices:
        """Adds up what a piece gets by being written and by being copied from several places."""
        batch, length = encoded.ids.shape
        outputs = len(self._outputs)
        rows = np.arange(batch)[:, None]
        probability = np.zeros((batch, outputs + length), dtype=np.float32)
        probability[:, :outputs] = np.where(self._banned, 0, written)
        np.add.at(probability, (rows, slots), copied)
        pieces = np.concatenate([np.broadcast_to(self._outputs, (batch, outputs)), encoded.ids], axis=1)
        places = np.full(probability.shape, -1, dtype=np.int32)
        order = np.argsort(copied, axis=1)  # of several places of a piece, the likeliest is noted last
        ordered = np.take_along_axis(slots, order, axis=1)
        share = np.take_along_axis(copied, order, axis=1)
        enough = share > np.take_along_axis(probability, ordered, axis=1) / 4
        np.put_along_axis(places, ordered, np.where(enough, order, -1).astype(np.int32), axis=1)
        return _Choices(probability, pieces, places)

    def _slots(self, encoded: Encoded) -> NDArray[np.intp]:
        """Where the probability of copying each token goes, [B, S]: to what writes the piece, or to its first place."""
        written = self._network.output_of[np.clip(encoded.ids, 0, self._network.config.pieces - 1)]
        first = (encoded.ids[:, :, None] == encoded.ids[:, None, :]).argmax(axis=2)
        can_write = (written < len(self._outputs)) & (encoded.copyable == 0)
        slots: NDArray[np.intp] = np.where(can_write, written, len(self._outputs) + first).astype(np.intp)
        return slots


def _draw(probability: Array, rng: np.random.Generator, temperature: float, nucleus: float) -> int:
    order = np.argsort(-probability, kind="stable")
    likely = probability[order].astype(np.float64)
    before = np.cumsum(likely) - likely
    likely = likely[before < nucleus * likely.sum()]
    weights = (likely / likely[0]) ** (1 / temperature)
    position = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))
    return int(order[min(position, len(weights) - 1)])


def _score(one: Written, source: Source) -> float:
    values, names = left_out(one.pieces, source)
    score = one.log_probability - _WITHOUT_VALUE * values - _WITHOUT_NAME * names
    return score / math.pow(len(one.pieces) + 1, _LENGTH_EXPONENT)


def left_out(pieces: Sequence[int], source: Source) -> tuple[float, float]:
    """How many values and how many names of a source a question lacks: of each, the share of its pieces."""
    said = set(pieces)
    lacking = {True: 0.0, False: 0.0}
    spans = {(span.value, *source.ids[span.start : span.end].tolist()) for span in source.spans}
    for value, *inside in spans:
        lacking[bool(value)] += sum(piece not in said for piece in inside) / max(1, len(inside))
    return lacking[True], lacking[False]
