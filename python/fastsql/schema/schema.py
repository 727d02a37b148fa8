"""The schema that every later stage is given: read from any source, written in any form, added to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.model import Constant, Structure, Value
from fastsql.schema.pace import COLUMN_SECONDS, Pace, Progress, ReadingInterrupted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy.engine import Engine

    from fastsql.profile.model import Profile
    from fastsql.schema.additions import ColumnValues

SchemaSource: TypeAlias = "Schema | str | Path | Mapping[str, Any] | sqlite3.Connection | Engine"
"""What :meth:`Schema.coerce` accepts, and with it every function that takes a schema."""


@dataclass(frozen=True, repr=False)
class Schema(Structure):
    """A database schema with its labels.

    Made by the ``from_*`` methods or :meth:`coerce`; immutable and hashable.

    Loading is lenient by default: what cannot be used (a dangling key, a duplicated name, a name SQLite
    reserves) is left out and what is not understood (a type) is taken as "other", each with a line in
    ``warnings``. With ``strict=True`` the first such thing raises :class:`SchemaError` naming the item. An
    empty schema is always an error, and so is one beyond :class:`fastsql.limits.Limits` (``LimitError``).
    """

    # Sources ------------------------------------------------------------------------------------------------

    @classmethod
    def coerce(
        cls,
        source: SchemaSource,
        strict: bool = False,
        *,
        name: str | None = None,
        namespace: str | Iterable[str] | None = None,
        tables: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        views: bool | Iterable[str] = False,
        column_seconds: float = COLUMN_SECONDS,
        progress: Progress | bool | None = None,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Make a schema from anything that describes one.

        That is a Schema, a path (.sqlite, .db, .sql, .json), DDL text, a dict, a database URL, an SQLite
        connection or an SQLAlchemy engine. ``name`` picks one of several schemas in a JSON file; ``namespace``
        and ``views`` are for databases, ``tables`` and ``exclude`` for all but a Schema: see :meth:`from_sqlalchemy`.
        """
        from fastsql.schema.choice import Choice
        from fastsql.schema.sources import Sought, read_source

        if isinstance(source, cls):
            if tables is not None or exclude or views or namespace:
                raise SchemaError(
                    "tables are chosen when a schema is read", remedy="Choose them where this one is made."
                )
            if strict and source.warnings:
                raise SchemaError(
                    source.warnings[0], remedy="Correct the schema, or use it with strict=False."
                )
            return source
        pace = Pace(column_seconds, progress)
        sought = Sought(strict, name, namespace, Choice.of(tables, exclude, views), pace, limits)
        found = cls._of(read_source(source, sought))
        if pace.interrupted:
            raise ReadingInterrupted(found)
        return found

    @classmethod
    def from_ddl(
        cls,
        sql: str,
        dialect: str | None = None,
        *,
        name: str = "schema",
        tables: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        strict: bool = False,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Read CREATE TABLE, ALTER TABLE and COMMENT statements in any sqlglot dialect (guessed where None).

        ``tables`` and ``exclude`` are as in :meth:`from_sqlite`. Raises SchemaError, LimitError, or DialectError for a
        dialect that sqlglot does not know.
        """
        from fastsql.schema.choice import Choice
        from fastsql.schema.ddl import schema_from_ddl

        choice = Choice.of(tables, exclude)
        return cls._of(schema_from_ddl(sql, dialect, name=name, choice=choice, strict=strict, limits=limits))

    @classmethod
    def from_sqlite(
        cls,
        source: str | Path | sqlite3.Connection,
        *,
        namespace: str | Iterable[str] | None = None,
        attached: Mapping[str, str | Path] | None = None,
        tables: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        views: bool | Iterable[str] = False,
        max_values: int = 50,
        strict: bool = False,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Read an SQLite file (opened read-only) or an open connection.

        Args:
            source: the file, or the connection.
            namespace: names of attached databases, "main" among them, to read; None for the main one and `attached`.
            attached: further files by the names under which they are attached to the file.
            tables: names of the tables to read, None for all; ``*`` in a name stands for any characters.
            exclude: names of tables and views to leave out.
            views: True for all views, or names of some.
            max_values: text columns of at most so many distinct values get them as ``values``, and columns of numbers that
                hold 0 and 1 alone these; 0 reads no cell at all.
            strict: whether anything odd is an error.
            limits: the sizes that are allowed.
        """
        from fastsql.schema.choice import Choice
        from fastsql.schema.sqlite import schema_from_sqlite

        choice = Choice.of(tables, exclude, views)
        found = schema_from_sqlite(
            source,
            namespace=namespace,
            attached=attached,
            max_values=max_values,
            choice=choice,
            strict=strict,
            limits=limits,
        )
        return cls._of(found)

    @classmethod
    def from_sqlalchemy(
        cls,
        source: str | Engine,
        *,
        namespace: str | Iterable[str] | None = None,
        tables: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        views: bool | Iterable[str] = False,
        max_values: int = 50,
        column_seconds: float = COLUMN_SECONDS,
        progress: Progress | bool | None = None,
        strict: bool = False,
        limits: Limits = DEFAULT,
    ) -> Schema:
        """Read from an SQLAlchemy engine or URL (extra ``db``).

        Tables that its role may not read are left out, with a warning.

        Args:
            source: the engine or URL.
            namespace: names of the database's schemas to read, None for the connection's default one. SQL names tables
                of all but the default one with it.
            tables: names of the tables to read, None for all; ``*`` in a name stands for any characters.
            exclude: names of tables and views to leave out.
            views: True for all views, or names of some.
            max_values: as in :meth:`from_sqlite`.
            column_seconds: seconds that reading the values of one column may take; what took longer is a warning.
            progress: called before each column whose values are read; False ends that. True shows a line.
            strict: whether anything odd is an error.
            limits: the sizes that are allowed.

        Raises:
            SchemaError: SQLAlchemy or a driver is missing, the server cannot be read, or the role may read nothing there.
            ReadingInterrupted: Ctrl-C while values were read; ``partial`` is the schema with those read until then.
        """
        from fastsql.schema.choice import Choice
        from fastsql.schema.database import schema_from_sqlalchemy

        pace = Pace(column_seconds, progress)
        found = schema_from_sqlalchemy(
            source,
            namespace=namespace,
            max_values=max_values,
            choice=Choice.of(tables, exclude, views),
            pace=pace,
            strict=strict,
            limits=limits,
        )
        if pace.interrupted:
            raise ReadingInterrupted(cls._of(found))
        return cls._of(found)

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

        return cls._of(schema_from_spider(source, db_id, strict=strict, limits=limits))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False, limits: Limits = DEFAULT) -> Schema:
        """Read what :meth:`to_dict` writes, or an entry of a uniform ``schemas.json``.

        The short form ``{"patients": {"subject_id": "INT", "gender": "TEXT"}}`` serves too.
        """
        from fastsql.schema.mapping import schema_from_dict

        return cls._of(schema_from_dict(data, strict=strict, limits=limits))

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

    def _repr_html_(self) -> str:
        """For notebooks: tables with their columns, keys, labels and small domains."""
        from fastsql.view.schema import as_html

        return as_html(self)

    # Additions ----------------------------------------------------------------------------------------------

    def with_constants(
        self, constants: Mapping[str, Value] | Iterable[Constant], *, limits: Limits = DEFAULT
    ) -> Schema:
        """A copy with further named constants; one of a known name replaces it."""
        from fastsql.schema.additions import with_constants

        return with_constants(self, constants, limits)

    def with_values(self, values: ColumnValues, *, limits: Limits = DEFAULT) -> Schema:
        """A copy whose columns have these small-domain values in place of what they had.

        ``{"patients.sex": ["F", "M"]}``: a key is "table.column", or a (table, column) pair.
        """
        from fastsql.schema.additions import with_values

        return with_values(self, values, limits)

    def annotated(self, notes: Mapping[str, Mapping[str, Any]], *, limits: Limits = DEFAULT) -> Schema:
        """A copy with labels, synonyms, descriptions and values by item, and marks of reference tables.

        ``{"patients.dob": {"label": "date of birth", "synonyms": ["birthday"]}, "d_items": {"reference": True}}``: a key
        is a table name or "table.column"; SchemaError names one that is not in the schema.
        """
        from fastsql.schema.additions import annotated

        return annotated(self, notes, limits)

    def with_reference_tables(self, *tables: str, limits: Limits = DEFAULT) -> Schema:
        """A copy in which these tables count as terminologies, whose rows a `ValueDictionary` may hold.

        No table is one unless it is marked: mark none that says anything of a patient. SchemaError for a table that is not
        there, and for one whose foreign keys lead to a table that is not marked.
        """
        from fastsql.schema.additions import with_reference_tables

        return with_reference_tables(self, tables, limits)

    def with_keys_from(
        self, source: str | Path | sqlite3.Connection | Engine, *, seconds: float = 30.0
    ) -> Schema:
        """A copy with foreign keys that nobody declared: columns whose values in a database are keys of another table.

        Looked at are samples of columns between tables that no declared key connects; no value is kept. `docs/schemas.md`
        says what tells a key. What is not found in `seconds` is left out, with a warning. Raises SchemaError where the
        database cannot be read or lacks a table, LimitError for seconds that are no limit.
        """
        from fastsql.schema.additions import with_keys_from

        return with_keys_from(self, source, seconds)

    @cached_property
    def profile(self) -> Profile:
        """What names, types, keys and comments tell of tables and columns: words, kinds, units, terminologies.

        Of no database, and what :meth:`with_profile` was given is not in it but for labels, synonyms and descriptions.
        """
        from fastsql.profile.derive import derive

        return derive(self)

    @cached_property
    def in_parts(self) -> Schema:
        """A copy whose keys are taken in parts (`keys_in_parts`); itself where that changes nothing."""
        composite = any(len(key.columns) > 1 for key in self.foreign_keys)
        called_so = any(
            name >= 0 > group for name, group in zip(self.key_names, self.join_groups, strict=True)
        )
        return replace(self, keys_in_parts=True) if composite or called_so else self

    @cached_property
    def spelled(self) -> Schema:
        """A copy in which a label that is only the name is its words, cut and spelled out; the plain one is a synonym then.

        ``bodysite_code`` is "body site code" there. Labels that a source or a person gave stay, with the words as a synonym.
        """
        from fastsql.profile.words import spelled

        return spelled(self)

    def with_profile(self, profile: str | Path | Profile, *, limits: Limits = DEFAULT) -> Schema:
        """A copy with labels, synonyms, descriptions, values and likely keys of a profile, a file or ready.

        `docs/profile.md` says what each key does. Raises SchemaError, naming line and key, for what is not in the schema or
        not known, LimitError for what is too long.
        """
        from fastsql.profile.applying import with_profile

        return with_profile(self, profile, limits)

    def with_default_namespace(self, namespace: str) -> Schema:
        """A copy whose SQL names the tables of a namespace without it: that of the connection, as its search path says.

        SchemaError where no table is of it, or another table would have the same name.
        """
        from fastsql.schema.additions import with_default_namespace

        return with_default_namespace(self, namespace)

    @classmethod
    def _of(cls, structure: Structure) -> Schema:
        return cls(**{field.name: getattr(structure, field.name) for field in fields(Structure)})


def load_uniform(path: str | Path, *, strict: bool = False, limits: Limits = DEFAULT) -> dict[str, Schema]:
    """All schemas of a uniform ``schemas.json`` by ``db_id``.

    Raises SchemaError naming the path or the database, LimitError for a file beyond ``limits``.
    """
    from fastsql.schema.mapping import read_json

    data = read_json(path, limits)
    if not isinstance(data, list):
        data = [data]
    schemas: dict[str, Schema] = {}
    for entry in data:
        schema = Schema.from_dict(entry, strict=strict, limits=limits)
        if schema.name in schemas:
            raise SchemaError("two entries have this db_id", where=f"{path}: {schema.name!r}")
        schemas[schema.name] = schema
    return schemas


def names_digest(schema: Schema) -> str:
    """SHA-256 of the names of a schema's tables and columns, in order: what turns and remembered pairs are about."""
    tables = (schema.table_name(table) for table in range(len(schema.tables)))
    columns = (schema.qualified_name(column) for column in range(len(schema.columns)))
    return hashlib.sha256("\n".join((*tables, "", *columns)).encode()).hexdigest()
