"""What may come next: alternatives of the symbols that the next action may expand, and what their pointers may point at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.bounds import MAX_COLUMNS, MAX_NESTING, MAX_SOURCES
from fastsql.grammar.grouping import keep_grouped
from fastsql.grammar.joining import JOINED, JOINS
from fastsql.grammar.pointed import PARTIAL, TURNS, add_pointed, add_turns, fits, is_in_from, width_to_come
from fastsql.grammar.routes import has_arrived, leads_on
from fastsql.grammar.scope import name_of, surcharge
from fastsql.grammar.space import takes_span

if TYPE_CHECKING:
    from fastsql.grammar.compile import Alternative
    from fastsql.grammar.state import Cell, Scope, State

_TURNS = frozenset(TURNS)


def may(state: State, symbol: str) -> tuple[bool, bool]:
    """Whether a symbol that may be left out may be taken, and whether it may be left out."""
    scope = state.scope
    if symbol == "joins" and scope.widths:
        more = len(scope.sources) < len(scope.widths)
        return more, not more
    if symbol == "hops":
        arrived = has_arrived(state)
        return not arrived, arrived
    if symbol not in ("items", "bare_items") or scope.arity is None:
        return True, True
    more = len(scope.items) < scope.arity
    return more, not more


def offers_all_columns(scope: Scope) -> bool:
    """Whether the query may select `*`: the outermost one, or an operand of it whose other operands can do so too."""
    if scope.outer is not None or (scope.arity is not None and not scope.widths):
        return False
    if scope.followers and any(source.table < 0 for source in scope.sources):
        return False
    # Each operand names its columns, as `*` is written out.
    return sum(source.width for source in scope.sources) * (scope.followers + 1) <= MAX_COLUMNS


def offers_span(state: State) -> bool:
    """Whether a literal may be spelled out by words of the question."""
    space = state.space
    if not len(space.tokens) or not state.in_query:
        return False
    return takes_span(state.scope.left.type) or space.grammar.symbols[state.symbol] in PARTIAL


def keep_repeats(state: State, symbol: str, heads: list[Alternative]) -> list[Alternative]:
    """Lets the right operand of a query that selects `*` only do the same, source by source."""
    if not state.widths and not state.scope.widths:
        return heads
    if width_to_come(state, symbol) is not None:
        return [head for head in heads if head.pointer == "table"]
    if symbol == "operand_body":
        return [head for head in heads if "columns" in head.requires]
    return heads


def points_at_turn(state: State, cell: Cell, head: Alternative, room: int) -> bool:
    """Whether an alternative needs no earlier turn, or there is one for it."""
    if _TURNS.isdisjoint(head.requires):
        return True
    pointer = next(name for name in TURNS if name in head.requires)
    if pointer == "extended" and state.in_query:
        return False  # it is the whole query
    grammar = state.space.grammar
    joins = grammar.symbols[cell.symbol] in JOINED
    left = room - 1 - sum(grammar.cost[child] for child in head.children if child >= 0)
    return any(
        fits(state, number, pointer, cell.depth + head.weight, left)
        and not (joins and is_in_from(state.scope, number))
        for number in range(len(state.space.turns))
    )


def may_keep(state: State) -> tuple[bool, bool]:
    """Whether the items of the turn that is extended may be kept, and whether they are grouped."""
    scope = state.scope
    if scope.reopened < 0:
        return False, False
    turn = state.space.turns[scope.reopened]
    return not turn.starred or offers_all_columns(scope), turn.grouped


def keep_possible(state: State, heads: list[Alternative]) -> list[Alternative]:
    """Takes away alternatives whose requirements are not met."""
    space, scope = state.space, state.scope
    kept, groups = may_keep(state)
    met = {
        "time": any(source.any_time for source in scope.sources),
        "date": len(space.date_ids) > 0,
        "text": space.offers_text,
        "columns": state.in_query and offers_all_columns(scope),
        "grouped": space.strict_grouping or scope.grouped,
        "way": any("way" in head.requires for head in heads) and not scope.widths and leads_on(state),
        "free": scope.arity is None,
        **dict.fromkeys(TURNS, len(space.turns) > 0),
        "kept": kept,
        "rows": not groups,
        "groups": groups,
    }
    unmet = {requirement for requirement, is_met in met.items() if not is_met}
    return [head for head in heads if unmet.isdisjoint(head.requires)]


def offered(state: State, cell: Cell, room: int) -> list[Alternative]:
    """Alternatives that budget, nesting, scope and question allow in a cell; `room`: what is left of the budget."""
    grammar = state.space.grammar
    symbol = grammar.symbols[cell.symbol]
    plain = room - surcharge(state, symbol, all_columns=False)
    starred = room - surcharge(state, symbol, all_columns=True)
    heads = [
        head
        for head in grammar.alternatives[cell.symbol]
        if head.cost <= (starred if "columns" in head.requires else plain)
        and head.nesting <= MAX_NESTING - cell.depth
    ]
    heads = keep_possible(state, heads)
    if state.space.turns:
        heads = [head for head in heads if points_at_turn(state, cell, head, plain)]
    if len(state.scope.sources) >= MAX_SOURCES:
        heads = [head for head in heads if name_of(grammar, head.action) not in JOINS]
    if not offers_span(state):
        heads = [head for head in heads if head.pointer != "start"]
    heads = keep_repeats(state, symbol, heads)
    return keep_grouped(state, cell, heads) if state.space.strict_grouping else heads


def mask(state: State) -> NDArray[np.bool_]:
    """Which actions may come next: bool[A]. Empty after the end."""
    space = state.space
    grammar = space.grammar
    legal = np.zeros(space.size, dtype=bool)
    cell, rest = state.stack, state.cost
    while cell is not None:
        symbol = grammar.symbols[cell.symbol]
        rest -= grammar.cost[cell.symbol]
        be_taken, be_left_out = may(state, symbol)
        if be_taken:
            room = space.limits.actions - state.used - rest
            for head in offered(state, cell, room):
                if head.action is not None:
                    legal[head.action] = True
                elif head.pointer in TURNS:
                    add_turns(state, cell, head.pointer, room - head.cost, legal)
                elif head.pointer is not None:
                    add_pointed(state, cell, head.pointer, room - head.cost, legal)
        if not (grammar.nullable[cell.symbol] and be_left_out):
            break
        cell = cell.below
    return legal
