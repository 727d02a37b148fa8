"""From programs to actions: grounds a program in a question's action space.

`trace_program` is the oracle of training: the decisions that a decoder must take to write a given query, each with
what was legal then. Its inverse is in `readback.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.actions import CANDIDATE, COLUMN, END, PRODUCTION, SCHEMA_VALUE, START, STEP, TABLE, TURN
from fastsql.grammar.automaton import State
from fastsql.grammar.bounds import MAX_SPAN
from fastsql.grammar.program import (
    SMALL,
    ColumnRef,
    DerivedRef,
    Literal,
    Production,
    Program,
    TableRef,
    Terminal,
    TurnRef,
)
from fastsql.grammar.scope import name_of
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.transitions import GroundingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastsql.linking.candidate import Candidate


@dataclass(frozen=True)
class Trace:
    """The decisions that write a query. D decisions, A flat actions."""

    actions: NDArray[np.int32]
    """[D] flat ids."""
    symbols: NDArray[np.int16]
    """[D] the frontier symbol of each decision."""
    parents: NDArray[np.int16]
    """[D] the production that put it there."""
    legal: NDArray[np.bool_]
    """[D, A]"""


def trace_program(program: Program, space: ActionSpace) -> Trace:
    """The decisions that write `program`. Raises GroundingError where the space cannot express it."""
    state = State.start(space)
    actions: list[int] = []
    symbols: list[int] = []
    parents: list[int] = []
    masks: list[NDArray[np.bool_]] = []

    def take(action: int) -> None:
        nonlocal state
        legal = state.legal()
        if not np.any(legal == action):
            raise GroundingError(f"the automaton does not offer action {space.locate(action)}")
        decision = len(legal) > 1
        if decision:
            actions.append(action)
            symbols.append(state.symbol)
            parents.append(state.parent)
            masks.append(state.mask())
        state = state.advance(action, decision=decision)

    which = space.grammar.symbol("which")
    for terminal in program:
        if state.finished:
            raise GroundingError("the program goes on after its end")
        if isinstance(terminal, Literal):
            for action in ground_literal(terminal, state):
                take(action)
            continue
        take(_action(terminal, state))
        if isinstance(terminal, ColumnRef) and state.stack is not None and state.symbol == which:
            step = state.scope.sources[terminal.source].step
            if state.source_at(step) != terminal.source:
                raise GroundingError("a column's table cannot be told from another of its name")
            take(space.flat(STEP, step))
    if not state.finished:
        raise GroundingError("the program stops before its end")
    return Trace(
        np.asarray(actions, dtype=np.int32),
        np.asarray(symbols, dtype=np.int16),
        np.asarray(parents, dtype=np.int16),
        np.stack(masks) if masks else np.zeros((0, space.size), dtype=bool),
    )


def _action(terminal: Terminal, state: State) -> int:
    space = state.space
    if isinstance(terminal, Production):
        return space.flat(PRODUCTION, space.grammar.production(terminal.name))
    if isinstance(terminal, TableRef):
        return space.flat(TABLE, terminal.table)
    if isinstance(terminal, ColumnRef):
        return space.flat(COLUMN, terminal.column)
    if isinstance(terminal, TurnRef):
        return space.flat(TURN, terminal.turn)
    assert isinstance(terminal, DerivedRef)
    return space.flat(STEP, state.scope.sources[terminal.source].items[terminal.item].step)


# ---------------------------------------------------------------- literals

_SMALL_NAMES: dict[str | int | float, str] = {value: name for name, value in SMALL.items()}
_NEEDS_NO_QUESTION = frozenset((
    "limit", "offset", "in_year", "in_month", "in_day", "case", "plus", "minus", "times", "divide", "modulo",
    "substring", "substring_from", "last_characters", "coalesce", "nullif", "round", "constant",
    "year_start_back", "quarter_start_back", "month_start_back", "week_start_back",
))  # fmt: skip
"""Productions whose small numbers come with the construct rather than from the question."""


def ground_literal(literal: Literal, state: State) -> tuple[int, ...]:
    """The action or actions that write a literal here, the most telling of those that would.

    What the question says in so many words comes before what stands with the schema, and that before a free span;
    but the numbers that SQL needs of itself (LIMIT 1, this year = 0 years back) come from the closed set.
    Raises GroundingError if there is no way.
    """
    space = state.space
    legal = state.legal()
    offered = legal[(legal >= space.offsets[CANDIDATE]) & (legal < space.offsets[CANDIDATE + 1])]
    found = [int(a) for a in offered if _same(space.candidates[a - space.offsets[CANDIDATE]], literal)]
    small = _small(literal, state, legal)
    if small is not None and (literal.value == 0 or not found or _parent_name(state) in _NEEDS_NO_QUESTION):
        return (small,)
    if found:
        return (_best_candidate(found, state),)
    standing = legal[(legal >= space.offsets[SCHEMA_VALUE]) & (legal < space.offsets[SCHEMA_VALUE + 1])]
    for action in standing:
        value = space.schema_values[action - space.offsets[SCHEMA_VALUE]]
        if value.name == literal.name if literal.name else _equal(value.value, literal.value):
            return (int(action),)
    if isinstance(literal.value, str) and not literal.format:
        for start, end in find_spans(space, literal.value):
            if np.any(legal == space.flat(START, start)) and space.flat(END, end) in space.span_ends(
                start, MAX_SPAN
            ):
                return space.flat(START, start), space.flat(END, end)
    raise GroundingError("a literal is in neither the question, the dictionary nor the schema", literal)


def _same(candidate: Candidate, literal: Literal) -> bool:
    same_form = candidate.format == literal.format or not literal.format
    return same_form and not literal.name and _equal(candidate.value, literal.value)


def _equal(one: str | int | float, other: str | int | float) -> bool:
    if isinstance(one, str) == isinstance(other, str):
        return one == other
    return str(one) == str(other)


def _small(literal: Literal, state: State, legal: NDArray[np.int64]) -> int | None:
    name = None if literal.name else _SMALL_NAMES.get(literal.value)
    if name is None:
        return None
    action = state.space.flat(PRODUCTION, state.space.grammar.production(name))
    return action if np.any(legal == action) else None


def _parent_name(state: State) -> str:
    return name_of(state.space.grammar, state.parent)


def _best_candidate(found: list[int], state: State) -> int:
    """Of several equal candidates, one that is followed by the unit of time that the construct counts."""
    unit = _parent_name(state).removesuffix("_back").rpartition("_")[2]
    if len(found) > 1 and unit in ("year", "month", "day", "hour"):
        space = state.space
        for action in found:
            end = space.candidates[action - space.offsets[CANDIDATE]].span[1]
            if re.match(rf"\W*{unit}", space.text[end:]):
                return action
    return found[0]


def find_spans(space: ActionSpace, text: str) -> Iterator[tuple[int, int]]:
    """First and last token of every occurrence of `text` in the question that begins and ends at token borders.

    Occurrences of the very text come before those that differ in case.
    """
    starts = {int(s): i for i, (s, _) in enumerate(space.tokens)}
    ends = {int(e): i for i, (_, e) in enumerate(space.tokens)}
    for haystack, needle in ((space.text, text), (space.text.lower(), text.lower())):
        if len(haystack) != len(space.text):
            continue  # a few letters change length with their case; offsets would lie
        at = haystack.find(needle) if needle else -1
        while at >= 0:
            if at in starts and at + len(needle) in ends:
                yield starts[at], ends[at + len(needle)]
            at = haystack.find(needle, at + 1)
