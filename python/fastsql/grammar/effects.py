"""Semantic actions: what completing a construct changes in the scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.compile import EFFECTS
from fastsql.grammar.joining import group_of
from fastsql.grammar.routes import set_out
from fastsql.grammar.space import can_hold_time
from fastsql.grammar.state import Item, Scope, Source, Typed

if TYPE_CHECKING:
    from fastsql.grammar.state import State


def step_of(state: State) -> int:
    """The decision that ended what is complete now; the first one to come before there is any."""
    return max(state.decisions - 1, 0)


def open_query(state: State) -> None:
    """A query opens."""
    state.scope = Scope(
        outer=state.scope if state.in_query else None,
        arity=state.arity,
        followers=state.followers,
        stands_for=state.stands_for,
        widths=state.widths,
        wanted=state.wanted,
    )
    state.in_query = True
    state.arity, state.followers, state.stands_for, state.widths = None, 0, (), ()
    state.wanted = -1


def close_query(state: State) -> None:
    """The innermost query is complete."""
    scope = state.scope
    state.closed = scope.stands_for or scope.items
    state.closed_widths = scope.sources if scope.starred else ()
    state.last = state.closed[0].typed
    state.in_query = scope.outer is not None
    state.scope = scope.outer or Scope()


def add_source(state: State, table: int, items: tuple[Item, ...] = (), turn: int = -1) -> None:
    """A table joins FROM, or where `table` is -1, a derived table with these items: of a query, or of a `turn`."""
    if table < 0:
        width, any_time = len(items), any(can_hold_time(item.typed.type) for item in items)
    else:
        space = state.space
        width, any_time = len(space.schema.tables[table].columns), len(space.times_of_table[table]) > 0
    source = Source(table, items, step_of(state), width, any_time, turn)
    state.scope = state.scope._replace(sources=(*state.scope.sources, source))


def reopen(state: State, turn: int) -> None:
    """A query opens with the FROM of an earlier turn's."""
    open_query(state)
    state.scope = state.scope._replace(sources=state.space.offered_by[turn].sources, reopened=turn)


def add_item(state: State) -> None:
    """What was just completed is a select item."""
    item = Item(state.last, step_of(state))
    state.scope = state.scope._replace(items=(*state.scope.items, item))


def select_all_columns(state: State) -> None:
    """The query selects all columns of its sources."""
    space, step = state.space, step_of(state)
    items: list[Item] = []
    for source in state.scope.sources:
        if source.table < 0:
            items += source.items
        else:
            columns = space.schema.tables[source.table].columns
            items += (Item(Typed(space.column_types[column], column), step) for column in columns)
    state.scope = state.scope._replace(items=tuple(items), starred=True)


def keep_items(state: State) -> None:
    """The query selects and groups as the turn does that it extends."""
    scope, space = state.scope, state.space
    turn, offered = space.turns[scope.reopened], space.offered_by[scope.reopened]
    state.scope = scope._replace(
        items=offered.items,
        keys=offered.keys,
        starred=turn.starred,
        grouped=turn.grouped,
        aggregated=turn.aggregated,
        of_rows=turn.of_rows,
    )


def carry_out(state: State, effect: str, index: int) -> None:
    """Carries out a semantic action; `index` is that of the action just taken."""
    match effect:
        case "from":  # a query opens with the table just pointed at
            open_query(state)
            add_source(state, index)
        case "scope":  # a query opens whose first source is yet to come
            open_query(state)
        case "source":  # the table just pointed at joins FROM
            add_source(state, index)
        case "derived":  # the query just closed joins FROM
            add_source(state, -1, state.closed)
        case "previous":  # the result of the turn just pointed at joins FROM
            add_source(state, -1, state.space.offered_by[index].items, index)
        case "reopen":  # a query opens with the FROM of the turn just pointed at
            reopen(state, index)
        case "keep":  # it selects what that turn does
            keep_items(state)
        case "item":  # a select item is complete
            add_item(state)
        case "columns":  # the query selects all columns of its sources
            select_all_columns(state)
        case "grouped":  # the query groups
            state.scope = state.scope._replace(grouped=True)
        case "toward":  # the table just pointed at is where a way along keys leads
            set_out(state, index)
        case "close":  # the innermost query is complete
            close_query(state)
        case "one":  # the query to come selects one item, which what was just completed is compared with
            state.arity, state.wanted = 1, group_of(state.space.schema, state.last)
        case "first":  # the left operand of a set operation comes
            state.followers += 1
        case "second":  # the right operand comes: as many items as the left one had
            state.arity, state.stands_for = len(state.closed), state.closed
            state.widths = state.closed_widths
        case "left":  # what was just completed is the left-hand side of a comparison
            state.scope = state.scope._replace(left=state.last)
        case "numbers":  # the literals to come are numbers
            state.scope = state.scope._replace(left=Typed("number"))
        case "number" | "text" | "time":  # what was just completed is one
            state.last = Typed(effect)


def settle(state: State, index: int) -> None:
    """Carries out the semantic actions that now lie on top of the stack."""
    while state.stack is not None and state.stack.symbol < 0:
        effect = EFFECTS[-1 - state.stack.symbol]
        state.stack = state.stack.below
        carry_out(state, effect, index)
