"""What a query may read: tables with their columns, as plain data that another process can be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastsql.schema import Schema
from fastsql.schema.names import fold


@dataclass(frozen=True)
class Readable:
    """Tables and views that a query may read, with the columns of each; all names folded as SQLite compares them.

    A table of another namespace than the default one goes by :func:`name_within`.
    """

    tables: Mapping[str, frozenset[str]]

    @classmethod
    def of_schema(cls, schema: Schema) -> Readable:
        """All that a schema names."""
        return cls.of_names(names_of(schema))

    @classmethod
    def of_names(cls, names: Mapping[str, Iterable[str]]) -> Readable:
        """Tables by name, with the names of their columns."""
        return cls({fold(table): frozenset(map(fold, columns)) for table, columns in names.items()})

    def names(self) -> dict[str, list[str]]:
        """The same as plain data, from which :meth:`of_names` makes it again."""
        return {table: sorted(columns) for table, columns in self.tables.items()}

    def has_column(self, table: str, column: str, namespace: str = "") -> bool:
        """Whether a column may be read."""
        return fold(column) in self.tables.get(fold(name_within(namespace, table)), ())

    def has_table(self, table: str, namespace: str = "") -> bool:
        """Whether anything of a table may be read."""
        return fold(name_within(namespace, table)) in self.tables

    @property
    def namespaces(self) -> frozenset[str]:
        """The namespaces of the tables, but for the default one."""
        return frozenset(name.partition("\0")[0] for name in self.tables if "\0" in name)


def name_within(namespace: str, table: str) -> str:
    """A table's name for :meth:`Readable.of_names`; no name of either holds a NUL."""
    return f"{namespace}\0{table}" if namespace else table


def names_of(schema: Schema) -> dict[str, list[str]]:
    """The tables and columns of a schema for :meth:`Readable.of_names`."""
    return {
        name_within(schema.namespace_in_sql(number), table.name): [
            schema.columns[column].name for column in table.columns
        ]
        for number, table in enumerate(schema.tables)
    }
