"""What the rules ask of a query's scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.bounds import LEAST_JOIN

if TYPE_CHECKING:
    from fastsql.grammar.compile import Grammar
    from fastsql.grammar.state import Scope, Source, State


def name_of(grammar: Grammar, production: int | None) -> str:
    """Name of a production; "" for None and for the number of productions, which stand for no production."""
    names = grammar.productions
    return "" if production is None or production == len(names) else names[production]


def eligible(scope: Scope, pointer: str) -> tuple[Source, ...]:
    """Sources whose columns a pointer may name."""
    sources = scope.sources
    return sources[:-1] if pointer == "earlier" else sources[-1:] if pointer == "newest" else sources


def is_key(scope: Scope, source: Source, column: int) -> bool:
    """Whether a column's source is a key of GROUP BY; for a derived table `column` is the step of its item."""
    return ((column, source.step) if source.table >= 0 else (-1, column)) in scope.keys


def surcharge(state: State, symbol: str, *, all_columns: bool) -> int:
    """Actions that an alternative of a symbol will cost in right operands of set operations, beside its own.

    Negative where they were set aside. `all_columns`: whether it selects all columns.
    """
    if not state.in_query:
        return 0
    scope, grammar = state.scope, state.space.grammar
    if symbol == "items":
        item_cost = grammar.cost[grammar.symbol("item")]
        return -item_cost if scope.stands_for else item_cost * scope.followers
    if symbol == "joins" and scope.widths:
        return -LEAST_JOIN
    if symbol == "hops":
        return -grammar.hop_cost  # set aside when the way was chosen
    if all_columns and not scope.widths:
        return LEAST_JOIN * (len(scope.sources) - 1) * scope.followers
    return 0
