"""Reading what tells keys that nobody declared, from SQLite or through SQLAlchemy. Only ever reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import SchemaError
from fastsql.forking import inside_sqlite
from fastsql.schema.contained import LEAST
from fastsql.schema.names import quote
from fastsql.schema.pace import Deadline
from fastsql.schema.server_values import SAMPLE_ROWS, ServerValues, is_forbidden
from fastsql.schema.sqlite_file import open_read_only

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from fastsql.schema.contained import Cells
    from fastsql.schema.model import Structure

LONGEST = 64
"""Characters of a value: what is longer is text to read, and no key."""
_CHUNK = 500
"""Values that one query asks for."""


class _Reading:
    """What both kinds of database share: the time, and whom to blame."""

    def __init__(self, schema: Structure, deadline: Deadline) -> None:
        self._schema = schema
        self._deadline = deadline
        self._sizes: dict[int, int | None] = {}

    @property
    def late(self) -> bool:
        """Whether the time was up before all was read."""
        return not self._deadline.left

    def size(self, key: int) -> int | None:
        """How many distinct values a column has."""
        if key not in self._sizes:
            self._sizes[key] = self._count(key, None)
        return self._sizes[key]

    def is_unique(self, column: int) -> bool:
        """Whether no two rows have the same value there, and more than a few have one; False where the time is up."""
        first = self._rows(column, SAMPLE_ROWS)
        if first is None or first[0] < LEAST or first[0] != first[1]:
            return False
        rows = first if first[0] < SAMPLE_ROWS else self._rows(column, None)
        return rows is not None and rows[0] == rows[1]

    def held(self, key: int, values: Sequence[Any]) -> int | None:
        """How many of some distinct values a key has."""
        found = 0
        for first in range(0, len(values), _CHUNK):
            count = self._count(key, values[first : first + _CHUNK])
            if count is None:
                return None
            found += count
        return found

    def _count(self, key: int, among: Sequence[Any] | None) -> int | None:
        raise NotImplementedError

    def _rows(self, column: int, most: int | None) -> tuple[int, int] | None:
        """Values of the first rows, or of all, and how many distinct ones; None where the time is up."""
        raise NotImplementedError

    def _name(self, column: int) -> tuple[str, str, str]:
        """Namespace, table and column."""
        one = self._schema.columns[column]
        return self._schema.tables[one.table].namespace, self._schema.tables[one.table].name, one.name

    def _failed(self, column: int) -> SchemaError:
        """Of a database's own message nothing is repeated: it may quote a cell."""
        return SchemaError(
            "its values cannot be read",
            where=f"column {self._schema.qualified_name(column)}",
            remedy="Check that the database is there, whole, and has the schema's tables.",
        )


class SQLiteCells(_Reading):
    """Of an SQLite connection."""

    def __init__(self, connection: sqlite3.Connection, schema: Structure, seconds: float) -> None:
        super().__init__(schema, Deadline(seconds, connection.interrupt))
        self._connection = connection

    def sample(self, column: int, most: int) -> list[Any] | None:
        """At most so many distinct values of a column that are not NULL, of its first rows."""
        origin, name = self._written(column)
        part = f"SELECT {name} AS cell FROM {origin} LIMIT {SAMPLE_ROWS}"  # noqa: S608 -- names are quoted
        sql = f"SELECT DISTINCT cell FROM ({part}) WHERE LENGTH(cell) BETWEEN 1 AND {LONGEST} LIMIT ?"  # noqa: S608
        return self._firsts(sql, [most], column)

    def _rows(self, column: int, most: int | None) -> tuple[int, int] | None:
        origin, name = self._written(column)
        part = f"SELECT {name} AS cell FROM {origin} LIMIT ?"  # noqa: S608 -- names are quoted
        sql = f"SELECT COUNT(cell), COUNT(DISTINCT cell) FROM ({part})"  # noqa: S608
        found = self._cells(sql, [-1 if most is None else most], column)
        return None if found is None else (int(found[0][0]), int(found[0][1]))

    def _count(self, key: int, among: Sequence[Any] | None) -> int | None:
        origin, name = self._written(key)
        marks = "" if among is None else f" WHERE {name} IN ({', '.join('?' * len(among))})"
        sql = f"SELECT COUNT(DISTINCT {name}) FROM {origin}{marks}"  # noqa: S608 -- names are quoted
        found = self._firsts(sql, list(among or ()), key)
        return None if found is None else int(found[0])

    def _written(self, column: int) -> tuple[str, str]:
        """Table and column in SQL. A qualified name: SQLite takes an unknown bare one in double quotes for a string."""
        namespace, table, name = self._name(column)
        shown = self._schema.namespace_in_sql(self._schema.columns[column].table) and namespace
        return f"{quote(shown)}.{quote(table)}" if shown else quote(table), f"{quote(table)}.{quote(name)}"

    def _firsts(self, sql: str, values: list[Any], column: int) -> list[Any] | None:
        rows = self._cells(sql, values, column)
        return None if rows is None else [row[0] for row in rows]

    def _cells(self, sql: str, values: list[Any], column: int) -> list[Any] | None:
        if not self._deadline.left:
            return None
        try:
            with self._deadline.running():
                return self._connection.execute(sql, values).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            interrupted = str(error) == "interrupted"
        if interrupted and self._deadline.passed:
            return None
        if interrupted:  # Ctrl-C came while SQLite called back
            raise KeyboardInterrupt
        raise self._failed(column)


class ServerCells(_Reading):
    """Of an SQLAlchemy connection."""

    def __init__(self, connection: Connection, schema: Structure, seconds: float) -> None:
        self._values = ServerValues(connection, seconds)
        super().__init__(schema, self._values.deadline(seconds))

    def sample(self, column: int, most: int) -> list[Any] | None:
        """At most so many distinct values of a column that are not NULL, of its first rows."""
        namespace, table, name = self._name(column)
        found = self._asked(
            column, lambda: self._values.sample(table, namespace or None, name, most, self._deadline)
        )
        return None if found is None else [value for value in found if 0 < len(str(value)) <= LONGEST]

    def _rows(self, column: int, most: int | None) -> tuple[int, int] | None:
        namespace, table, name = self._name(column)
        found: tuple[int, int] | None = self._asked(
            column, lambda: self._values.filled(table, namespace or None, name, self._deadline, most)
        )
        return found

    def _count(self, key: int, among: Sequence[Any] | None) -> int | None:
        namespace, table, name = self._name(key)
        found: int | None = self._asked(
            key, lambda: self._values.count(table, namespace or None, name, self._deadline, among)
        )
        return found

    def _asked(self, column: int, ask: Callable[[], Any]) -> Any:
        from sqlalchemy.exc import SQLAlchemyError

        if not self._deadline.left:
            return None
        try:
            return ask()
        except (SQLAlchemyError, UnicodeError) as error:
            if is_forbidden(error):
                return None
        raise self._failed(column)


@contextmanager
def open_cells(
    source: str | Path | sqlite3.Connection | Engine, schema: Structure, seconds: float
) -> Iterator[Cells]:
    """The cells of a database that has a schema's tables. Raises SchemaError where it cannot be read."""
    if isinstance(source, sqlite3.Connection):
        with inside_sqlite():
            yield SQLiteCells(source, schema, seconds)
    elif isinstance(source, Path) or (isinstance(source, str) and "://" not in source):
        if not Path(source).is_file():
            raise SchemaError("there is no such file", where=str(source), remedy="Check the path.")
        try:
            with open_read_only(source) as connection:
                yield SQLiteCells(connection, schema, seconds)
        except sqlite3.Error as error:
            raise SchemaError(
                f"SQLite cannot read it ({error})", where=str(source), remedy="Check the file, and try again."
            ) from error
    else:
        from fastsql.schema.database import opened

        with opened(source) as connection:
            yield ServerCells(connection, schema, seconds)
