"""Which columns refer to which. Questions say joins along these, and not by any key that two tables share."""

from __future__ import annotations

from collections.abc import Sequence

from fastsql.schema import Schema
from fastsql.schema.keys import FARTHEST, named_alike
from fastsql.synthesis.schema.contents import Contents


def identifying_columns(schema: Schema, contents: Contents | None = None) -> frozenset[int]:
    """Columns that tell the rows of their table apart: primary keys of one column, and what foreign keys refer to.

    None that repeats in `contents`: published schemas may name the first column of a key alone.
    """
    referred = {key.references[0] for key in schema.foreign_keys if len(key.references) == 1}
    found = schema.unique_columns | referred
    return found if contents is None else frozenset(one for one in found if not contents.repeats((one,)))


class Links:
    """The references of one schema, declared or told by names."""

    def __init__(self, schema: Schema) -> None:
        self._pairs = {
            frozenset(pair)
            for key in schema.foreign_keys
            if len(key.columns) == 1
            for pair in zip(key.columns, key.references, strict=True)
        } | {frozenset(pair) for pair in named_alike(schema)}
        self._table = [column.table for column in schema.columns]
        self._columns = [table.columns for table in schema.tables]
        self._beside: list[set[int]] = [set() for _ in schema.tables]
        for pair in self._pairs:
            tables = [self._table[column] for column in pair]
            if len(set(tables)) == 2:
                self._beside[tables[0]].add(tables[1])
                self._beside[tables[1]].add(tables[0])
        self._distances = [self._from(table) for table in range(len(schema.tables))]

    def joins(self, one: int, other: int) -> bool:
        """Whether one of two columns refers to the other."""
        return frozenset((one, other)) in self._pairs

    def leads(self, column: int, table: int) -> bool:
        """Whether a column refers to one of a table, or is referred to by it."""
        return any(self.joins(column, other) for other in self._columns[table])

    def distance(self, tables: Sequence[int], table: int) -> int:
        """Joins on the shortest way of references from one of some tables to another; more than FARTHEST: none."""
        return min((self._distances[one][table] for one in tables), default=FARTHEST + 1)

    def _from(self, start: int) -> list[int]:
        distances = [FARTHEST + 1] * len(self._beside)
        distances[start] = 0
        border = {start}
        for distance in range(1, FARTHEST + 1):
            border = {
                other for table in border for other in self._beside[table] if distances[other] > distance
            }
            for table in border:
                distances[table] = distance
        return distances
