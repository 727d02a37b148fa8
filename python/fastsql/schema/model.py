"""What a schema is: tables, columns, keys, constants, all referred to by index.

Indices are the currency of the whole package: ``schema.tables[i]`` and ``schema.columns[j]``, where columns
lie flat over all tables in table order. Grammar, relation graph and decoder never see a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from fastsql.errors import SchemaError
from fastsql.schema.keys import Pair, join_groups, key_distances, key_groups, key_names, whole_keys
from fastsql.schema.names import fold

Value: TypeAlias = "str | int | float"

USUAL_NAMESPACES = {
    "postgres": ("public",),
    "sqlite": ("main", "public", "dbo"),
    "duckdb": ("main",),
    "tsql": ("dbo",),
}
"""By dialect, namespaces whose tables SQL names without them, unless a schema says otherwise. A schema of which nobody said
the dialect counts as SQLite's, so that one may be any."""


def is_default(namespace: str, default: str, dialect: str) -> bool:
    """Whether SQL names tables without their namespace; `default` is a schema's, empty for the usual one."""
    usual = (default,) if default else USUAL_NAMESPACES.get(dialect, ())
    return namespace in ("", *usual)


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
    value_synonyms: tuple[tuple[Value, tuple[str, ...]], ...] = ()
    """Values with what people call them: "unpaid" is ``open``. Linking offers a value where a question says its synonym."""


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
    """The database's schema that holds the table, where the source says so: "public"; in SQLite the name of a database."""
    reference: bool = False
    """Whether it is a terminology, so that a dictionary may hold its rows (`fastsql.schema.reference`)."""


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
    default_namespace: str = ""
    """The namespace whose tables SQL names without it; empty: the usual one of the dialect."""
    keys_in_parts: bool = False
    """Whether joins name every column of a foreign key of several, as models do that were trained so.

    A search for such a model takes no column for a key that is only called like one (`key_names`), either.
    """

    def __post_init__(self) -> None:
        _check_indices(self)

    def __repr__(self) -> str:
        parts = [f"{self.name!r}", f"{len(self.tables)} tables", f"{len(self.columns)} columns"]
        if self.warnings:
            parts.append(f"{len(self.warnings)} warnings")
        return f"<{type(self).__name__} {', '.join(parts)}>"

    def table_index(self, table: str) -> int:
        """Index of a table by name, with or without its namespace, ASCII letters without case.

        SchemaError when there is none, or there are several in different namespaces.
        """
        index = self.find_table(table)
        if index is None and (several := self.tables_named(table)):
            known = ", ".join(map(self.table_name, several))
            raise SchemaError(
                "there are several tables of this name",
                where=f"table {table!r}",
                remedy=f"Write it with its namespace: {known}.",
            )
        if index is None:
            raise SchemaError("there is no such table", where=f"table {table!r}", remedy=self._known_tables())
        return index

    def column_index(self, table: str, column: str) -> int:
        """Index of a column by table and column name, ASCII letters without case.

        SchemaError when there is none.
        """
        index = self._columns_by_name.get((self.table_index(table), fold(column)))
        if index is None:
            raise SchemaError("there is no such column", where=f"column {table}.{column}")
        return index

    def find_table(self, table: str) -> int | None:
        """As :meth:`table_index`, but None when there is none, or not only one."""
        return self._tables_by_name.get(fold(table))

    def find_column(self, table: str, column: str) -> int | None:
        """As :meth:`column_index`, but None when there is none."""
        index = self.find_table(table)
        return None if index is None else self._columns_by_name.get((index, fold(column)))

    def tables_named(self, name: str) -> tuple[int, ...]:
        """Indices of the tables of a bare name, one a namespace, ASCII letters without case."""
        return self._namesakes.get(fold(name), ())

    def namespace_in_sql(self, table: int) -> str:
        """The namespace that SQL names a table with; empty for the default one, and where none is known."""
        namespace = self.tables[table].namespace
        return "" if is_default(namespace, self.default_namespace, self.dialect) else namespace

    def table_name(self, table: int) -> str:
        """Give "patients" or "billing.patients" of a table index, as SQL names it; no two tables share it."""
        namespace = self.namespace_in_sql(table)
        name = self.tables[table].name
        return f"{namespace}.{name}" if namespace else name

    def qualified_name(self, column: int) -> str:
        """Give "table.column" of a column index, the table as :meth:`table_name` gives it."""
        return f"{self.table_name(self.columns[column].table)}.{self.columns[column].name}"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The labels and names of tables and columns, each once."""
        named = (text for one in self.tables for text in (one.label, one.name))
        return tuple(
            dict.fromkeys((*named, *(text for one in self.columns for text in (one.label, one.name))))
        )

    @cached_property
    def domains(self) -> tuple[tuple[Value, ...], ...]:
        """By column, the values that it is known to hold."""
        return tuple(column.values for column in self.columns)

    @cached_property
    def value_synonyms(self) -> tuple[tuple[tuple[Value, tuple[str, ...]], ...], ...]:
        """By column, what its values are called; empty where none is called by another name."""
        called = tuple(column.value_synonyms for column in self.columns)
        return called if any(called) else ()

    @cached_property
    def key_groups(self) -> tuple[int, ...]:
        """For each column the least column that holds the same keys; -1 for one that is no key."""
        return key_groups(self)

    @cached_property
    def join_groups(self) -> tuple[int, ...]:
        """The same where a foreign key of several columns is told by one of them, as joins name it."""
        return self.key_groups if self.keys_in_parts else join_groups(self)

    @cached_property
    def key_names(self) -> tuple[int, ...]:
        """For each column the least key of a join that has its name and type; -1 where no key is called so."""
        return (-1,) * len(self.columns) if self.keys_in_parts else key_names(self)

    @cached_property
    def whole_keys(self) -> dict[Pair, tuple[Pair, ...]]:
        """By the pair of columns that tells a foreign key of several, in either order, all of its pairs in that order."""
        return {} if self.keys_in_parts else whole_keys(self)

    @cached_property
    def key_distances(self) -> tuple[bytes, ...]:
        """[T, T] joins on keys between two tables, on the shortest way; more than `fastsql.schema.keys.FARTHEST`: no way."""
        return key_distances(self)

    @cached_property
    def tables_of_keys(self) -> dict[int, frozenset[int]]:
        """By group of the keys that joins name, the tables that have a column of it."""
        tables: dict[int, set[int]] = {}
        for group, column in zip(self.join_groups, self.columns, strict=True):
            if group >= 0:
                tables.setdefault(group, set()).add(column.table)
        return {group: frozenset(found) for group, found in tables.items()}

    @cached_property
    def unique_columns(self) -> frozenset[int]:
        """The columns that are a primary key by themselves."""
        return frozenset(table.primary_key[0] for table in self.tables if len(table.primary_key) == 1)

    @cached_property
    def _namesakes(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for index, table in enumerate(self.tables):
            found[fold(table.name)] = (*found.get(fold(table.name), ()), index)
        return found

    @cached_property
    def _tables_by_name(self) -> dict[str, int]:
        """By bare name where there is one of it, by namespace and name, and above all by :meth:`table_name`."""
        only = {name: found[0] for name, found in self._namesakes.items() if len(found) == 1}
        whole = {fold(f"{t.namespace}.{t.name}"): index for index, t in enumerate(self.tables) if t.namespace}
        shown = {fold(self.table_name(index)): index for index in range(len(self.tables))}
        return only | whole | shown

    @cached_property
    def _columns_by_name(self) -> dict[tuple[int, str], int]:
        return {(column.table, fold(column.name)): index for index, column in enumerate(self.columns)}

    def _known_tables(self) -> str:
        known = ", ".join(map(self.table_name, range(min(len(self.tables), 8))))
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
