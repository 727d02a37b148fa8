"""Reading distinct cell values from SQLite or, through SQLAlchemy, from any database. Only ever reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import ExecutionError
from fastsql.forking import inside_sqlite
from fastsql.schema import quote
from fastsql.schema.dialects import plain_url
from fastsql.schema.sqlite_file import OvertakenError, open_read_only

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from fastsql.schema import Schema

Reader = Callable[[str, str, int], list[Any]]
"""(table, column, at most) -> distinct values of the column that are not NULL."""


def read_values(
    source: str | Path | sqlite3.Connection | Engine,
    schema: Schema,
    columns: Sequence[int],
    max_values: int,
    max_characters: int,
) -> tuple[dict[str, tuple[int, ...]], list[tuple[str, str, str]]]:
    """Values with the columns that hold them, and the columns left out as (table, column, why).

    Text as stored is what counts: numbers in a text column of SQLite, and blank text, are passed over.
    Raises ExecutionError naming the table and column, never a value.
    """
    values: dict[str, tuple[int, ...]] = {}
    skipped: list[tuple[str, str, str]] = []
    with _reader(source) as read:
        for column in columns:
            name = schema.columns[column].name
            table = schema.tables[schema.columns[column].table].name
            found = read(table, name, max_values + 1)
            if len(found) > max_values:
                skipped.append((table, name, f"more than {max_values:,} distinct values"))
                continue
            alone = (column,)
            for value in found:
                if isinstance(value, str) and len(value) <= max_characters and value.strip():
                    held = values.get(value)
                    values[value] = alone if held is None else (*held, column)
    return values, skipped


@contextmanager
def _reader(source: str | Path | sqlite3.Connection | Engine) -> Iterator[Reader]:
    if isinstance(source, sqlite3.Connection):
        with inside_sqlite():
            yield _sqlite_reader(source, "the open connection")
    elif isinstance(source, Path) or (isinstance(source, str) and "://" not in source):
        path = Path(source)
        if not path.is_file():
            raise ExecutionError("there is no such database file", where=str(path), remedy="Check the path.")
        failure = ""
        try:
            with open_read_only(path) as connection:
                yield _sqlite_reader(connection, str(path))
        except sqlite3.Error as error:
            failure = str(error) if isinstance(error, OvertakenError) else "the database cannot be opened"
        if failure:
            raise ExecutionError(failure, where=str(path), remedy="Check the path, and try again.")
    else:
        with _sqlalchemy_reader(source) as read:
            yield read


def _sqlite_reader(connection: sqlite3.Connection, where: str) -> Reader:
    def read(table: str, column: str, at_most: int) -> list[Any]:
        # A qualified name: SQLite takes an unknown bare "name" in double quotes for a string.
        name = f"{quote(table)}.{quote(column)}"
        sql = f"SELECT DISTINCT {name} FROM {quote(table)} WHERE typeof({name}) = 'text' LIMIT ?"  # noqa: S608 (quoted)
        with suppress(sqlite3.Error, UnicodeError):
            return [row[0] for row in connection.execute(sql, (at_most,))]
        # SQLite's own message stays out: for a malformed row it may quote the row.
        raise _failed(table, column, where)

    return read


@contextmanager
def _sqlalchemy_reader(source: str | Engine) -> Iterator[Reader]:
    try:
        import sqlalchemy
    except ImportError as error:
        raise ExecutionError(
            "reading from an engine or a URL needs SQLAlchemy",
            remedy='Install it: pip install "fastsql[db]".',
        ) from error
    try:
        engine = sqlalchemy.create_engine(plain_url(source)) if isinstance(source, str) else source
        connection = engine.connect()
    except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
        raise ExecutionError(
            "the database cannot be reached", remedy="Check the URL and its driver."
        ) from error

    def read(table: str, column: str, at_most: int) -> list[Any]:
        cell: Any = sqlalchemy.column(column)
        origin = sqlalchemy.table(table, cell)
        query = sqlalchemy.select(cell).select_from(origin).where(cell.is_not(None)).distinct().limit(at_most)
        with suppress(sqlalchemy.exc.SQLAlchemyError, UnicodeError):
            return [row[0] for row in connection.execute(query)]
        raise _failed(table, column, engine.dialect.name)

    try:
        yield read
    finally:
        connection.close()
        if engine is not source:
            engine.dispose()


def _failed(table: str, column: str, where: str) -> ExecutionError:
    return ExecutionError(
        "its values cannot be read",
        where=f"{where}, column {table}.{column}",
        remedy="Check that the database is there, whole, and has the schema's tables.",
    )
