"""Strict grouping: beside aggregates stand only columns that the query groups by, as PostgreSQL demands.

SQLite takes any column there. With the switch on, keys of GROUP BY are columns; in a query that groups or aggregates,
a column outside of an aggregate is one of the keys; and a query that has selected a column without grouping offers no
aggregate any more. What goes on inside aggregates, WHERE and nested queries is free.
"""

from __future__ import annotations

from typing import NamedTuple

from fastsql.grammar.compile import Alternative
from fastsql.grammar.effects import Effects
from fastsql.grammar.scope import Source
from fastsql.grammar.space import COLUMN, STEP

BESIDE = frozenset(
    (
        "body",
        "operand_body",
        "grouped_items",
        "plain_items",
        "items",
        "item",
        "any",
        "any_value",
        "any_cond",
        "plain_any",
        "plain_any_value",
    )
)
"""Symbols of what stands beside aggregates: in the select list, HAVING, keys of ORDER BY and windows."""
AGGREGATES = frozenset(
    ("count_all", "count", "count_distinct", "sum", "avg", "min", "max", "sum_distinct", "avg_distinct")
)
OF_ROWS = frozenset(
    (
        "days_between",
        "hours_between",
        "year_of",
        "month_of",
        "day_of",
        "year_month_of",
        "date_of",
        "substring",
        "substring_from",
        "last_characters",
        "case",
        "when",
        "holds",
        "partition",
        "all_columns",
    )
)
"""Productions that read columns of single rows where they stand."""


class Place(NamedTuple):
    """Where an alternative stands: the names of its symbol and of the production that put the symbol there."""

    symbol: str
    parent: str


class Grouping(Effects):
    """Decides what strict grouping allows, and keeps account of what a query has done."""

    __slots__ = ()

    def groups(self, place: Place, alternative: Alternative) -> bool:
        """Whether strict grouping allows an alternative."""
        scope = self.scope
        if scope is None:
            return True
        name = self._production(alternative)
        if place.parent == "group" and place.symbol == "plain":
            return alternative.pointer == "column"
        if place.symbol == "tail_row" and name in ("asc", "desc"):
            return not scope.aggregated
        if place.symbol == "plain" and place.parent == "partition":
            return not scope.aggregated or alternative.pointer == "column"
        if name == "partition":
            return not scope.aggregated or bool(scope.keys)
        if place.symbol not in BESIDE:
            return True
        if scope.of_rows:
            return name not in AGGREGATES
        if scope.aggregated and alternative.pointer == "column":
            return bool(scope.keys)
        return not (scope.aggregated and self._reads_rows(place, alternative, name))

    def account(self, place: Place, alternative: Alternative) -> None:
        """Notes that an alternative was taken."""
        scope = self.scope
        if scope is None:
            return
        name = self._production(alternative)
        if name == "group":
            self.scope = scope._replace(aggregated=True)
        elif place.symbol in BESIDE and not scope.aggregated:
            if name in AGGREGATES:
                self.scope = scope._replace(aggregated=True)
            elif alternative.pointer == "column" or self._reads_rows(place, alternative, name):
                self.scope = scope._replace(of_rows=True)
        elif name == "partition" and not scope.aggregated:
            self.scope = scope._replace(of_rows=True)

    def add_key(self, place: Place, kind: int, index: int, column: int) -> None:
        """Notes the column that a key of GROUP BY points at; `column` is the one whose source is being asked for."""
        if place.parent != "group" or self.scope is None:
            return
        if place.symbol == "which":
            key = (column, index)
        elif kind == COLUMN:
            table = self.space.schema.columns[index].table
            found = [source.step for source in self.scope.sources if source.table == table]
            if len(found) > 1:
                return  # the source is asked for next
            key = (index, found[0])
        elif kind == STEP:
            key = (-1, index)
        else:
            return
        self.scope = self.scope._replace(keys=(*self.scope.keys, key))

    def restricts(self, place: Place) -> bool:
        """Whether only keys of GROUP BY may be pointed at."""
        if not self.space.strict_grouping or self.scope is None or not self.scope.aggregated:
            return False
        beside = place.symbol in BESIDE or (place.symbol == "plain" and place.parent == "partition")
        return beside or (place.symbol == "which" and self._beside)

    def is_key(self, source: Source, column: int) -> bool:
        """Whether the column of a table in FROM is a key; for a derived table `column` is the item's step."""
        assert self.scope is not None
        return ((column, source.step) if source.table >= 0 else (-1, column)) in self.scope.keys

    def _production(self, alternative: Alternative) -> str:
        return "" if alternative.action is None else self.space.grammar.productions[alternative.action]

    def _reads_rows(self, place: Place, alternative: Alternative, name: str) -> bool:
        return name in OF_ROWS or (place.symbol == "any_cond" and "time" in alternative.requires)
