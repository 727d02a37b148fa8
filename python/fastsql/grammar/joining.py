"""Joins follow keys: a table joins FROM that has a key in common with those before it, and it is joined on one.

As in `grounding.py`, what is legal is left as it is; a search passes over other tables and columns, unless it knows of no
key at all. Derived tables are joined on anything: they are there to be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.actions import COLUMN, STEP, TABLE
from fastsql.grammar.comparing import NEWEST
from fastsql.grammar.scope import eligible, name_of

if TYPE_CHECKING:
    from fastsql.grammar.state import Cell, Source, State, Typed
    from fastsql.schema import Schema

JOINS = ("join", "left_join", "cross_join", "along")
"""Productions that add a source to FROM."""
KEYED = ("join", "left_join")
"""Productions whose first comparison is of keys."""
JOINED = ("new_source",)
"""Symbols of what is joined."""
SIDES = ("earlier", "newest")
"""Symbols of what is compared."""


def group_of(schema: Schema, typed: Typed) -> int:
    """The group of keys of what passes a column on; -1 where that is no key."""
    return -1 if typed.column is None else schema.join_groups[typed.column]


def is_of_group(schema: Schema, column: int, group: int) -> bool:
    """Whether a column is of a group of keys; of any, where the group is -1."""
    return schema.join_groups[column] >= 0 if group < 0 else schema.join_groups[column] == group


def has_key(schema: Schema, source: Source, group: int = -1) -> bool:
    """Whether a source offers a column of a group of keys; of any, where the group is -1."""
    if source.table >= 0:
        return any(is_of_group(schema, column, group) for column in schema.tables[source.table].columns)
    passed_on = (item.typed.column for item in source.items)
    return any(column is not None and is_of_group(schema, column, group) for column in passed_on)


def joins(state: State, cell: Cell) -> bool:
    """Whether a joined source comes next, or one side of a joined table's first comparison with those before it."""
    grammar, sources = state.space.grammar, state.scope.sources
    if name_of(grammar, cell.parent) not in KEYED:
        return False
    symbol = grammar.symbols[cell.symbol]
    if symbol not in SIDES:
        return symbol in JOINED and any(has_key(state.space.schema, source) for source in sources)
    return sources[-1].table >= 0


def can_join(state: State, table: int) -> bool:
    """Whether a table has a key in common with a source; with itself, if not only that which tells its rows apart."""
    schema, sources = state.space.schema, state.scope.sources
    return any(
        schema.join_groups[column] >= 0
        and any(
            has_key(schema, source, schema.join_groups[column])
            for source in sources
            if source.table != table or column not in schema.unique_columns
        )
        for column in schema.tables[table].columns
    )


def key_group_of(state: State, action: int, pointer: str = "earlier") -> int:
    """The group of keys that an action names as what a pointer points at; -1 where it names no key."""
    space = state.space
    kind, index = space.locate(action)
    if kind == COLUMN:
        return space.schema.join_groups[index]
    if kind == STEP:
        for source in eligible(state.scope, pointer):
            for item in source.items:
                if item.step == index:
                    return group_of(space.schema, item.typed)
    return -1


def is_keyed(state: State, action: int) -> bool:
    """Whether a legal action names a table that can join, or a key that both sides have, where one of these comes next."""
    space, cell = state.space, state.stack
    assert cell is not None
    if not joins(state, cell):
        return True
    symbol = space.grammar.symbols[cell.symbol]
    if symbol in JOINED:
        kind, index = space.locate(action)
        return kind != TABLE or can_join(state, index)
    newest = state.scope.sources[-1]
    group = key_group_of(state, action)
    if symbol not in NEWEST:
        return group >= 0 and has_key(space.schema, newest, group)
    other = state.last.column
    wanted = -1 if other is None else space.schema.join_groups[other]
    return group == wanted or wanted < 0 or not has_key(space.schema, newest, wanted)
