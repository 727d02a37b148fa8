"""The steps of the pushdown automaton: how it begins, and what each action changes. `mask.py` says what may come next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.actions import (
    COLUMN,
    KINDS,
    POINTERS_OF,
    PRODUCTION,
    START,
    STEP,
    TURN,
)
from fastsql.grammar.comparing import compares
from fastsql.grammar.compile import EFFECTS
from fastsql.grammar.effects import settle
from fastsql.grammar.grounding import EQUATES
from fastsql.grammar.grouping import account, add_key, in_group, restricts_to_keys
from fastsql.grammar.joining import group_of
from fastsql.grammar.scope import eligible, name_of, surcharge
from fastsql.grammar.state import Cell, Typed

if TYPE_CHECKING:
    from fastsql.grammar.compile import Alternative, Grammar
    from fastsql.grammar.state import State

_ONE = -1 - EFFECTS.index("one")


class IllegalActionError(Exception):
    """An action that the automaton does not offer in this state."""


def find(grammar: Grammar, symbol: int, kind: int, index: int) -> Alternative | None:
    """The alternative of a symbol that an action begins."""
    if kind == PRODUCTION:
        return grammar.by_production[symbol].get(index)
    known = grammar.by_pointer[symbol]
    return next((known[pointer] for pointer in POINTERS_OF[kind] if pointer in known), None)


def start(state: State) -> None:
    """Puts a new state before the first action."""
    grammar = state.space.grammar
    state.stack = Cell(0, len(grammar.productions), 0, None)
    state.cost = grammar.cost[0]


def expand(state: State, cell: Cell, taken: Alternative) -> None:
    """Puts the children of what was taken at a cell on the stack."""
    below = cell.below
    parent = cell.parent if taken.action is None else taken.action
    for child in reversed(taken.children):
        below = Cell(child, parent, cell.depth + taken.weight, below)
    state.stack = below


def note_pointed(state: State, cell: Cell, taken: Alternative, kind: int, index: int) -> None:
    """Notes what was pointed at; asks which source is meant where several offer the column."""
    space, pointer = state.space, taken.pointer
    if pointer is None:
        return
    if kind == START:
        state.span = index
    if kind == COLUMN:
        state.last = Typed(space.column_types[index], index)
        table = space.schema.columns[index].table
        if sum(source.table == table for source in eligible(state.scope, pointer)) < 2:
            return
        state.column, state.pointer = index, pointer
        state.beside = restricts_to_keys(state, cell)
        state.keying = in_group(space.grammar, cell)
        which = space.grammar.symbol("which")
        state.cost += space.grammar.cost[which]
        state.stack = Cell(which, cell.parent, cell.depth + taken.weight, state.stack)
    if kind == STEP and pointer != "which":
        # Of items that one decision ended, the first is meant.
        items = (item for source in eligible(state.scope, pointer) for item in source.items)
        state.last = next(item.typed for item in items if item.step == index)
    if kind == TURN:
        turn = space.turns[index]
        state.used += turn.actions if pointer == "extended" else turn.spelled
        state.last = turn.offered.items[0].typed


def note_scalar(state: State, cell: Cell) -> None:
    """Notes which keys a scalar subquery is compared with that stands in a cell: what was completed last is not its left."""
    equated = compares(state, cell) and name_of(state.space.grammar, cell.parent) in EQUATES
    state.wanted = group_of(state.space.schema, state.scope.left) if equated else -1


def advance(state: State, flat_id: int, *, decision: bool) -> None:
    """Takes an action, which should be one that `mask` offers. `decision` is False for the only legal one.

    Raises IllegalActionError, with the state as it was, for one that the frontier does not know; requirements and the
    budget are checked by `mask` alone.
    """
    grammar = state.space.grammar
    kind, index = state.space.locate(flat_id)
    cell, cost = state.stack, state.cost
    taken: Alternative | None = None
    while cell is not None:
        cost -= grammar.cost[cell.symbol]
        taken = find(grammar, cell.symbol, kind, index)
        if taken is not None or not grammar.nullable[cell.symbol]:
            break
        cell = cell.below
    if cell is None:
        raise IllegalActionError(f"{KINDS[kind]} {index} comes after the end")
    if taken is None:
        raise IllegalActionError(f"{KINDS[kind]} {index} cannot stand for {grammar.symbols[state.symbol]!r}")

    all_columns = "columns" in taken.requires
    children_cost = sum(grammar.cost[child] for child in taken.children if child >= 0)
    state.cost = (
        cost + surcharge(state, grammar.symbols[cell.symbol], all_columns=all_columns) + children_cost
    )
    state.used += 1
    state.decisions += decision
    state.compared = "member" in taken.requires and compares(state, cell)
    expand(state, cell, taken)
    if state.space.strict_grouping:
        account(state, cell, taken)
    if taken.pointer is not None:
        note_pointed(state, cell, taken, kind, index)
        if state.space.strict_grouping:
            add_key(state, cell, kind, index)
    settle(state, index)
    if taken.children and taken.children[0] == _ONE:
        note_scalar(state, cell)
