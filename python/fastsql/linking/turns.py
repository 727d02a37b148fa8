"""Earlier turns of a conversation as nodes of the graph: what later questions are given of each, and their edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.program import ColumnRef, Literal, TableRef
from fastsql.linking.relations import RELATIONS, Relations
from fastsql.linking.turn_numbers import turn_numbers

if TYPE_CHECKING:
    from fastsql.grammar.turns import Turn
    from fastsql.linking.candidate import Candidate
    from fastsql.linking.nodes import NodeLayout
    from fastsql.schema import Schema

_NUMBER = {name: index for index, name in enumerate(RELATIONS)}


@dataclass(frozen=True, eq=False)
class EarlierTurn:
    """An earlier turn as a later question needs it; no question is encoded twice.

    Attributes:
        turn: its query, and what that offers.
        pooled: float32[d], the mean of its question's tokens (`Decoded.pooled`), made by the model that is asked.
        shown: whether later questions are linked to what its query names; False where they are given questions alone (QQ of
            EHR-SeqSQL, section 4.1), and can still refer to it.
        number: its number in the conversation, from 1; 0 for its place among the turns that a question is given.
        named: whether the question that is linked to it calls it by that number.
    """

    turn: Turn
    pooled: NDArray[np.float32]
    shown: bool = True
    number: int = 0
    named: bool = False

    @cached_property
    def columns(self) -> frozenset[int]:
        """Columns of the schema that its query names."""
        return frozenset(item.column for item in self.turn.program if isinstance(item, ColumnRef))

    @cached_property
    def returned(self) -> frozenset[int]:
        """Columns of the schema that its query passes on unchanged."""
        columns = (item.typed.column for item in self.turn.offered.items)
        return frozenset(column for column in columns if column is not None)

    def tables(self, schema: Schema) -> frozenset[int]:
        """Tables that its query names, or goes through."""
        named = {item.table for item in self.turn.program if isinstance(item, TableRef)}
        joined = {source.table for source in self.turn.offered.sources if source.table >= 0}
        return frozenset(named | joined | {schema.columns[column].table for column in self.columns})

    def says(self, candidate: Candidate) -> bool:
        """Whether a candidate is a literal of its query; numbers and text that are written alike are equal."""
        return candidate.value in self._literals or str(candidate.value) in self._literals

    @cached_property
    def _literals(self) -> frozenset[str | int | float]:
        values = [item.value for item in self.turn.program if isinstance(item, Literal) and not item.name]
        return frozenset((*values, *map(str, values)))


def with_named(
    turns: Sequence[EarlierTurn], question: str, candidates: Sequence[Candidate]
) -> tuple[EarlierTurn, ...]:
    """The turns, those marked that a question calls by their numbers; what is a value somewhere calls nobody."""
    called = turn_numbers(question, held_spans(candidates))
    return tuple(
        replace(turn, named=(turn.number or place) in called) for place, turn in enumerate(turns, start=1)
    )


def held_spans(candidates: Iterable[Candidate]) -> list[tuple[int, int]]:
    """Where a question says values that some column is known to hold."""
    return [one.span for one in candidates if one.columns]


def add_turns(
    relations: Relations,
    nodes: NodeLayout,
    turns: Sequence[EarlierTurn],
    candidates: Sequence[Candidate],
    schema: Schema,
) -> Relations:
    """The relations of a question, uint8[N, N] over `nodes`, with K earlier turns among them, uint8[N + K, N + K]."""
    places = [nodes.schema.start] * len(turns)
    grown: Relations = np.insert(
        np.insert(relations, places, _NUMBER["none"], axis=0), places, _NUMBER["none"], axis=1
    )
    nodes = nodes.with_question(nodes.n_tokens, nodes.n_candidates, len(turns))
    grown[nodes.turns, nodes.turns] = _NUMBER["turn-turn"]
    for node, turn in enumerate(turns, nodes.turns.start):
        grown[node, node] = _NUMBER["turn-self"]
        if not turn.shown:
            continue
        used = [
            *(nodes.candidates.start + index for index, one in enumerate(candidates) if turn.says(one)),
            *map(nodes.table, turn.tables(schema)),
            *map(nodes.column, turn.columns),
        ]
        returned = list(map(nodes.column, turn.returned))
        for others, seen, seeing in (
            (used, "turn-uses", "used-by-turn"),
            (returned, "turn-returns", "returned-by-turn"),
        ):
            grown[node, others] = _NUMBER[seen]
            grown[others, node] = _NUMBER[seeing]
    return grown
