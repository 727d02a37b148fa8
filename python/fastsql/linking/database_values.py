"""Reading distinct cell values from SQLite or, through SQLAlchemy, from any database, column by column. Only ever reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from fastsql.errors import ExecutionError
from fastsql.forking import inside_sqlite
from fastsql.schema import quote
from fastsql.schema.pace import Deadline, Pace
from fastsql.schema.server_values import SAMPLE_ROWS, Found, ServerValues, is_forbidden, missed
from fastsql.schema.sqlite_file import OvertakenError, SQLiteFile, open_read_only

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from fastsql.schema import Schema

    Source: TypeAlias = str | Path | sqlite3.Connection | Engine


@dataclass(frozen=True)
class Origin:
    """What is read from where: columns of at most `max_values` distinct values, of values up to `max_characters` long."""

    source: Source = field(repr=False)
    columns: tuple[int, ...]
    max_values: int
    max_characters: int
    column_seconds: float


@dataclass(frozen=True)
class Reading:
    """What was read of a database, by column index, and when it has to be read again."""

    values: Mapping[int, Sequence[str]]
    skipped: tuple[tuple[str, str, str], ...] = ()
    """Columns that were left out, or of which there may be more values, as (table, column, why)."""
    stamps: Mapping[int, str] = field(default_factory=dict)
    """Of the columns that were read to their end: a text that changes with their table, where the database has one."""
    whole: frozenset[int] = frozenset()
    """Columns of which every value is text and is here, blank ones aside."""
    unchanged: bool = False
    """Whether all is as it was read earlier."""


class _Reader(Protocol):
    def stamp(self, column: int) -> str:
        """A text that changes when the column's table does; empty where the database has none."""

    def read(self, column: int, most: int) -> Found:
        """The distinct values of a column that are not NULL. Raises ExecutionError naming the column, never a value."""


def read_values(origin: Origin, schema: Schema, pace: Pace, earlier: Reading | None = None) -> Reading:
    """The values of columns, in the time that each may take; those whose stamp is as `earlier` are taken from there.

    Text as stored is what counts: numbers in a text column of SQLite, and blank text, are passed over.
    Raises ExecutionError naming the table and column, never a value.
    """
    columns, fresh = origin.columns, 0
    values: dict[int, Sequence[str]] = {}
    skipped: list[tuple[str, str, str]] = []
    stamps: dict[int, str] = {}
    whole: set[int] = set()
    names = [schema.qualified_name(column) for column in columns]
    why = {f"{table}.{column}": reason for table, column, reason in (earlier.skipped if earlier else ())}
    with _reader(origin.source, schema, pace.seconds) as reader:
        for place in pace.each(names):
            column, name = columns[place], names[place]
            with pace.column(name):
                stamp = reader.stamp(column)
                if earlier is not None and stamp and earlier.stamps.get(column) == stamp:
                    values[column], missing = earlier.values.get(column, ()), why.get(name, "")
                    is_whole = column in earlier.whole
                else:
                    fresh += 1
                    found = reader.read(column, origin.max_values)
                    values[column], missing = _texts(found.values, origin.max_characters), found.missing
                    is_whole = not missing and all(_is_said(v, origin.max_characters) for v in found.values)
                    stamp = "" if found.late else stamp
                if missing:
                    skipped.append((*_name(schema, column), missing))
                if stamp:
                    stamps[column] = stamp
                if is_whole:
                    whole.add(column)
    unread = set(pace.unread)
    skipped += [
        (*_name(schema, column), "not read: the reading was ended before")
        for column, name in zip(columns, names, strict=True)
        if name in unread
    ]
    return Reading(values, tuple(skipped), stamps, frozenset(whole), unchanged=not fresh and not unread)


def _texts(values: Sequence[Any], most: int) -> list[str]:
    return [value for value in values if _is_said(value, most) and value.strip()]


def _is_said(value: Any, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most


def _name(schema: Schema, column: int) -> tuple[str, str]:
    return schema.table_name(schema.columns[column].table), schema.columns[column].name


@contextmanager
def _reader(source: Source, schema: Schema, seconds: float) -> Iterator[_Reader]:
    if isinstance(source, sqlite3.Connection):
        with inside_sqlite():
            yield _SQLiteReader(source, schema, "the open connection", seconds)
    elif isinstance(source, Path) or (isinstance(source, str) and "://" not in source):
        path = Path(source)
        if not path.is_file():
            raise ExecutionError("there is no such database file", where=str(path), remedy="Check the path.")
        failure = ""
        try:
            with open_read_only(path) as connection:
                state = SQLiteFile(path).look()
                yield _SQLiteReader(connection, schema, str(path), seconds, repr(state))
        except sqlite3.Error as error:
            failure = str(error) if isinstance(error, OvertakenError) else "the database cannot be opened"
        if failure:
            raise ExecutionError(failure, where=str(path), remedy="Check the path, and try again.")
    else:
        with _server_reader(source, schema, seconds) as reader:
            yield reader


@dataclass
class _SQLiteReader:
    connection: sqlite3.Connection
    schema: Schema
    where: str
    seconds: float
    state: str = ""
    """Of the whole file: SQLite does not tell which table was written."""

    def stamp(self, column: int) -> str:
        return self.state

    def read(self, column: int, most: int) -> Found:
        one = self.schema.columns[column]
        table, namespace = self.schema.tables[one.table].name, self.schema.namespace_in_sql(one.table)
        origin = f"{quote(namespace)}.{quote(table)}" if namespace else quote(table)
        # A qualified name: SQLite takes an unknown bare "name" in double quotes for a string.
        name = f"{quote(table)}.{quote(one.name)}"
        deadline = Deadline(self.seconds, self.connection.interrupt)
        # What is no text comes as one number, which says that there is such.
        sql = "SELECT DISTINCT CASE typeof({0}) WHEN 'text' THEN {0} ELSE 0 END FROM {1} WHERE {0} IS NOT NULL LIMIT ?"
        found = self._rows(sql.format(name, origin), [most + 1], deadline, column)
        if found is None:
            # Then the first rows, which are read in no time.
            part = f"(SELECT {name} AS cell FROM {origin} LIMIT {SAMPLE_ROWS})"  # noqa: S608 -- quoted
            deadline = Deadline(self.seconds, self.connection.interrupt)
            sample = self._rows(sql.format("cell", part), [most], deadline, column) or []
            return Found(sample, missed(self.seconds), late=True)
        return Found([], f"more than {most:,} distinct values") if len(found) > most else Found(found)

    def _rows(self, sql: str, values: list[int], deadline: Deadline, column: int) -> list[Any] | None:
        """The cells; None where the time is up."""
        try:
            with deadline.running():
                return [row[0] for row in self.connection.execute(sql, values)]
        except (sqlite3.Error, UnicodeError) as error:
            interrupted = str(error) == "interrupted"
        if interrupted and deadline.passed:
            return None
        if interrupted:
            # Ctrl-C came while SQLite called back, which ends the query and loses the exception.
            raise KeyboardInterrupt
        # SQLite's own message stays out: for a malformed row it may quote the row.
        raise _failed(self.schema, column, self.where)


@contextmanager
def _server_reader(source: str | Engine, schema: Schema, seconds: float) -> Iterator[_Reader]:
    try:
        import sqlalchemy
    except ImportError as error:
        raise ExecutionError(
            "reading from an engine or a URL needs SQLAlchemy",
            remedy='Install it: pip install "fastsql[db]".',
        ) from error
    from fastsql.schema.dialects import plain_url

    try:
        engine = sqlalchemy.create_engine(plain_url(source)) if isinstance(source, str) else source
        connection = engine.connect()
    except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
        raise ExecutionError(
            "the database cannot be reached", remedy="Check the URL and its driver."
        ) from error
    try:
        yield _ServerReader(ServerValues(connection, seconds), schema, engine.dialect.name)
    finally:
        connection.close()
        if engine is not source:
            engine.dispose()


@dataclass
class _ServerReader:
    values: ServerValues
    schema: Schema
    dialect: str

    def stamp(self, column: int) -> str:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return self.values.stamp(*self._table(column))
        except SQLAlchemyError:
            failure = _failed(self.schema, column, self.dialect)
        raise failure

    def read(self, column: int, most: int) -> Found:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return self.values.distinct(*self._table(column), self.schema.columns[column].name, most)
        except (SQLAlchemyError, UnicodeError) as error:
            if is_forbidden(error):
                return Found([], "the role may not read it", late=True)
            failure = _failed(self.schema, column, self.dialect)
        raise failure

    def _table(self, column: int) -> tuple[str, str | None]:
        index = self.schema.columns[column].table
        table = self.schema.tables[index]
        namespace = self.schema.namespace_in_sql(index) if self.dialect == "sqlite" else table.namespace
        return table.name, namespace or None


def _failed(schema: Schema, column: int, where: str) -> ExecutionError:
    return ExecutionError(
        "its values cannot be read",
        where=f"{where}, column {schema.qualified_name(column)}",
        remedy="Check that the database is there, whole, and has the schema's tables.",
    )
