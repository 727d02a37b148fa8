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
_BEHIND = " | "
"""What stands between a question and each value that is read behind it."""
_VALUES = 4
_CHARACTERS = 160
"""What earlier turns' values may add to a question."""
_FEWEST = 2
_LEAST = 1000
"""Characters of a text, and the size of a whole number, from which it is worth carrying: names and numbers of something."""


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
        """Whether a candidate is a literal of its query."""
        return self.has(candidate.value)

    def has(self, value: str | int | float) -> bool:
        """Whether a value is a literal of its query; numbers and text that are written alike are equal."""
        return value in self._literals or str(value) in self._literals

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The values that its query compares something with, as far as they tell later questions what they are about."""
        if not (self.shown and self.turn.usable):
            return ()
        literals = [item for item in self.turn.program if isinstance(item, Literal) and not item.name]
        found = (str(one.value) for one in literals if _is_telling(one.value))
        return tuple(dict.fromkeys(found))

    @cached_property
    def _literals(self) -> frozenset[str | int | float]:
        values = [item.value for item in self.turn.program if isinstance(item, Literal) and not item.name]
        return frozenset((*values, *map(str, values)))


def with_values(question: str, turns: Sequence[EarlierTurn]) -> str:
    """The question, and behind it values of the latest queries that it does not say itself.

    "Her last creatinine?" is asked of a patient whom only an earlier question named. What stands here can be written as what
    a question says can be (EHR-SeqSQL, section 4.1: a question is read behind the queries before it).
    """
    said, left = question.casefold(), _CHARACTERS
    kept: list[str] = []
    for turn in reversed(turns):
        for value in turn.values:
            fits = len(kept) < _VALUES and len(value) + len(_BEHIND) <= left
            if fits and value not in kept and value.casefold() not in said:
                kept.append(value)
                left -= len(value) + len(_BEHIND)
    return _BEHIND.join([question, *kept])


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


def _is_telling(value: str | int | float) -> bool:
    if isinstance(value, str):
        return len(value) >= _FEWEST
    return isinstance(value, int) and value >= _LEAST
