"""The native beam search beside the reference, over the same rows of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastsql.decode import Hypothesis, Search, beam, beam_search
from fastsql.grammar import ActionSpace
from fastsql.grammar.actions import SCHEMA_VALUE
from fastsql.linking.nodes import NodeLayout
from fastsql.model.attention import Array, Part
from fastsql.model.config import ModelConfig
from fastsql.model.decoder import Decoder, DecoderState, Memory
from fastsql.model.weights import SCALE, dequantise, quantise

from .automata import native_space

TOLERANCE = 1e-4
"""How far log-probabilities may differ, each and as sums of a hypothesis' first few; and below which two rank as equal."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Final graph rows of a question and its schema, each float32[n, d], and of schema values."""

    question: Array  # tokens, then candidates, then earlier turns
    items: Array  # tables, then columns
    values: Array
    entries: Array  # what earlier turns offer

    @classmethod
    def of(cls, memory: Memory) -> Rows:
        """The rows that a memory was made from."""
        return cls(*memory.parts())

    @classmethod
    def draw(cls, space: ActionSpace, d: int, random: np.random.Generator) -> Rows:
        """Rows for a space, as if a graph had made them."""
        nodes = NodeLayout.of_schema(space.schema).with_question(
            len(space.tokens), len(space.candidates), len(space.turns)
        )
        entries = sum(turn.entries for turn in space.turns)
        counts = (nodes.question.stop, nodes.size - nodes.question.stop, len(space.schema_values), entries)
        return cls(*(random.normal(size=(count, d)).astype(np.float32) for count in counts))


class BothDecoders:
    """One set of decoder weights in the reference and in the native core."""

    def __init__(self, core: ModuleType, config: ModelConfig, weights: Mapping[str, NDArray[Any]]) -> None:
        """`weights` as they are stored: int8 ones have their scales beside them."""
        floats = {
            name: dequantise(weight, weights[name + SCALE]) if name + SCALE in weights else weight
            for name, weight in weights.items()
        }
        self.core = core
        self.config = config
        self.reference = Decoder(config, Part(floats, "decoder."))
        self.native = core.Decoder(config.to_dict(), dict(weights))

    def memory(self, space: ActionSpace, rows: Rows) -> Memory:
        """What the reference reads of the rows."""
        nodes = NodeLayout.of_schema(space.schema)
        schema = self.reference.read_schema(rows.items, nodes)
        values = self.reference.pointer_keys(SCHEMA_VALUE, rows.values)
        nodes = nodes.with_question(len(space.tokens), len(space.candidates), len(space.turns))
        steps = space.limits.actions if space.turns else None
        return self.reference.read(rows.question, nodes, schema, rows.values, values, rows.entries, steps)

    def start(self, memory: Memory, hypotheses: int) -> DecoderState:
        """The reference's decoder before its first decision."""
        return DecoderState(self.reference, memory, hypotheses)

    def search_natively(
        self, space: ActionSpace, rows: Rows, width: int = 4, threads: int = 1, patience: float = 0.0
    ) -> Search:
        """What the native search finds, in the reference's terms."""
        found, unfinished, steps = self.native.search(
            native_space(self.core, space),
            rows.question,
            rows.items,
            rows.values,
            rows.entries,
            beam=width,
            threads=threads,
            patience=patience,
        )
        hypotheses = (Hypothesis(*(tuple(part.tolist()) for part in parts)) for parts in found)
        return Search(tuple(hypotheses), unfinished, steps)

    def compare(
        self, space: ActionSpace, rows: Rows, width: int = 4, patience: float = 0.0
    ) -> tuple[Search, bool]:
        """Searches with both; returns what the native search found, and whether scores were too close to tell ranks apart.

        Raises AssertionError where both differ although no two ranks were that close.
        """
        native = self.search_natively(space, rows, width, patience=patience)
        with closest_ranks() as gaps:
            reference = beam_search(self, self.memory(space, rows), space, beam=width, patience=patience)
        scores = [hypothesis.score for hypothesis in reference.finished]
        gaps += np.abs(np.diff([*scores, reference.unfinished, scores[0] - patience])).tolist()
        close = min(gaps) < TOLERANCE
        if not close or [h.path for h in native.finished] == [h.path for h in reference.finished]:
            expect_same(native, reference)
        return native, close


def expect_same(native: Search, reference: Search) -> None:
    """Raises AssertionError unless both searches came to the same, in the same number of steps."""
    assert [h.path for h in native.finished] == [h.path for h in reference.finished]
    assert [h.actions for h in native.finished] == [h.actions for h in reference.finished]
    for ours, theirs in zip(native.finished, reference.finished, strict=True):
        np.testing.assert_allclose(
            ours.log_probabilities, theirs.log_probabilities, rtol=1e-4, atol=TOLERANCE
        )
        np.testing.assert_allclose(ours.kept, theirs.kept, rtol=1e-4, atol=TOLERANCE)
    assert native.steps == reference.steps
    assert native.unfinished == pytest.approx(reference.unfinished, rel=1e-4, abs=TOLERANCE)


@contextmanager
def closest_ranks() -> Iterator[list[float]]:
    """Notes, for searches of the reference, how far apart continuations are that stand beside each other in its ranking."""
    gaps: list[float] = []
    best = beam._best

    def noting(scores: Any, live: Any, width: int) -> Any:
        ranked = best(scores, live, width + 1)
        totals = [live[origin].hypothesis.score + gain for origin, _, gain, _ in ranked]
        gaps.extend(one - other for one, other in pairwise(totals))
        return ranked[:width]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam, "_best", noting)
        yield gaps


def store(weights: Mapping[str, Array], least: int) -> dict[str, NDArray[Any]]:
    """Weights as a bundle stores them: matrices of at least `least` entries as int8."""
    stored: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if weight.ndim == 2 and weight.size >= least:
            stored[name], stored[name + SCALE] = quantise(weight)
        else:
            stored[name] = weight
    return stored
