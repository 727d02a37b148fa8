"""Reading distinct cell values, forms of identifiers and rows of reference tables, from SQLite or, through SQLAlchemy, from
any database.

Only ever reads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from fastsql.errors import ExecutionError
from fastsql.forking import inside_sqlite
from fastsql.limits import DEFAULT
from fastsql.linking.identifiers import ROWS, forms_of
from fastsql.linking.reference_rows import ReferenceRows, rows_of
from fastsql.schema import quote
from fastsql.schema.duckdb_file import check_not_duckdb
from fastsql.schema.pace import Deadline, Pace
from fastsql.schema.server_values import (
    SAMPLE_ROWS,
    Found,
    ServerValues,
    hear_ctrl_c,
    is_forbidden,
    late,
    missed,
)
from fastsql.schema.sqlite_file import OvertakenError, SQLiteFile, open_read_only

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from fastsql.schema import Schema

    Source: TypeAlias = str | Path | sqlite3.Connection | Engine


ALL_COLUMNS = "*"
"""Stands for the column where the rows of a table are spoken of."""


@dataclass(frozen=True)
class Origin:
    """What is read from where: columns of at most `max_values` distinct values, of values up to `max_characters` long."""

    source: Source = field(repr=False)
    columns: tuple[int, ...]
    max_values: int
    max_characters: int
    column_seconds: float
    max_cells: int = DEFAULT.reference_cells
    """Of the rows of one reference table."""
    keys: tuple[int, ...] = ()
    """Columns of which only the forms of identifiers are read."""


@dataclass(frozen=True)
class Reading:
    """What was read of a database, by column index, and when it has to be read again."""

    values: Mapping[int, Sequence[str]]
    skipped: tuple[tuple[str, str, str], ...] = ()
    """Columns that were left out, or of which there may be more values, as (table, column, why)."""
    stamps: Mapping[str, str] = field(default_factory=dict)
    """By "table.column" of what was read to its end: a text that changes with the table, where the database has one."""
    whole: frozenset[int] = frozenset()
    """Columns of which every value is text and is here, blank ones aside."""
    rows: tuple[ReferenceRows, ...] = ()
    """Those of the schema's reference tables."""
    forms: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Of keys whose values are made alike (`identifiers.forms_of`)."""
    unchanged: bool = False
    """Whether all is as it was read earlier."""


class _Reader(Protocol):
    def stamp(self, column: int) -> str:
        """A text that changes when the column's table does; empty where the database has none."""

    def read(self, column: int, most: int) -> Found:
        """The distinct values of a column that are not NULL. Raises ExecutionError naming the column, never a value."""

    def first(self, column: int, most: int) -> Sequence[Any]:
        """At most `most` distinct values of a column's first rows; none where they take too long or may not be read."""

    def rows(self, table: int, most: int) -> Sequence[Sequence[Any]] | str:
        """At most `most` rows of a table, or why there are none. Raises ExecutionError naming it, never a value."""


def read_values(origin: Origin, schema: Schema, pace: Pace, earlier: Reading | None = None) -> Reading:
    """The values of columns, forms of keys and the rows of reference tables, in the time that each may take.

    Text as stored is what counts as a value: numbers in a text column of SQLite, and blank text, are passed over. What has
    its stamp from `earlier` is taken from there.
    Raises ExecutionError naming the table and column, never a value.
    """
    found = _Found(origin, schema, earlier)
    tables = [index for index, table in enumerate(schema.tables) if table.reference]
    steps = [
        *((_name(schema, column), found.column, column) for column in origin.columns),
        *((_name(schema, column), found.key, column) for column in origin.keys),
        *((_rows_of(schema, table), found.table, table) for table in tables),
    ]
    places = [place for place, _, _ in steps]
    names = [".".join(place) for place in places]
    with _reader(origin.source, schema, pace.seconds) as reader:
        for number in pace.each(names):
            _, read, item = steps[number]
            with pace.column(names[number]):
                read(reader, item)
    skipped = found.skipped + [
        (*place, "not read: the reading was ended before")
        for place, name in zip(places, names, strict=True)
        if name in pace.unread
    ]
    return Reading(
        found.values,
        tuple(skipped),
        found.stamps,
        frozenset(found.whole),
        tuple(found.rows),
        found.forms,
        unchanged=not found.fresh and not pace.unread,
    )


class _Found:
    """What has been read until now, and how much of it anew."""

    def __init__(self, origin: Origin, schema: Schema, earlier: Reading | None) -> None:
        self._origin, self._schema, self._earlier = origin, schema, earlier or Reading({})
        self._why = {f"{table}.{column}": reason for table, column, reason in self._earlier.skipped}
        self.values: dict[int, Sequence[str]] = {}
        self.skipped: list[tuple[str, str, str]] = []
        self.stamps: dict[str, str] = {}
        self.whole: set[int] = set()
        self.rows: list[ReferenceRows] = []
        self.forms: dict[int, tuple[str, ...]] = {}
        self.fresh = 0

    def column(self, reader: _Reader, column: int) -> None:
        """The values of a column."""
        longest, name = self._origin.max_characters, self._schema.qualified_name(column)
        stamp = reader.stamp(column)
        if self._is_known(name, stamp):
            values, missing = self._earlier.values.get(column, ()), self._why.get(name, "")
            is_whole = column in self._earlier.whole
        else:
            found = reader.read(column, self._origin.max_values)
            values, missing = _texts(found.values, longest), found.missing
            is_whole = not missing and all(_is_said(value, longest) for value in found.values)
            stamp = "" if found.late else stamp
        self.values[column] = values
        self._note(_name(self._schema, column), name, missing, stamp)
        if is_whole:
            self.whole.add(column)

    def key(self, reader: _Reader, column: int) -> None:
        """The forms of a key."""
        name = self._schema.qualified_name(column)
        stamp = reader.stamp(column)
        known = self._is_known(name, stamp)
        forms = self._earlier.forms.get(column, ()) if known else forms_of(reader.first(column, ROWS))
        if forms:
            self.forms[column] = forms
        self._note(_name(self._schema, column), name, "", stamp)

    def table(self, reader: _Reader, table: int) -> None:
        """The rows of a reference table."""
        columns = self._schema.tables[table].columns
        place = _rows_of(self._schema, table)
        name = ".".join(place)
        stamp = reader.stamp(columns[0])
        if self._is_known(name, stamp):
            rows, missing = self._known_rows(place[0]), self._why.get(name, "")
        else:
            most = self._origin.max_cells // len(columns)
            found = reader.rows(table, most + 1)
            rows, missing = None, ""
            if isinstance(found, str):
                missing, stamp = found, ""
            elif len(found) > most:
                missing = f"more than {most:,} rows"
            else:
                names = [self._schema.columns[column].name for column in columns]
                rows = rows_of(place[0], names, found)
        if rows is not None:
            self.rows.append(rows)
        self._note(place, name, missing, stamp)

    def _is_known(self, name: str, stamp: str) -> bool:
        known = bool(stamp) and self._earlier.stamps.get(name) == stamp
        self.fresh += not known
        return known

    def _known_rows(self, table: str) -> ReferenceRows | None:
        return next((one for one in self._earlier.rows if one.table == table), None)

    def _note(self, place: tuple[str, str], name: str, missing: str, stamp: str) -> None:
        if missing:
            self.skipped.append((*place, missing))
        if stamp:
            self.stamps[name] = stamp


def _texts(values: Sequence[Any], most: int) -> list[str]:
    return [value for value in values if _is_said(value, most) and value.strip()]


def _is_said(value: Any, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most


def _name(schema: Schema, column: int) -> tuple[str, str]:
    return schema.table_name(schema.columns[column].table), schema.columns[column].name


def _rows_of(schema: Schema, table: int) -> tuple[str, str]:
    return schema.table_name(table), ALL_COLUMNS


@contextmanager
def _reader(source: Source, schema: Schema, seconds: float) -> Iterator[_Reader]:
    if isinstance(source, sqlite3.Connection):
        with inside_sqlite():
            yield _SQLiteReader(source, schema, "the open connection", seconds)
    elif isinstance(source, Path) or (isinstance(source, str) and "://" not in source):
        path = Path(source)
        if not path.is_file():
            raise ExecutionError("there is no such database file", where=str(path), remedy="Check the path.")
        check_not_duckdb(path, ExecutionError)
        failure = ""
        try:
            with open_read_only(path) as connection:
                state = SQLiteFile(path).look()
                yield _SQLiteReader(connection, schema, str(path), seconds, repr(state))
        except sqlite3.Error as error:
            failure = str(error) if isinstance(error, OvertakenError) else "the database cannot be opened"
        if failure:
            raise ExecutionError(failure, where=str(path), remedy="Check the path, and try again.")
    elif not (isinstance(source, str) or hasattr(source, "connect")):
        raise TypeError(
            f"values are read from a path, a URL, an engine or a connection, not {type(source).__name__}"
        )
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
        origin, name = self._origin(one.table), self._column(column)
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

    def first(self, column: int, most: int) -> Sequence[Any]:
        origin, name = self._origin(self.schema.columns[column].table), self._column(column)
        sql = f"SELECT DISTINCT cell FROM (SELECT {name} AS cell FROM {origin} LIMIT {SAMPLE_ROWS}) LIMIT ?"  # noqa: S608
        deadline = Deadline(self.seconds, self.connection.interrupt)
        return self._rows(sql, [most], deadline, column) or []

    def rows(self, table: int, most: int) -> Sequence[Sequence[Any]] | str:
        columns = self.schema.tables[table].columns
        names = ", ".join(map(self._column, columns))
        deadline = Deadline(self.seconds, self.connection.interrupt)
        sql = f"SELECT {names} FROM {self._origin(table)} LIMIT ?"  # noqa: S608 -- quoted
        found = self._run(sql, [most], deadline, columns[0])
        return late(self.seconds) if found is None else found

    def _origin(self, table: int) -> str:
        name, namespace = self.schema.tables[table].name, self.schema.namespace_in_sql(table)
        return f"{quote(namespace)}.{quote(name)}" if namespace else quote(name)

    def _column(self, column: int) -> str:
        # A qualified name: SQLite takes an unknown bare "name" in double quotes for a string.
        one = self.schema.columns[column]
        return f"{quote(self.schema.tables[one.table].name)}.{quote(one.name)}"

    def _rows(self, sql: str, values: list[int], deadline: Deadline, column: int) -> list[Any] | None:
        """The cells of the first column; None where the time is up."""
        found = self._run(sql, values, deadline, column)
        return None if found is None else [row[0] for row in found]

    def _run(
        self, sql: str, values: list[int], deadline: Deadline, column: int
    ) -> Sequence[Sequence[Any]] | None:
        try:
            with deadline.running():
                return self.connection.execute(sql, values).fetchall()
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
        if engine is not source:
            hear_ctrl_c(connection)
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

    def first(self, column: int, most: int) -> Sequence[Any]:
        from sqlalchemy.exc import SQLAlchemyError

        name, deadline = self.schema.columns[column].name, self.values.deadline(self.values.seconds)
        try:
            return self.values.sample(*self._table(column), name, most, deadline) or []
        except (SQLAlchemyError, UnicodeError) as error:
            if is_forbidden(error):
                return []
            failure = _failed(self.schema, column, self.dialect)
        raise failure

    def rows(self, table: int, most: int) -> Sequence[Sequence[Any]] | str:
        from sqlalchemy.exc import SQLAlchemyError

        columns = self.schema.tables[table].columns
        names = [self.schema.columns[column].name for column in columns]
        try:
            found = self.values.rows(*self._table(columns[0]), names, most)
        except (SQLAlchemyError, UnicodeError) as error:
            if is_forbidden(error):
                return "the role may not read it"
            failure = _failed(self.schema, columns[0], self.dialect)
        else:
            return late(self.values.seconds) if found is None else found
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
