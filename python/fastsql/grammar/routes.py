"""Ways along keys: `along` names a table, and the joins of the shortest way of keys from FROM to it follow by themselves.

"Patients with a lab test" is said by two tables, not by how many lie between them. Each join of a way is three actions, a
table and the two columns of ON; where there is no choice they are forced and cost nothing, and where several keys or tables
are as near, pointers choose. The same for GROUP BY is `gather` (`grouping.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.actions import TABLE
from fastsql.grammar.bounds import MAX_HOPS, MAX_SOURCES
from fastsql.grammar.scope import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastsql.grammar.compile import Grammar
    from fastsql.grammar.state import Cell, Scope, Source, State
    from fastsql.schema import Schema

TARGET, HOP = "target", "hop"
"""Symbols of the table to which a way leads, and of one more table on it."""
ROUTED = ("along", "further")
"""Productions that add a table of a way."""


def is_routed(grammar: Grammar, cell: Cell) -> bool:
    """Whether one side of a join on a way stands in a cell."""
    return name_of(grammar, cell.parent) in ROUTED


def distance(schema: Schema, scope: Scope, table: int) -> int:
    """Joins on the shortest way from FROM to a table: 0 where it is in FROM, more than MAX_HOPS where no way leads there."""
    row = schema.key_distances[table]
    return min((row[source.table] for source in scope.sources if source.table >= 0), default=MAX_HOPS + 1)


def leads_on(state: State) -> bool:
    """Whether a way of one join leads to a table that is not in FROM."""
    schema = state.space.schema
    return any(distance(schema, state.scope, table) == 1 for table in range(len(schema.tables)))


def set_out(state: State, table: int) -> None:
    """Notes where a way leads, and sets aside what its joins but for the first will cost."""
    state.toward = table
    further = distance(state.space.schema, state.scope, table) - 1
    state.cost += further * state.space.grammar.hop_cost


def has_arrived(state: State) -> bool:
    """Whether the way has reached its table."""
    return state.scope.sources[-1].table == state.toward


def add_targets(state: State, room: int, legal: NDArray[np.bool_]) -> None:
    """Tables to which ways lead that budget and FROM have room for."""
    space, scope = state.space, state.scope
    longest = min(MAX_HOPS, MAX_SOURCES - len(scope.sources), 1 + room // space.grammar.hop_cost)
    for table in range(len(space.schema.tables)):
        if 1 <= distance(space.schema, scope, table) <= longest:
            legal[space.flat(TABLE, table)] = True


def add_hops(state: State, legal: NDArray[np.bool_]) -> None:
    """The next tables of the shortest ways."""
    space, scope = state.space, state.scope
    distances = space.schema.key_distances
    left = distance(space.schema, scope, state.toward)
    for table in range(len(space.schema.tables)):
        near = distances[table]
        if near[state.toward] == left - 1 and any(near[source.table] == 1 for source in _ends(state, left)):
            legal[space.flat(TABLE, table)] = True


def add_sides(state: State, pointer: str, legal: NDArray[np.bool_]) -> None:
    """Columns by which the newest table is joined to those from which the way goes on."""
    space = state.space
    schema = space.schema
    tables, groups = schema.tables, schema.join_groups
    newest = state.scope.sources[-1].table
    keys = {groups[column] for column in tables[newest].columns} - {-1}
    if pointer == "newest":
        assert state.last.column is not None
        joined, keys = [newest], {groups[state.last.column]}
    else:
        before = schema.key_distances[newest][state.toward] + 1
        joined = [source.table for source in _ends(state, before)]
    for table in joined:
        for column in tables[table].columns:
            if groups[column] in keys:
                legal[space.columns_of_table[table][column - tables[table].columns[0]]] = True


def _ends(state: State, left: int) -> Iterator[Source]:
    """FROM's tables from which the shortest way has `left` joins to go."""
    row = state.space.schema.key_distances[state.toward]
    return (source for source in state.scope.sources if source.table >= 0 and row[source.table] == left)
