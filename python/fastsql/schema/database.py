"""Schemas through SQLAlchemy (extra ``db``): any server that it has a driver for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastsql.errors import DialectError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.assemble import assemble
from fastsql.schema.ddl_items import describe
from fastsql.schema.dialects import canonical_dialect, plain_url
from fastsql.schema.draft import Draft, DraftColumn, DraftKey, DraftTable
from fastsql.schema.names import is_reserved
from fastsql.schema.sqltypes import classify_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Connection, Engine
    from sqlalchemy.engine.reflection import Inspector

    from fastsql.schema.model import Structure


def schema_from_sqlalchemy(
    source: str | Engine,
    *,
    namespace: str | None = None,
    max_values: int = 0,
    views: bool = False,
    strict: bool = False,
    limits: Limits = DEFAULT,
) -> Structure:
    """See :meth:`Schema.from_sqlalchemy`.

    Raises SchemaError where SQLAlchemy or the driver is missing or the server refuses.
    """
    try:
        import sqlalchemy
        from sqlalchemy.exc import SQLAlchemyError
    except ModuleNotFoundError as error:
        raise SchemaError(
            "SQLAlchemy is not installed",
            where="database URL or engine",
            remedy="Run: pip install 'fastsql[db]'.",
        ) from error
    engine = _engine(source) if isinstance(source, str) else source
    where = engine.url.render_as_string(hide_password=True)
    try:
        with engine.connect() as connection:
            draft = _read(sqlalchemy.inspect(connection), engine, namespace, views)
            if max_values > 0:
                _read_values(connection, draft, namespace, min(max_values, limits.values_per_column), limits)
    except SQLAlchemyError as error:
        # The driver's own message may repeat the connection string and its password: only its kind is told.
        raise SchemaError(
            f"the database cannot be read ({type(error).__name__})",
            where=where,
            remedy="Check the URL and the server.",
        ) from error
    finally:
        if isinstance(source, str):
            engine.dispose()
    return assemble(draft, strict=strict, limits=limits)


def _engine(url: str) -> Engine:
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.exc import ArgumentError

    kind = url.partition("://")[0]
    try:
        parsed = make_url(plain_url(url))
        if parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:"):
            # SQLite would create a missing file.
            _require_file(str(parsed.database))
        return create_engine(parsed)
    except ModuleNotFoundError as error:
        raise SchemaError(
            f"the driver {error.name!r} is not installed",
            where=f"{kind}://...",
            remedy="Install it, or name another driver.",
        ) from error
    except ArgumentError as error:
        raise SchemaError("it is not a database URL that SQLAlchemy knows", where=f"{kind}://...") from error


def _require_file(path: str) -> None:
    from pathlib import Path

    if not path.startswith("file:") and not Path(path).is_file():
        raise SchemaError(
            "there is no such file", where=path, remedy="Check the path of the SQLite database."
        )


def _dialect(engine: Engine) -> str:
    try:
        return canonical_dialect(engine.dialect.name)
    except DialectError:
        return "sqlite"


def _read(inspector: Inspector, engine: Engine, namespace: str | None, views: bool) -> Draft:
    draft = Draft(engine.url.database or engine.dialect.name, _dialect(engine))
    if draft.dialect != engine.dialect.name and draft.dialect == "sqlite":
        draft.warnings.append(
            (f"dialect {engine.dialect.name!r}", "it is unknown; SQL is written as for SQLite")
        )
    real = _real_name(engine)
    holder = namespace or (inspector.default_schema_name if draft.dialect == "postgres" else None) or ""
    names = inspector.get_table_names(schema=namespace)
    if views:
        names = [*names, *inspector.get_view_names(schema=namespace)]
    for name in names:
        if draft.dialect == "sqlite" and is_reserved(name):
            continue
        table = DraftTable(real(name), namespace=holder)
        comment = _table_comment(inspector, name, namespace)
        if comment:
            describe(table, comment)
        for found in inspector.get_columns(name, schema=namespace):
            table.columns.append(_column(found, engine, real))
        key = inspector.get_pk_constraint(name, schema=namespace)
        table.primary_key = [real(column) for column in key["constrained_columns"]]
        draft.tables.append(table)
        for found_key in inspector.get_foreign_keys(name, schema=namespace):
            draft.foreign_keys.append(
                DraftKey(
                    table.name,
                    [real(column) for column in found_key["constrained_columns"]],
                    real(found_key["referred_table"]),
                    [real(column) for column in found_key["referred_columns"]],
                )
            )
    return draft


def _real_name(engine: Engine) -> Callable[[str], str]:
    """Undo SQLAlchemy's lower-casing of names that Oracle and its kin hold in upper case.

    Our SQL quotes names, so they must be those that the server holds.
    """
    if not engine.dialect.requires_name_normalize:
        return str
    return lambda name: str(engine.dialect.denormalize_name(name))


def _table_comment(inspector: Inspector, name: str, namespace: str | None) -> str:
    try:
        return inspector.get_table_comment(name, schema=namespace)["text"] or ""
    except NotImplementedError:
        return ""  # SQLite and some others have no comments


def _column(found: Any, engine: Engine, real: Callable[[str], str]) -> DraftColumn:
    from sqlalchemy.exc import CompileError
    from sqlalchemy.types import NullType

    kind = found["type"]
    try:
        declared = "" if isinstance(kind, NullType) else str(kind.compile(dialect=engine.dialect))
    except CompileError:
        declared = type(kind).__name__
    column = DraftColumn(real(found["name"]), sql_type=declared)
    if values := getattr(kind, "enums", None):
        column.type, column.values = "text", list(values)
    if comment := found.get("comment"):
        describe(column, comment)
    return column


def _read_values(
    connection: Connection, draft: Draft, namespace: str | None, most: int, limits: Limits
) -> None:
    """Give the text columns of few distinct values those values, sorted so that the fingerprint is stable."""
    import sqlalchemy
    from sqlalchemy.sql import quoted_name

    for table in draft.tables:
        source = sqlalchemy.table(quoted_name(table.name, True), schema=namespace)
        for column in table.columns:
            if column.values or (column.type or classify_type(column.sql_type)) != "text":
                continue
            cell: sqlalchemy.ColumnClause[Any] = sqlalchemy.column(quoted_name(column.name, True))
            query = (
                sqlalchemy.select(cell)
                .select_from(source)
                .where(cell.is_not(None))
                .distinct()
                .limit(most + 1)
            )
            values = [row[0] for row in connection.execute(query)]
            if len(values) <= most and all(isinstance(value, str) for value in values):
                kept = [value for value in values if value]
                if all(len(value) <= limits.value_characters for value in kept):
                    column.values = sorted(kept)
