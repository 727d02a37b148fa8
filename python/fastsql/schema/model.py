"""What a schema is: tables, columns, keys, constants, all referred to by index.

Indices are the currency of the whole package: ``schema.tables[i]`` and ``schema.columns[j]``, where columns
lie flat over all tables in table order. Grammar, relation graph and decoder never see a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from fastsql.errors import SchemaError
from fastsql.schema.names import fold

Value: TypeAlias = "str | int | float"


@dataclass(frozen=True)
class Column:
    """A column. ``values`` is its small domain where one is known: all values it takes, at most about 50."""

    name: str
    label: str
    table: int
    type: str
    """One of "number", "text", "time", "boolean", "other"."""
    sql_type: str = ""
    primary_key: bool = False
    synonyms: tuple[str, ...] = ()
    description: str = ""
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table; ``columns`` are consecutive indices into ``Schema.columns``, ``primary_key`` is in key order."""

    name: str
    label: str
    columns: tuple[int, ...]
    primary_key: tuple[int, ...] = ()
    synonyms: tuple[str, ...] = ()
    description: str = ""
    namespace: str = ""
    """The database's schema that holds the table, where the source says so: "public"."""


@dataclass(frozen=True)
class ForeignKey:
    """``columns[k]`` refers to ``references[k]``; a composite key has several pairs."""

    columns: tuple[int, ...]
    references: tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """A named value that questions mean but do not write: ``sao2_lower`` = 95, maybe bound to a column."""

    name: str
    value: Value
    label: str = ""
    column: int | None = None


@dataclass(frozen=True)
class Structure:
    """Tables with a column at least, columns, keys and constants, whose indices fit together.

    Raises SchemaError where they do not.
    """

    name: str
    tables: tuple[Table, ...]
    columns: tuple[Column, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    constants: tuple[Constant, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)
    dialect: str = "sqlite"

    def __post_init__(self) -> None:
        _check_indices(self)

    def __repr__(self) -> str:
        parts = [f"{self.name!r}", f"{len(self.tables)} tables", f"{len(self.columns)} columns"]
        if self.warnings:
            parts.append(f"{len(self.warnings)} warnings")
        return f"<{type(self).__name__} {', '.join(parts)}>"

    def table_index(self, table: str) -> int:
        """Index of a table by name, ASCII letters without case; SchemaError when there is none."""
        index = self._tables_by_name.get(fold(table))
        if index is None:
            raise SchemaError("there is no such table", where=f"table {table!r}", remedy=self._known_tables())
        return index

    def column_index(self, table: str, column: str) -> int:
        """Index of a column by table and column name, ASCII letters without case.

        SchemaError when there is none.
        """
        index = self._columns_by_name.get((fold(table), fold(column)))
        if index is None:
            self.table_index(table)
            raise SchemaError("there is no such column", where=f"column {table}.{column}")
        return index

    def find_table(self, table: str) -> int | None:
        """As :meth:`table_index`, but None when there is none."""
        return self._tables_by_name.get(fold(table))

    def find_column(self, table: str, column: str) -> int | None:
        """As :meth:`column_index`, but None when there is none."""
        return self._columns_by_name.get((fold(table), fold(column)))

    def qualified_name(self, column: int) -> str:
        """Give "table.column" of a column index, for messages."""
        return f"{self.tables[self.columns[column].table].name}.{self.columns[column].name}"

    @cached_property
    def _tables_by_name(self) -> dict[str, int]:
        return {fold(table.name): index for index, table in enumerate(self.tables)}

    @cached_property
    def _columns_by_name(self) -> dict[tuple[str, str], int]:
        names = [fold(table.name) for table in self.tables]
        return {(names[column.table], fold(column.name)): index for index, column in enumerate(self.columns)}

    def _known_tables(self) -> str:
        known = ", ".join(table.name for table in self.tables[:8])
        return f"Tables are: {known}{', ...' if len(self.tables) > 8 else ''}."


def _check_indices(schema: Structure) -> None:
    """Raise SchemaError unless the indices of a schema made by hand fit together."""
    if not schema.tables or not schema.columns:
        raise SchemaError(
            "it has no table with a column", where=f"schema {schema.name!r}", remedy="Give at least one."
        )
    flat = [index for table in schema.tables for index in table.columns]
    if flat != list(range(len(schema.columns))):
        raise SchemaError("columns are not in the order of their tables", where=f"schema {schema.name!r}")
    for number, table in enumerate(schema.tables):
        if not table.columns:
            raise SchemaError("it has no columns", where=f"table {table.name!r}")
        for index in table.columns:
            if schema.columns[index].table != number:
                raise SchemaError(
                    "its table index is wrong", where=f"column {table.name}.{schema.columns[index].name}"
                )
        if not set(table.primary_key) <= set(table.columns):
            raise SchemaError("the primary key has a column of another table", where=f"table {table.name!r}")
    for key in schema.foreign_keys:
        ends = (*key.columns, *key.references)
        if (
            len(key.columns) != len(key.references)
            or not key.columns
            or not all(0 <= i < len(flat) for i in ends)
        ):
            raise SchemaError(f"{key} does not join two lists of columns", where=f"schema {schema.name!r}")
    for constant in schema.constants:
        if constant.column is not None and not 0 <= constant.column < len(flat):
            raise SchemaError("its column index is out of range", where=f"constant {constant.name!r}")
