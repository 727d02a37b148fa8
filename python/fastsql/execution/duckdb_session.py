"""A DuckDB file, and one connection to it for the thread that owns it."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fastsql.errors import ExecutionError
from fastsql.execution.executor import Bounds, failed, fetch, too_late
from fastsql.execution.memory import out_of_memory
from fastsql.execution.reuse import Statement, TemporaryTable, collated
from fastsql.execution.rows import Rows
from fastsql.execution.threads import close_at_exit
from fastsql.forking import renew_in_child
from fastsql.schema.names import fold, quote

if TYPE_CHECKING:
    import duckdb

Answer = TypeVar("Answer")

_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "max_temp_directory_size": "0GB",
    "temp_directory": "",  # without it, the size alone lets an instance in memory spill into the working folder
}
_SCHEMA_OF_THIS_NAME = """
SELECT 1 FROM duckdb_schemas() WHERE database_name = $1 AND lower(schema_name) = lower($1)
"""
_COLLATED = "SELECT 1 FROM duckdb_tables() WHERE sql ILIKE '%collate%' LIMIT 1"
_SHAPE = """
SELECT schema_name, table_name, column_index, column_name, data_type FROM duckdb_columns()
WHERE database_name = current_database()
UNION ALL SELECT schema_name, view_name, NULL, NULL, sql FROM duckdb_views() WHERE database_name = current_database()
ORDER BY ALL
"""
_RESERVED = ("", "main", "memory", "system", "temp")
"""Names of catalogs and schemas of DuckDB, that a file may have but its catalog may not."""

_inherited: list[object] = []
"""Instances of the process that this one was forked from: their threads are not here, so they can only be left alone."""


@dataclass(frozen=True, eq=False)
class _Instance:
    """An instance of DuckDB with one file attached, read-only.

    Given the file itself to open, DuckDB would share one instance among all of this process that ask for the same path: also
    when another file lies there now, and after a fork.
    """

    connection: duckdb.DuckDBPyConnection
    catalog: str
    identity: tuple[int, int]

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Another connection to the file. Raises duckdb.Error."""
        connection = self.connection.cursor()
        connection.execute(f"USE {quote(self.catalog)}")
        return connection


class DuckDBFile:
    """A database by its path, which is opened anew when another file lies there."""

    def __init__(self, path: str | Path, memory_limit: str) -> None:
        self._path = Path(path).absolute()
        self._memory_limit = memory_limit
        self._instance: _Instance | None = None
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Leave the instance to the process that it was inherited from."""
        if self._instance is not None:
            _inherited.append(self._instance)
        self._instance = None
        self._lock = threading.Lock()

    def open(self) -> _Instance:
        """The instance for the file that lies there now.

        Raises:
            ExecutionError: there is no file, it is not DuckDB's, somebody writes it, or DuckDB is not installed.
        """
        try:
            import duckdb
        except ImportError as error:
            raise ExecutionError(
                "the package 'duckdb' is not installed", remedy="pip install 'fastsql[duckdb]'"
            ) from error
        identity = self._identity()
        with self._lock:
            instance = self._instance
        if instance is not None and instance.identity == identity:
            return instance
        try:
            # Without the lock, which nobody may hold who might not come back.
            instance = self._attach(identity)
        except (duckdb.Error, ValueError) as error:
            failure = type(error).__name__
        else:
            with self._lock:
                self._instance = instance
            close_at_exit(self)
            return instance
        raise ExecutionError(
            f"cannot be opened read-only ({failure})",
            where=str(self._path),
            remedy="Give a DuckDB file that no other process has open for writing.",
        )

    def close(self) -> None:
        """Let go of the instance, which ends with the last connection to it."""
        with self._lock:
            self._instance = None

    def _identity(self) -> tuple[int, int]:
        found: os.stat_result | None = None
        with suppress(OSError, ValueError):
            found = self._path.stat()
        if found is None or not stat.S_ISREG(found.st_mode):
            raise ExecutionError("no such database", where=str(self._path), remedy="Check the path.")
        return found.st_dev, found.st_ino

    def _attach(self, identity: tuple[int, int]) -> _Instance:
        import duckdb

        name = self._path.name.partition(".")[0]
        catalog = f"{name}_db" if fold(name) in _RESERVED else name
        path = str(self._path).replace("'", "''")
        connection = duckdb.connect(":memory:", config={**_SETTINGS, "memory_limit": self._memory_limit})
        try:
            connection.execute(f"ATTACH '{path}' AS {quote(catalog)} (TYPE duckdb, READ_ONLY)")
            if connection.execute(_SCHEMA_OF_THIS_NAME, [catalog]).fetchone():
                # "billing.invoices" would mean two things.
                connection.execute(f"DETACH {quote(catalog)}")
                catalog = f"{catalog}_db"
                connection.execute(f"ATTACH '{path}' AS {quote(catalog)} (TYPE duckdb, READ_ONLY)")
            connection.execute(f"USE {quote(catalog)}")
            connection.execute("DETACH memory")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
        except BaseException:
            connection.close()
            raise
        return _Instance(connection, catalog, identity)


class DuckDBSession:
    """A connection to a DuckDB file, used by one thread; its last query can be read as a cursor."""

    def __init__(self, file: DuckDBFile, bounds: Bounds) -> None:
        self.description: Any = None
        """One sequence a column of the query that was begun last."""
        self._file = file
        self._bounds = bounds
        self._instance: _Instance | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._exhausted = True
        self._has_tables = False

    def open(self) -> None:
        """Connect to the file as it is now.

        Raises:
            ExecutionError: it is missing, no DuckDB database, or somebody writes it.
        """
        self._guarded(self._open)

    def shape(self) -> str:
        """A digest of the tables, views and columns that there are now.

        Raises:
            ExecutionError: they cannot be read.
        """
        found = self._guarded(lambda: self._open().execute(_SHAPE).fetchall())
        return sha256(repr(found).encode("utf-8", "replace")).hexdigest()

    def run(self, sql: str | Statement) -> Rows:
        """The rows of a query, or of a statement with parameters and temporary tables, which do not outlive it.

        Raises:
            ExecutionError: as :meth:`fastsql.execution.Executor.run`.
        """
        try:
            return fetch(self.start(sql), self._bounds)
        finally:
            self.finish()

    def start(self, sql: str | Statement) -> DuckDBSession:
        """Begin a query, which the session is then the cursor of.

        Raises:
            ExecutionError: as :meth:`run`.
        """
        statement = Statement(sql) if isinstance(sql, str) else sql
        return self._guarded(lambda: self._start(statement))

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows of the query that was begun last, at most `size` of them; none at the end.

        Raises:
            ExecutionError: reading them failed.
        """
        return self._guarded(lambda: self._fetch(size))

    def finish(self) -> None:
        """Let go of the query that was begun last: what is left of its result would be kept until the next."""
        if not self._exhausted or self._has_tables:
            self.close()

    def interrupt(self) -> None:
        """End the query that runs, between two vectors of rows."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Close the connection; using the session opens it again."""
        connection, self._connection = self._connection, None
        self._instance = None
        self._has_tables = False
        if connection is not None:
            connection.interrupt()  # what is left of a result may be endless
            connection.close()

    def _guarded(self, work: Callable[[], Answer]) -> Answer:
        try:
            import duckdb
        except ImportError:
            return work()  # which says so
        try:
            return work()
        except duckdb.InterruptException:
            failure: ExecutionError = too_late(self._bounds.time_limit)
        except (duckdb.OutOfMemoryException, MemoryError):
            failure = out_of_memory()
        except (duckdb.Error, ValueError) as error:
            failure = failed(type(error).__name__)
        # Raised here, lest it carry the driver's message, which may quote a literal.
        raise failure

    def _start(self, statement: Statement) -> DuckDBSession:
        import duckdb

        statement.text.encode("utf-8")  # what cannot be sent is a ValueError here, a TypeError there
        connection = self._open()
        if (statement.values or statement.tables) and connection.execute(_COLLATED).fetchone():
            raise collated()
        for table in statement.tables:
            self._has_tables = True
            _make(connection, table)
        statements = connection.extract_statements(statement.text)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ExecutionError("is not a single SELECT", where="query", remedy="Give a SELECT statement.")
        self._exhausted = False
        connection.execute(statements[0], list(statement.values) or None)
        self.description = connection.description
        return self

    def _fetch(self, size: int) -> Sequence[tuple[Any, ...]]:
        if self._connection is None:
            return ()
        rows: list[tuple[Any, ...]] = self._connection.fetchmany(size)
        self._exhausted = len(rows) < size
        return rows

    def _open(self) -> duckdb.DuckDBPyConnection:
        instance = self._file.open()
        if self._connection is None or instance is not self._instance:
            self.close()
            self._connection, self._instance = instance.connect(), instance
        return self._connection


def _make(connection: duckdb.DuckDBPyConnection, table: TemporaryTable) -> None:
    """Make a temporary table, in memory; it ends with the connection. Raises duckdb.Error."""
    connection.execute(f"CREATE TEMP TABLE {table.name} AS {table.like}")
    if table.rows:
        columns = [list(cells) for cells in zip(*table.rows, strict=True)]
        items = ", ".join(f"unnest(${number})" for number in range(1, len(columns) + 1))
        connection.execute(f"INSERT INTO temp.main.{table.name} SELECT {items}", columns)
