"""What a schema is: tables, columns, keys, constants, all referred to by index.

Indices are the currency of the whole package: ``schema.tables[i]`` and ``schema.columns[j]``, where columns
lie flat over all tables in table order. Grammar, relation graph and decoder never see a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.names import fold

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy.engine import Engine

Value: TypeAlias = "str | int | float"
SchemaSource: TypeAlias = "Schema | str | Path | Mapping[str, Any] | sqlite3.Connection | Engine"
"""What :meth:`Schema.coerce` accepts, and with it every function that takes a schema."""


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
class Schema:
    """A database schema with its labels.

    Made by the ``from_*`` methods or :meth:`coerce`; immutable and hashable.

    Loading is lenient by default: what cannot be used (a dangling key, a duplicated name, a name SQLite
    reserves) is left out and what is not understood (a type) is taken as "other", each with a line in
    ``warnings``. With ``strict=True`` the first such thing raises :class:`SchemaError` naming the item. An
    empty schema is always an error, and so is one beyond :class:`fastsql.limits.Limits` (``LimitError``).
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
        return f"<Schema {', '.join(parts)}>"

    # Sources ------------------------------------------------------------------------------------------------

    @classmethod
    def coerce(
        cls, source: SchemaSource, strict: bool = False, *, name: str | None = None, limits: Limits = DEFAULT
    ) -> Schema:
        """Make a schema from anything that describes one.

        That is a Schema, a path (.sqlite, .db, .sql, .json), DDL text, a dict, a database URL, an SQLite
        connection or an SQLAlchemy engine. ``name`` picks one of several schemas in a JSON file.
        """
        from fastsql.schema.sources import coerce

        return coerce(source, strict=strict, name=name, limits=limits)

    @classmethod
    def from_ddl(
        cls,
        sql: str,
        dialect: str | None = None,
        *,
        name: str = "schema",
        strict: bool = False,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Read CREATE TABLE, ALTER TABLE and COMMENT statements in any sqlglot dialect (guessed where None).

        Raises SchemaError, LimitError, or DialectError for a dialect that sqlglot does not know.
        """
        from fastsql.schema.ddl import schema_from_ddl

        return schema_from_ddl(sql, dialect, name=name, strict=strict, limits=limits)

    @classmethod
    def from_sqlite(
        cls,
        source: str | Path | sqlite3.Connection,
        *,
        max_values: int = 50,
        views: bool = False,
        strict: bool = False,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Read an SQLite file (opened read-only) or an open connection.

        Text columns of at most ``max_values`` distinct values get them as ``values``; 0 reads no cell at all.
        """
        from fastsql.schema.sqlite import schema_from_sqlite

        return schema_from_sqlite(source, max_values=max_values, views=views, strict=strict, limits=limits)

    @classmethod
    def from_sqlalchemy(
        cls,
        source: str | Engine,
        *,
        namespace: str | None = None,
        max_values: int = 0,
        views: bool = False,
        strict: bool = False,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Read from an SQLAlchemy engine or URL (extra ``db``); ``namespace`` is the database's schema, else its default.

        ``max_values`` is as in :meth:`from_sqlite`, but off unless asked for: the server may be a busy one.
        """
        from fastsql.schema.database import schema_from_sqlalchemy

        return schema_from_sqlalchemy(
            source, namespace=namespace, max_values=max_values, views=views, strict=strict, limits=limits
        )

    @classmethod
    def from_spider(
        cls,
        source: str | Path | Mapping[str, Any] | Sequence[Any],
        db_id: str | None = None,
        *,
        strict: bool = False,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Read an entry of Spider's ``tables.json`` (a path, the loaded list, or one entry).

        ``db_id`` picks among several.
        """
        from fastsql.schema.spider import schema_from_spider

        return schema_from_spider(source, db_id, strict=strict, limits=limits)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False, limits: Limits = DEFAULT) -> Schema:
        """Read what :meth:`to_dict` writes, or an entry of a uniform ``schemas.json``.

        The short form ``{"patients": {"subject_id": "INT", "gender": "TEXT"}}`` serves too.
        """
        from fastsql.schema.mapping import schema_from_dict

        return schema_from_dict(data, strict=strict, limits=limits)

    # Forms --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data from which :meth:`from_dict` makes an equal schema."""
        from fastsql.schema.mapping import schema_to_dict

        return schema_to_dict(self)

    def to_ddl(self, dialect: str = "sqlite") -> str:
        """CREATE TABLE statements that make an empty database of this schema, every name quoted.

        For SQLite they carry keys and the declared types. For other dialects they carry columns only, since
        types and key rules differ: enough to prepare queries on.
        """
        from fastsql.schema.render import render_ddl

        return render_ddl(self, dialect)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of everything that a model or a renderer may see.

        Neither the schema's own name nor its warnings are part of it.
        """
        from fastsql.schema.mapping import fingerprint

        return fingerprint(self)

    # Look-up ------------------------------------------------------------------------------------------------

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

    # Additions ----------------------------------------------------------------------------------------------

    def with_constants(
        self, constants: Mapping[str, Value] | Iterable[Constant], *, limits: Limits = DEFAULT
    ) -> Schema:
        """A copy with further named constants; one of a known name replaces it."""
        from fastsql.schema.additions import with_constants

        return with_constants(self, constants, limits)

    def with_values(
        self, values: Mapping[tuple[str, str], Iterable[Value]], *, limits: Limits = DEFAULT
    ) -> Schema:
        """A copy whose (table, column) pairs have these small-domain values in place of what they had."""
        from fastsql.schema.additions import with_values

        return with_values(self, values, limits)

    def annotated(self, notes: Mapping[str, Mapping[str, Any]], *, limits: Limits = DEFAULT) -> Schema:
        """A copy with labels, synonyms, descriptions and values by item.

        ``{"patients.dob": {"label": "date of birth", "synonyms": ["birthday"]}}``: a key is a table name or
        "table.column"; SchemaError names one that is not in the schema.
        """
        from fastsql.schema.additions import annotated

        return annotated(self, notes, limits)


def _check_indices(schema: Schema) -> None:
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
