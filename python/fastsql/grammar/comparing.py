"""Comparisons make sense: a column is not compared with itself, and a time meets no amount.

As in `grounding.py`, what is legal is left as it is; a search passes over what makes no sense. Types are a relation: ids are
often stored as text, so text meets everything. HAVING is left alone: there ``MIN(x) = x`` tells a group's first row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.actions import COLUMN, PRODUCTION, TURN
from fastsql.grammar.grounding import COMPUTED, SMALL
from fastsql.grammar.scope import eligible, name_of

if TYPE_CHECKING:
    from fastsql.grammar.state import Cell, State

COMPARES = ("eq", "ne", "lt", "le", "gt", "ge", "between", "not_between")
"""Productions that compare what is on their left with what follows."""
OPERANDS = ("operand_value",)
"""Symbols of what follows, but for HAVING's."""
MEMBERS = ("in_previous", "not_in_previous")
"""Productions that look for a value in what an earlier turn returned; `left` is that."""
SOUGHT = ("row",)
"""Symbols of that value."""
NEWEST = ("newest",)
"""Symbols for the second column of a join."""
APART = (frozenset({"time", "number"}), frozenset({"time", "boolean"}))
"""Type classes that have no values in common."""


def meets(one: str, other: str) -> bool:
    """Whether values of two type classes may be equal."""
    return frozenset({one, other}) not in APART


def compares(state: State, cell: Cell) -> bool:
    """Whether what comes next is compared with what is on its left."""
    grammar = state.space.grammar
    return grammar.symbols[cell.symbol] in OPERANDS and name_of(grammar, cell.parent) in COMPARES


def is_sought(state: State, cell: Cell) -> bool:
    """Whether what comes next is looked for in what an earlier turn returned."""
    grammar = state.space.grammar
    return grammar.symbols[cell.symbol] in SOUGHT and name_of(grammar, cell.parent) in MEMBERS


def weighs(state: State) -> bool:
    """Whether a legal action may make no sense."""
    cell = state.stack
    if cell is None:
        return False
    symbol = state.space.grammar.symbols[cell.symbol]
    return symbol in NEWEST or compares(state, cell) or is_sought(state, cell) or state.compared


def turn_meets(state: State, number: int) -> bool:
    """Whether what a turn returned, if that is one column, may be equal to what is on the left."""
    turn = state.space.turns[number]
    items = turn.offered.items
    return turn.usable and len(items) == 1 and meets(state.scope.left.type, items[0].typed.type)


def is_sensible(state: State, action: int) -> bool:
    """Whether a legal action compares what can be compared."""
    space, cell = state.space, state.stack
    assert cell is not None
    kind, index = space.locate(action)
    if kind == TURN:
        return not state.compared or turn_meets(state, index)
    if kind == PRODUCTION and compares(state, cell):
        if space.grammar.productions[index] in (*SMALL, *COMPUTED):
            return meets(state.scope.left.type, "number")
        asks = "member" in space.grammar.by_production[cell.symbol][index].requires
        return not asks or any(turn_meets(state, number) for number in range(len(space.turns)))
    if kind != COLUMN:
        return True
    if is_sought(state, cell):
        return meets(state.scope.left.type, space.column_types[index])
    if space.grammar.symbols[cell.symbol] in NEWEST:
        if index == state.last.column and index in space.schema.unique_columns:
            return False
        return meets(state.last.type, space.column_types[index])
    if not compares(state, cell):
        return True
    left, table = state.scope.left, space.schema.columns[index].table
    if index == left.column and sum(source.table == table for source in eligible(state.scope, "column")) < 2:
        return False
    return meets(left.type, space.column_types[index])
