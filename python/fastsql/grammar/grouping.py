"""Strict grouping: beside aggregates stand only columns that the query groups by, as PostgreSQL demands.

SQLite takes any column there. With the switch on, keys of GROUP BY are columns; in a query that groups or aggregates,
a column outside of an aggregate is one of the keys; and a query that has selected a column without grouping offers no
aggregate any more. What goes on inside aggregates, WHERE and nested queries is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.actions import COLUMN, STEP
from fastsql.grammar.scope import name_of
from fastsql.grammar.state import Key

if TYPE_CHECKING:
    from fastsql.grammar.compile import Alternative, Grammar
    from fastsql.grammar.state import Cell, State

BESIDE = frozenset((
    "body", "operand_body", "grouped_items", "plain_items", "items", "item",
    "any", "any_value", "any_cond", "plain_any", "plain_any_value", "window_value", "window_operand",
    "any_piece", "any_pieces",
))  # fmt: skip
"""Symbols of what stands beside aggregates: in the select list, HAVING, keys of ORDER BY and windows."""
ORDERS = frozenset(("asc", "desc", "asc_nulls_last", "desc_nulls_first"))
AGGREGATES = frozenset(
    ("count_all", "count", "count_distinct", "sum", "avg", "min", "max", "sum_distinct", "avg_distinct")
)
OF_ROWS = frozenset((
    "days_between", "hours_between", "year_of", "month_of", "day_of", "year_month_of", "date_of",
    "substring", "substring_from", "last_characters", "case", "when", "holds", "partition", "all_columns",
    "years_between", "seconds_between", "month_day_of", "hour_of", "weekday_of",
    "year_start", "quarter_start", "month_start", "week_start",
))  # fmt: skip
"""Productions that read columns of single rows where they stand."""
GROUPS = ("group", "gather")
"""Productions that group."""
GATHERED = ("gathered", "keyed", "counted", "both")
"""Symbols of select items by which the query groups where they are no aggregates."""


def is_key_of_partition(grammar: Grammar, cell: Cell) -> bool:
    """Whether a key of PARTITION BY stands in a cell."""
    return grammar.symbols[cell.symbol] == "plain" and name_of(grammar, cell.parent) == "partition"


def in_group(grammar: Grammar, cell: Cell) -> bool:
    """Whether a key of GROUP BY stands in a cell, or what it is made of."""
    return name_of(grammar, cell.parent) in GROUPS or grammar.symbols[cell.symbol] in GATHERED


def reads_rows(symbol: str, alternative: Alternative, production: str) -> bool:
    """Whether an alternative of a symbol reads columns of single rows."""
    return production in OF_ROWS or (symbol == "any_cond" and "time" in alternative.requires)


def keep_grouped(state: State, cell: Cell, heads: list[Alternative]) -> list[Alternative]:
    """Takes away the alternatives that strict grouping forbids."""
    if not state.in_query:
        return heads
    grammar, scope = state.space.grammar, state.scope
    symbol = grammar.symbols[cell.symbol]
    key_of_group = symbol == "plain" and in_group(grammar, cell)
    if key_of_group or (is_key_of_partition(grammar, cell) and scope.aggregated):
        return [head for head in heads if head.pointer == "column"]

    def forbidden(head: Alternative) -> bool:
        production = name_of(grammar, head.action)
        if symbol in GATHERED:
            return head.pointer != "column" and production not in AGGREGATES
        if production == "partition":
            return scope.aggregated and not scope.keys
        if symbol == "tail_row" and scope.aggregated and production in ORDERS:
            return True
        if symbol not in BESIDE:
            return False
        if scope.of_rows:
            return production in AGGREGATES
        if head.pointer == "column":
            return scope.aggregated and not scope.keys
        return scope.aggregated and reads_rows(symbol, head, production)

    return [head for head in heads if not forbidden(head)]


def restricts_to_keys(state: State, cell: Cell) -> bool:
    """Whether only keys of GROUP BY may be pointed at where a cell stands."""
    if not state.space.strict_grouping or not state.in_query or not state.scope.aggregated:
        return False
    grammar = state.space.grammar
    symbol = grammar.symbols[cell.symbol]
    return symbol in BESIDE or is_key_of_partition(grammar, cell) or (symbol == "which" and state.beside)


def account(state: State, cell: Cell, taken: Alternative) -> None:
    """Notes that an alternative was taken."""
    if not state.in_query:
        return
    grammar, scope = state.space.grammar, state.scope
    symbol, production = grammar.symbols[cell.symbol], name_of(grammar, taken.action)
    if production in GROUPS:
        state.scope = scope._replace(aggregated=True)
    elif symbol in BESIDE and not scope.aggregated:
        if production in AGGREGATES:
            state.scope = scope._replace(aggregated=True)
        elif taken.pointer == "column" or reads_rows(symbol, taken, production):
            state.scope = scope._replace(of_rows=True)
    elif production == "partition" and not scope.aggregated:
        state.scope = scope._replace(of_rows=True)


def add_key(state: State, cell: Cell, kind: int, index: int) -> None:
    """Notes the column that a key of GROUP BY points at."""
    grammar = state.space.grammar
    asked = grammar.symbols[cell.symbol] == "which"
    if not state.in_query or not (state.keying if asked else in_group(grammar, cell)):
        return
    key = Key(-1, index)
    if asked:
        key = Key(state.column, index)
    elif kind == COLUMN:
        table = state.space.schema.columns[index].table
        found = [source.step for source in state.scope.sources if source.table == table]
        if len(found) != 1:
            return  # of several, the source is asked for next
        key = Key(index, found[0])
    elif kind != STEP:
        return
    state.scope = state.scope._replace(keys=(*state.scope.keys, key))
