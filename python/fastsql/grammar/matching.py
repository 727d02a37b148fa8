"""Patterns that match: where all values of a column are known, LIKE is offered what one of them has.

As in `grounding.py`, what is legal is left as it is, and a search passes over the rest. ``contains`` says a part of a value,
``begins`` and ``ends`` its beginning and its end, ``like`` all of it but for the case of letters; so do their negations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fastsql.grammar.actions import CANDIDATE, COLUMN, END, START
from fastsql.grammar.scope import name_of

if TYPE_CHECKING:
    from fastsql.grammar.grounding import Grounds
    from fastsql.grammar.space import ActionSpace
    from fastsql.grammar.state import Cell, State

WAYS = (
    ("contains", "not_contains"),
    ("begins", "not_begins"),
    ("ends", "not_ends"),
    ("like", "not_like"),
)
"""Productions that compare with a pattern, by what of a value it says."""
_CONTAINS, _BEGINS, _ENDS, _LIKE = range(len(WAYS))
ANYWHERE, LIKE = 1 << _CONTAINS | 1 << _BEGINS | 1 << _ENDS, 1 << _LIKE
"""Bits of `Patterns.candidates`."""
EVERY = -1
"""In the place of a column: all of them, where it is not known which."""
_COMPARED = "row"
"""The symbol for what is compared with a pattern."""


@dataclass(frozen=True)
class Patterns:
    """What of a question is a part of some value, in the columns of `Grounds`.

    Runs of words that begin with a token are known by the last token of the longest: shorter ones are there, too. Those at
    the end of values are known by their last token.

    Attributes:
        candidates: (column or `EVERY`, candidate, ways) of candidates that name other columns or none: bits, by `WAYS`.
        within: (column or `EVERY`, first token, furthest last token) of words that a value has; `EVERY` has them at its
            beginning, too.
        begun: (column, first token, furthest last token) of words with which a value begins.
        ended: (column or `EVERY`, last token, furthest first token) of words with which a value ends.
    """

    candidates: frozenset[tuple[int, int, int]] = frozenset()
    within: frozenset[tuple[int, int, int]] = frozenset()
    begun: frozenset[tuple[int, int, int]] = frozenset()
    ended: frozenset[tuple[int, int, int]] = frozenset()

    @cached_property
    def ways(self) -> dict[tuple[int, int], int]:
        """The bits of (column, candidate)."""
        return {(column, candidate): ways for column, candidate, ways in self.candidates}

    @cached_property
    def reach(self) -> tuple[dict[tuple[int, int], int], ...]:
        """For each way but `like`, the furthest token of (column, fixed token)."""
        everywhere = {place for place in self.within if place[0] == EVERY}
        lists = (self.within, self.begun | everywhere, self.ended)
        return tuple({(column, fixed): far for column, fixed, far in found} for found in lists)

    @cached_property
    def said(self) -> frozenset[tuple[int, int]]:
        """(column or `EVERY`, way): that words or candidates of the question match."""
        held = {
            (column, way)
            for column, _, ways in self.candidates
            for way in range(len(WAYS))
            if ways >> way & 1
        }
        return frozenset(
            held | {(column, way) for way, found in enumerate(self.reach) for column, _ in found}
        )


def way_of(space: ActionSpace, cell: Cell) -> int | None:
    """What of a value is said by the production whose child a cell is; None where it compares with no pattern."""
    name = name_of(space.grammar, cell.parent)
    return next((way for way, names in enumerate(WAYS) if name in names), None)


def matched_column(state: State, cell: Cell) -> int | None:
    """The column that a pattern must match; None where it may say anything."""
    space = state.space
    if space.grounds.patterns is None or way_of(space, cell) is None:
        return None
    if space.grammar.symbols[cell.symbol] == _COMPARED:
        return None
    column = state.scope.left.column
    return column if column in space.grounds.columns else None


def is_compared(space: ActionSpace, cell: Cell) -> bool:
    """Whether columns are asked for that a pattern is to match."""
    return (
        space.grounds.patterns is not None
        and space.grammar.symbols[cell.symbol] == _COMPARED
        and way_of(space, cell) is not None
    )


def has_match(space: ActionSpace, column: int, way: int) -> bool:
    """Whether something can be said that matches a column."""
    patterns = space.grounds.patterns
    assert patterns is not None
    if any(column in candidate.columns for candidate in space.candidates):
        return True
    if way != _CONTAINS and any(value.column == column for value in space.schema_values):
        return True
    if way == _LIKE and any(place[0] == column for place in space.grounds.spans):
        return True
    return (column, way) in patterns.said or (EVERY, way) in patterns.said


def matches(state: State, action: int) -> bool:
    """Whether a legal action says no pattern, or one that matches."""
    space, cell = state.space, state.stack
    assert cell is not None
    kind, index = space.locate(action)
    patterns = space.grounds.patterns
    if patterns is None:
        return True
    way = way_of(space, cell)
    if kind == COLUMN and way is not None:
        return (
            not is_compared(space, cell) or index not in space.grounds.columns or has_match(space, index, way)
        )
    column = matched_column(state, cell)
    if column is None or way is None:
        return True
    if kind == CANDIDATE:
        ways = patterns.ways.get((column, index), 0) | patterns.ways.get((EVERY, index), 0)
        return column in space.candidates[index].columns or bool(ways >> way & 1)
    if kind == START:
        return _begins_here(space.grounds, way, column, index)
    if kind == END:
        return _ends_here(space.grounds, way, column, state.span, index)
    return True  # a schema value is one of this column: no constant is legal beside text


def binds_pattern(state: State) -> bool:
    """Whether a legal action may say a pattern that matches nothing."""
    cell = state.stack
    return cell is not None and (is_compared(state.space, cell) or matched_column(state, cell) is not None)


def _begins_here(grounds: Grounds, way: int, column: int, first: int) -> bool:
    """Whether words that match a column begin with a token."""
    assert grounds.patterns is not None
    if way == _LIKE:
        return (column, first) in grounds.span_starts
    reach = grounds.patterns.reach[way]
    if way == _ENDS:
        return any(far <= first <= last for (of, last), far in reach.items() if of in (column, EVERY))
    return (column, first) in reach or (EVERY, first) in reach


def _ends_here(grounds: Grounds, way: int, column: int, first: int, last: int) -> bool:
    """Whether words that match a column lie between two tokens, these included."""
    assert grounds.patterns is not None
    if way == _LIKE:
        return (column, first, last) in grounds.spans
    reach = grounds.patterns.reach[way]
    if way == _ENDS:
        return any(reach.get((of, last), first + 1) <= first for of in (column, EVERY))
    return any(reach.get((of, first), -1) >= last for of in (column, EVERY))
