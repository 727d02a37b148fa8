"""Subqueries follow keys: what is compared with a key by IN, = or <> is a key of the same group.

As in `grounding.py`, what is legal is left as it is; a search passes over other items, and over tables that do not lead to
one. MIN and MAX pass a key on; what is computed does not. Beside the keys, a column may be selected that no foreign key
knows and that is called as they are. Where a derived table has none to pass on, an item may be anything but a key of another
group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.actions import COLUMN, PRODUCTION, STEP, TABLE
from fastsql.grammar.compile import EFFECTS
from fastsql.grammar.joining import JOINED, has_key, key_group_of
from fastsql.grammar.step import find

if TYPE_CHECKING:
    from fastsql.grammar.compile import Alternative
    from fastsql.grammar.state import Cell, State
    from fastsql.schema import Schema

SELECTING = ("body", "operand_body", "plain_items", "grouped_items", "item")
"""Symbols with which a select list may begin."""
JOINING = ("joins", "ons")
"""Symbols of what goes on with FROM."""
_ITEM = -1 - EFFECTS.index("item")
_TYPES = tuple(-1 - EFFECTS.index(effect) for effect in ("number", "text", "time"))


def is_called_so(schema: Schema, column: int, group: int) -> bool:
    """Whether a column that is no key of a join has the name of one of a group."""
    name = schema.key_names[column]
    return name >= 0 and any(
        own == name and schema.join_groups[key] == group for key, own in enumerate(schema.key_names)
    )


def ends(state: State, cell: Cell) -> bool:
    """Whether what stands in a cell is a select item, or its last part, which passes on what it is."""
    symbol = state.space.grammar.symbols[cell.symbol]
    behind = cell.below is not None and cell.below.symbol == _ITEM
    return symbol in SELECTING or (behind and symbol != "which")


def leads(schema: Schema, table: int, group: int) -> bool:
    """Whether a table has a column of a group of keys, or one in common with a table that has."""
    held = schema.tables_of_keys[group]
    if table in held:
        return True
    own = (schema.join_groups[column] for column in schema.tables[table].columns)
    return any(key >= 0 and not held.isdisjoint(schema.tables_of_keys[key]) for key in own)


def computes(alternative: Alternative) -> bool:
    """Whether an alternative makes something of a type of its own, which passes no column on."""
    return any(child in _TYPES for child in alternative.children)


def offers(state: State) -> bool:
    """Whether a source of FROM has the keys that are wanted."""
    return any(has_key(state.space.schema, source, state.scope.wanted) for source in state.scope.sources)


def lacks(state: State) -> bool:
    """Whether FROM names tables alone so far, none of which has the keys that are wanted."""
    return all(source.table >= 0 for source in state.scope.sources) and not offers(state)


def seeks(state: State) -> bool:
    """Whether FROM or the select list comes of a query that is compared with a key."""
    if state.wanted >= 0:
        return True
    if not state.in_query or state.scope.wanted < 0 or state.scope.items:
        return False
    grammar, cell = state.space.grammar, state.stack
    while cell is not None and cell.symbol >= 0:
        if ends(state, cell) or grammar.symbols[cell.symbol] in JOINED:
            return True
        cell = cell.below if grammar.nullable[cell.symbol] else None
    return False


def selects(state: State, action: int, taken: Alternative) -> bool:
    """Whether an action that is a select item, or begins one, may pass a wanted key on."""
    kind, index = state.space.locate(action)
    if kind == PRODUCTION:
        return not computes(taken)
    if kind not in (COLUMN, STEP):
        return True
    group, wanted = key_group_of(state, action, "column"), state.scope.wanted
    if group >= 0:
        return group == wanted
    return not offers(state) or (kind == COLUMN and is_called_so(state.space.schema, index, wanted))


def follows(state: State, action: int) -> bool:
    """Whether a legal action leads to the keys that a query is compared with, where it is with any."""
    space, cell = state.space, state.stack
    kind, index = space.locate(action)
    if state.wanted >= 0:
        return kind != TABLE or leads(space.schema, index, state.wanted)
    if not seeks(state):
        return True
    assert cell is not None
    while (taken := find(space.grammar, cell.symbol, kind, index)) is None:
        assert cell.below is not None
        cell = cell.below
    symbol = space.grammar.symbols[cell.symbol]
    if symbol in JOINED:
        return kind != TABLE or not lacks(state) or index in space.schema.tables_of_keys[state.scope.wanted]
    if lacks(state):
        return symbol in JOINING
    return not ends(state, cell) or selects(state, action, taken)
