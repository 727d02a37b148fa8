"""What the pointers of the offered alternatives may point at. Each function adds flat ids to a set of them, bool[A]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.actions import COLUMN, POINTERS_OF, STEP, TABLE, TURN
from fastsql.grammar.bounds import MAX_NESTING, MAX_SPAN
from fastsql.grammar.grouping import restricts_to_keys
from fastsql.grammar.routes import HOP, TARGET, add_hops, add_sides, add_targets, is_routed
from fastsql.grammar.scope import eligible, is_key
from fastsql.grammar.space import can_hold_time

if TYPE_CHECKING:
    from fastsql.grammar.space import ActionSpace
    from fastsql.grammar.state import Cell, Scope, State

STORED = ("piece", "pieces", "any_piece", "any_pieces")
"""Symbols whose columns are those of tables."""
PARTIAL = ("text", "pattern", *STORED)
"""Symbols for which a part of a value will do."""
TURNS = POINTERS_OF[TURN]
"""Pointers at earlier turns."""


def width_to_come(state: State, symbol: str) -> int | None:
    """How many columns the source that opens or joins FROM must have; None where that is not fixed."""
    if symbol == "operand" and state.widths:
        return state.widths[0].width
    if symbol == "new_source" and state.scope.widths:
        return state.scope.widths[len(state.scope.sources)].width
    return None


def add_tables(space: ActionSpace, width: int | None, legal: NDArray[np.bool_]) -> None:
    """Tables of that width, or all where it is None."""
    tables = legal[space.offsets[TABLE] : space.offsets[TABLE + 1]]
    tables |= [width is None or len(table.columns) == width for table in space.schema.tables]


def add_columns(
    space: ActionSpace, scope: Scope, pointer: str, legal: NDArray[np.bool_], *, stored: bool
) -> None:
    """Columns of the sources that a pointer may name; `stored`: those of tables."""
    times_only = pointer == "time"
    for source in eligible(scope, pointer):
        if source.table >= 0:
            legal[(space.times_of_table if times_only else space.columns_of_table)[source.table]] = True
            continue
        for item in () if stored else source.items:
            if not times_only or can_hold_time(item.typed.type):
                legal[space.flat(STEP, item.step)] = True


def add_keys(space: ActionSpace, scope: Scope, legal: NDArray[np.bool_], *, stored: bool) -> None:
    """Keys of GROUP BY; `stored`: those that are columns of tables."""
    for key in scope.keys:
        if stored and key.column < 0:
            continue
        legal[space.flat(STEP, key.step) if key.column < 0 else space.flat(COLUMN, key.column)] = True


def add_sources_meant(state: State, cell: Cell, legal: NDArray[np.bool_]) -> None:
    """The sources that offer the column just pointed at."""
    space, scope = state.space, state.scope
    table = space.schema.columns[state.column].table
    keys_only = restricts_to_keys(state, cell)
    for source in eligible(scope, state.pointer):
        if source.table == table and not (keys_only and not is_key(scope, source, state.column)):
            legal[space.flat(STEP, source.step)] = True


def add_joined(state: State, symbol: str, room: int, legal: NDArray[np.bool_]) -> None:
    """Tables that may open or join FROM where a symbol stands, or to which a way along keys may lead."""
    if symbol == TARGET:
        add_targets(state, room, legal)
    elif symbol == HOP:
        add_hops(state, legal)
    else:
        add_tables(state.space, width_to_come(state, symbol), legal)


def is_in_from(scope: Scope, turn: int) -> bool:
    """Whether the result of a turn is in FROM: it may be once, where its columns have one name each."""
    return any(source.turn == turn for source in scope.sources)


def fits(state: State, number: int, pointer: str, depth: int, room: int) -> bool:
    """Whether a pointer may point at a turn that is written out so deep, where so much of the budget is left for it."""
    turn = state.space.turns[number]
    if not turn.usable:
        return False
    if pointer == "extended":
        return turn.actions <= room and len(turn.offered.sources) > 0
    if pointer == "member" and len(turn.offered.items) != 1:
        return False
    return turn.spelled <= room and turn.nesting <= MAX_NESTING - depth


def add_turns(state: State, cell: Cell, pointer: str, room: int, legal: NDArray[np.bool_]) -> None:
    """Earlier turns, where so much of the budget is left for them."""
    for number in range(len(state.space.turns)):
        if fits(state, number, pointer, cell.depth, room) and not (
            pointer == "turn" and is_in_from(state.scope, number)
        ):
            legal[state.space.flat(TURN, number)] = True


def add_pointed(state: State, cell: Cell, pointer: str, room: int, legal: NDArray[np.bool_]) -> None:
    """What a pointer may point at where a cell stands; `room`: what is left of the budget then."""
    space, scope = state.space, state.scope
    match pointer:
        case "table":
            add_joined(state, space.grammar.symbols[cell.symbol], room, legal)
        case "earlier" | "newest" if is_routed(space.grammar, cell):
            add_sides(state, pointer, legal)
        case "column" | "time" | "earlier" | "newest":
            stored = space.grammar.symbols[cell.symbol] in STORED
            if restricts_to_keys(state, cell):
                add_keys(space, scope, legal, stored=stored)
            else:
                add_columns(space, scope, pointer, legal, stored=stored)
        case "which":
            add_sources_meant(state, cell, legal)
        case "number":
            legal[space.whole_number_ids] = True
        case "date":
            legal[space.date_ids] = True
        case "text":
            legal[space.text_ids] = True
        case "pattern":
            legal[space.literal_ids(*scope.left)] = True
            legal[space.text_ids] = True
        case "value":
            legal[space.literal_ids(*scope.left)] = True
        case "start":
            partial = space.grammar.symbols[state.symbol] in PARTIAL
            legal[space.span_starts(*scope.left, partial=partial)] = True
        case "end":
            legal[space.span_ends(state.span, MAX_SPAN)] = True
