"""What a query may read: tables with their columns, as plain data that another process can be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastsql.schema import Schema
from fastsql.schema.names import fold


@dataclass(frozen=True)
class Readable:
    """Tables and views that a query may read, with the columns of each; all names folded as SQLite compares them."""

    tables: Mapping[str, frozenset[str]]

    @classmethod
    def of_schema(cls, schema: Schema) -> Readable:
        """All that a schema names."""
        return cls.of_names(
            {table.name: [schema.columns[column].name for column in table.columns] for table in schema.tables}
        )

    @classmethod
    def of_names(cls, names: Mapping[str, Iterable[str]]) -> Readable:
        """Tables by name, with the names of their columns."""
        return cls({fold(table): frozenset(map(fold, columns)) for table, columns in names.items()})

    def names(self) -> dict[str, list[str]]:
        """The same as plain data, from which :meth:`of_names` makes it again."""
        return {table: sorted(columns) for table, columns in self.tables.items()}

    def has_column(self, table: str, column: str) -> bool:
        """Whether a column may be read."""
        return fold(column) in self.tables.get(fold(table), ())

    def has_table(self, table: str) -> bool:
        """Whether anything of a table may be read."""
        return fold(table) in self.tables
