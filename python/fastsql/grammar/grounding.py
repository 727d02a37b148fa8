"""Literals that exist: where all values of a column are known, only one of them is compared with it.

What is legal is left as it is, and so are the probabilities that the model gives: a search normalises over all legal actions
and takes the grounded ones (`State.takable`). So what the model would rather have said stays missing from the probability of
what is written, and "no such value" shows as doubt.

Bound are `=`, `<>` and IN; LIKE is by `matching.py`, and `<` compares with more than values. The column passed on by an
expression counts: that of ``MIN(x)``, not that of ``SUBSTR(x, 1, 2)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fastsql.grammar.actions import CANDIDATE, COLUMN, END, PRODUCTION, START
from fastsql.grammar.matching import Patterns
from fastsql.grammar.scope import name_of

if TYPE_CHECKING:
    from fastsql.grammar.space import ActionSpace
    from fastsql.grammar.state import Cell, State

LISTS = ("in_list", "not_in_list")
"""Productions that compare with literals alone."""
EQUATES = ("eq", "ne", *LISTS, "also")
"""Productions whose literals must exist."""
SMALL = ("zero", "one", "two")
COMPUTED = ("months_as_days",)
"""Literals that no column holds as text."""
LISTED = ("row",)
"""Symbols for what is compared with a list."""


@dataclass(frozen=True)
class Grounds:
    """Which literals exist, in columns all of whose values are known; columns are indices of the schema.

    Attributes:
        columns: those columns.
        candidates: (column, candidate) of candidates that name no column and that the column holds.
        spans: (column, first token, last token) of words that are a value of the column.
        small: (column, n) where the column holds "0", "1" or "2".
        patterns: what matches, for LIKE; None where that was not looked up.
    """

    columns: frozenset[int] = frozenset()
    candidates: frozenset[tuple[int, int]] = frozenset()
    spans: frozenset[tuple[int, int, int]] = frozenset()
    small: frozenset[tuple[int, int]] = frozenset()
    patterns: Patterns | None = None

    @cached_property
    def span_starts(self) -> frozenset[tuple[int, int]]:
        """(column, first token)."""
        return frozenset((column, first) for column, first, _ in self.spans)

    @cached_property
    def with_operand(self) -> frozenset[int]:
        """Columns that hold something the question or the grammar can say, candidates with columns of their own aside."""
        pairs = (self.candidates, self.span_starts, self.small)
        return frozenset(column for known in pairs for column, _ in known)


NO_GROUNDS = Grounds()


def bound_column(state: State, cell: Cell) -> int | None:
    """The column whose values alone may be said next; None where anything may be."""
    space = state.space
    if not space.grounds.columns or name_of(space.grammar, cell.parent) not in EQUATES:
        return None
    if space.grammar.nullable[cell.symbol]:
        return None
    column = state.scope.left.column
    return column if column in space.grounds.columns else None


def has_operand(space: ActionSpace, column: int) -> bool:
    """Whether there is a literal that a column holds."""
    return (
        column in space.grounds.with_operand
        or any(column in candidate.columns for candidate in space.candidates)
        or any(value.column == column for value in space.schema_values)
    )


def is_listed(space: ActionSpace, cell: Cell) -> bool:
    """Whether columns are asked for that are to be compared with a list of literals."""
    grammar = space.grammar
    return (
        bool(space.grounds.columns)
        and name_of(grammar, cell.parent) in LISTS
        and grammar.symbols[cell.symbol] in LISTED
    )


def binds(state: State) -> bool:
    """Whether a legal action may say what does not exist."""
    cell = state.stack
    return cell is not None and (is_listed(state.space, cell) or bound_column(state, cell) is not None)


def is_grounded(state: State, action: int) -> bool:
    """Whether a legal action says nothing, or a literal that exists."""
    space, cell = state.space, state.stack
    assert cell is not None
    kind, index = space.locate(action)
    grounds = space.grounds
    if kind == COLUMN:
        return not is_listed(space, cell) or index not in grounds.columns or has_operand(space, index)
    column = bound_column(state, cell)
    if column is None:
        return True
    if kind == CANDIDATE:
        return column in space.candidates[index].columns or (column, index) in grounds.candidates
    if kind == START:
        return (column, index) in grounds.span_starts
    if kind == END:
        return (column, state.span, index) in grounds.spans
    if kind == PRODUCTION:
        name = space.grammar.productions[index]
        return (column, SMALL.index(name)) in grounds.small if name in SMALL else name not in COMPUTED
    return True  # a schema value is one of this column: no constant is legal beside text
