"""What the rows of a database tell of its keys: which hold, which columns repeat, and which values a column takes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from fastsql.schema import Schema
from fastsql.schema.model import ForeignKey, Value
from fastsql.schema.names import fold, quote
from fastsql.synthesis.source import SynthesisError


def with_declared_types(schema: Schema, connection: sqlite3.Connection) -> Schema:
    """The schema with the types that the file declares: values keep their form only in columns of the same types.

    Raises SynthesisError where the file lacks a table or a column.
    """
    columns = list(schema.columns)
    for table in schema.tables:
        found = connection.execute(f"PRAGMA table_xinfo({quote(table.name)})")
        declared = {fold(name): kind or "" for _, name, kind, *_ in found}
        for index in table.columns:
            name = columns[index].name
            if fold(name) not in declared:
                raise SynthesisError(
                    "the database has no such column",
                    where=f"column {table.name}.{name}",
                    remedy="Give the schema of this database.",
                )
            columns[index] = replace(columns[index], sql_type=declared[fold(name)])
    return replace(schema, columns=tuple(columns))


class Facts:
    """Answers about rows. Each is asked once, and none leaves but values of a split's column.

    A statement that SQLite cannot run raises sqlite3.Error.
    """

    def __init__(self, schema: Schema, connection: sqlite3.Connection) -> None:
        self.schema = schema
        self._connection = connection
        self._counts: dict[str, int] = {}

    def rows(self, table: int) -> int:
        """The number of rows."""
        return self._count(f"SELECT COUNT(*) FROM {self._table(table)}")

    def missing(self, columns: Sequence[int]) -> int:
        """Rows of a table in which one of the columns is NULL."""
        absent = " OR ".join(f"{self._name(column)} IS NULL" for column in columns)
        return self._count(f"SELECT COUNT(*) FROM {self._owner(columns)} WHERE {absent}")

    def empty(self, columns: Sequence[int]) -> int:
        """Rows of a table in which all of the columns are NULL."""
        absent = " AND ".join(f"{self._name(column)} IS NULL" for column in columns)
        return self._count(f"SELECT COUNT(*) FROM {self._owner(columns)} WHERE {absent}")

    def is_key(self, columns: Sequence[int]) -> bool:
        """Whether the columns tell rows apart: none is NULL, and no two rows have the same."""
        return not self.missing(columns) and self.are_different(columns)

    def are_different(self, columns: Sequence[int]) -> bool:
        """Whether no two rows have the same in these columns, NULL as any value."""
        names = ", ".join(map(self._name, columns))
        groups = f"SELECT 1 FROM {self._owner(columns)} GROUP BY {names} HAVING COUNT(*) > 1"
        return not self._count(f"SELECT EXISTS ({groups})")

    def dangling(self, key: ForeignKey) -> int:
        """Rows that refer to something, and it is not there."""
        return self._without(key.columns, key.references)

    def childless(self, key: ForeignKey) -> int:
        """Rows that nothing refers to by this key."""
        return self._without(key.references, key.columns)

    def values(self, column: int, most: int) -> tuple[Value, ...] | None:
        """The values of a column in their order; None where there are more than `most`, or one that is no literal."""
        name = self._name(column)
        query = (
            f"SELECT DISTINCT {name} FROM {self._owner([column])}"
            f" WHERE {name} IS NOT NULL ORDER BY 1 LIMIT {most + 1}"
        )
        found = [value for (value,) in self._connection.execute(query)]
        if len(found) > most or not all(isinstance(value, (int, float, str)) for value in found):
            return None
        return tuple(found)

    def holding(self, column: int, condition: str, alias: str) -> list[Value]:
        """The values of a column of which a condition holds; it may name the column by `alias` alone."""
        query = f"SELECT DISTINCT {self._name(column)} FROM {self._owner([column])} AS {quote(alias)} WHERE {condition}"
        return [value for (value,) in self._connection.execute(query)]

    def _without(self, columns: Sequence[int], partners: Sequence[int]) -> int:
        """Rows whose columns, none NULL, are in no row of the partners."""
        sides = [", ".join(map(self._name, side)) for side in (columns, partners)]
        present = [
            " AND ".join(f"{self._name(one)} IS NOT NULL" for one in side) for side in (columns, partners)
        ]
        return self._count(
            f"SELECT COUNT(*) FROM {self._owner(columns)} WHERE {present[0]} AND ({sides[0]}) NOT IN"
            f" (SELECT {sides[1]} FROM {self._owner(partners)} WHERE {present[1]})"
        )

    def _count(self, query: str) -> int:
        if query not in self._counts:
            (self._counts[query],) = self._connection.execute(query).fetchone()
        return self._counts[query]

    def _table(self, table: int) -> str:
        return quote(self.schema.tables[table].name)

    def _owner(self, columns: Sequence[int]) -> str:
        return self._table(self.schema.columns[columns[0]].table)

    def _name(self, column: int) -> str:
        return quote(self.schema.columns[column].name)
