"""Schemas through SQLAlchemy (extra ``db``): any server that it has a driver for."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.assemble import assemble
from fastsql.schema.choice import ALL, Choice
from fastsql.schema.dialects import plain_url
from fastsql.schema.draft import FLAG, flag
from fastsql.schema.pace import Pace
from fastsql.schema.reflection import reflect
from fastsql.schema.server_values import ServerValues, hear_ctrl_c, is_forbidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy.engine import Connection, Engine

    from fastsql.schema.draft import Draft, DraftColumn
    from fastsql.schema.model import Structure


def schema_from_sqlalchemy(
    source: str | Engine,
    *,
    namespace: str | Iterable[str] | None = None,
    max_values: int = 50,
    choice: Choice = ALL,
    pace: Pace | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
) -> Structure:
    """See :meth:`Schema.from_sqlalchemy`.

    Raises SchemaError where SQLAlchemy or the driver is missing or the server refuses.
    """
    namespaces = (
        (namespace,) if isinstance(namespace, str) else None if namespace is None else tuple(namespace)
    )
    with opened(source) as connection:
        draft = reflect(connection, connection.engine, namespaces, choice)
        choice.check()
        if max_values > 0:
            most = min(max_values, limits.values_per_column)
            _read_values(connection, draft, most, limits, pace or Pace())
    # The tables are chosen already.
    return assemble(draft, strict=strict, limits=limits)


@contextmanager
def opened(source: str | Engine) -> Iterator[Connection]:
    """A connection to a URL or of an engine. Raises SchemaError where SQLAlchemy, the driver or the server is missing."""
    try:
        import sqlalchemy
    except ModuleNotFoundError as error:
        raise SchemaError(
            "SQLAlchemy is not installed",
            where="database URL or engine",
            remedy="Run: pip install 'fastsql[db]'.",
        ) from error
    engine = _engine(source) if isinstance(source, str) else source
    try:
        with engine.connect() as connection:
            if isinstance(source, str):
                hear_ctrl_c(connection)
            yield connection
    except sqlalchemy.exc.SQLAlchemyError as error:
        # The driver's own message may repeat the connection string and its password: only its kind is told.
        raise SchemaError(
            f"the database cannot be read ({type(error).__name__})",
            where=engine.url.render_as_string(hide_password=True),
            remedy="Check the URL and the server.",
        ) from error
    finally:
        if isinstance(source, str):
            engine.dispose()


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


def _read_values(connection: Connection, draft: Draft, most: int, limits: Limits, pace: Pace) -> None:
    """Give flags, and text columns of few distinct values, those values, sorted so that the fingerprint is stable."""
    from sqlalchemy.exc import DBAPIError

    reader = ServerValues(connection, pace.seconds)
    wanted = [
        (table, column)
        for table in draft.tables
        for column in table.columns
        if not column.values
        and (column.type_class == "text" or (most >= len(FLAG) and draft.may_be_flag(table, column)))
    ]
    names = [f"{draft.shown(table)}.{column.name}" for table, column in wanted]
    for place in pace.each(names):
        table, column = wanted[place]
        is_number = column.type_class == "number"
        with pace.column(names[place]):
            try:
                found = reader.distinct(
                    table.name, table.namespace or None, column.name, len(FLAG) if is_number else most
                )
            except DBAPIError as error:
                if error.connection_invalidated or not is_forbidden(error):
                    raise
                draft.notes.append((f"column {names[place]}", "the role may not read its values"))
                continue
            if found.late:
                draft.notes.append((f"column {names[place]}", found.missing))
            if is_number:
                column.values = [] if found.late else flag(found.values)
            else:
                _take(column, found.values, limits)
    if pace.unread:
        listed = ", ".join(pace.unread[:_NAMED]) + (", ..." if len(pace.unread) > _NAMED else "")
        draft.notes.append((f"columns {listed}", f"the values of {len(pace.unread)} columns were not read"))


_NAMED = 8
"""Columns that a warning names."""


def _take(column: DraftColumn, values: list[object], limits: Limits) -> None:
    kept = [value for value in values if isinstance(value, str) and value]
    if all(isinstance(value, str) for value in values) and all(
        len(value) <= limits.value_characters for value in kept
    ):
        column.values = sorted(kept)
