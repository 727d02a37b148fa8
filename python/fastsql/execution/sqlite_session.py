"""One connection to an SQLite file, behind all walls, for the thread that owns it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from fastsql.errors import ExecutionError
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import Bounds, failed, fetch, too_large, too_late
from fastsql.execution.memory import lower_heap_limit, out_of_memory
from fastsql.execution.reuse import Statement, TemporaryTable, collated
from fastsql.execution.rows import Rows
from fastsql.forking import inside_sqlite, let_forks_pass
from fastsql.schema.sqlite_file import FileState, SQLiteFile
from fastsql.verification.authorizer import Authorizer, error_name
from fastsql.verification.readable import Readable

Answer = TypeVar("Answer")

_INSTRUCTIONS = 2_000
"""Virtual machine instructions between two looks at the clock, about 50 us."""
_ATTEMPTS = 3
"""How often a query is run whose database is written meanwhile, where reading it does not lock it."""
_OUT_OF_MEMORY = (
    "MemoryError",
    "SQLITE_NOMEM",
    "SQLITE_FULL",
)  # nothing is written: full is what is kept in memory


class _TooLongError(ValueError):
    """The text cells of one fetch are longer than the byte limit."""


_FAILURES = (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError)
"""What the driver raises; ValueError: a NUL or half a surrogate pair in the text, or a damaged name in the file."""


class SQLiteSession:
    """A connection to an SQLite file, opened anew when the file has become another one."""

    def __init__(
        self, file: SQLiteFile, readable: Readable | None, bounds: Bounds, memory_limit: int | None
    ) -> None:
        self._file = file
        self._bounds = bounds
        self._memory_limit = memory_limit
        self._readable = readable
        self._authorizer = Authorizer(readable, file.attached)
        self._connection: sqlite3.Connection | None = None
        self._opened: FileState | None = None
        self._immutable = False
        self._settled = True
        self._deadline = Deadline(bounds.time_limit)
        # In UTF-8 a text may be longer than Python's; whether it is too long, the result's own limit tells.
        self._most_bytes = self._bytes_left = 2 * bounds.byte_limit
        self._cell_bytes: int | None = None
        self._repaired = 0

    def open(self) -> sqlite3.Connection:
        """The connection to the file as it is now.

        Raises:
            ExecutionError: it is missing, or no SQLite database.
        """
        state = self._file.look()
        if state is None:
            self.close()
            raise ExecutionError("no such database", where=str(self._file.path), remedy="Check the path.")
        if self._connection is not None and state == self._opened and self._settled:
            return self._connection
        failure = ""
        try:
            with inside_sqlite():
                return self._follow(state)
        except _FAILURES as error:
            failure = error_name(error)
        self.close()
        raise ExecutionError(
            f"cannot be opened ({failure})", where=str(self._file.path), remedy="Give an SQLite file."
        )

    def shape(self, deadline: Deadline) -> str:
        """A digest of the tables, views and columns that there are now.

        Raises:
            ExecutionError: they cannot be read.
        """
        self._deadline = deadline
        connection = self.open()
        return self.guarded(lambda: self._authorizer.shape(connection))

    def run_statement(self, statement: Statement, deadline: Deadline) -> Rows:
        """The rows of a statement with parameters and temporary tables, which do not outlive it.

        Raises:
            ExecutionError: as :meth:`run`.
        """
        try:
            return self.run(statement, deadline)
        finally:
            if statement.tables:
                self.close()

    def run(self, sql: str | Statement, deadline: Deadline) -> Rows:
        """The rows of a query, all of one state of the database.

        Raises:
            ExecutionError: as :meth:`fastsql.execution.ReadOnlyExecutor.run`.
        """
        for _ in range(_ATTEMPTS):
            rows = failure = None
            try:
                rows = self._run(Statement(sql) if isinstance(sql, str) else sql, deadline)
            except ExecutionError as error:
                failure = error
            if self.is_overtaken():
                continue
            if rows is None and failure is not None:
                raise failure
            if rows is not None:
                return rows
        raise _overtaken()

    def start(self, sql: str, deadline: Deadline) -> RunningQuery:
        """A query that has begun, to be read row by row.

        Raises:
            ExecutionError: as :meth:`run`.
        """
        self._cell_bytes = None
        connection = self._ready(sql, deadline)
        return RunningQuery(self, self.guarded(lambda: _execute(connection, Statement(sql))))

    def is_overtaken(self) -> bool:
        """Whether somebody wrote the database since it was opened without locks."""
        return self._immutable and self._connection is not None and self._file.look() != self._opened

    def guarded(self, work: Callable[[], Answer]) -> Answer:
        """What a piece of work with the connection gives.

        Raises:
            ExecutionError: whatever the driver raises, without its message: that may quote a literal.
        """
        self._bytes_left = self._most_bytes
        try:
            with inside_sqlite():
                return work()
        except _FAILURES as error:
            failure = self._failure(error)
        raise failure

    def interrupt(self) -> None:
        """End the query that runs, at its next jump."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Close the file; using the session opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with inside_sqlite():
                connection.close()

    def _run(self, statement: Statement, deadline: Deadline) -> Rows:
        longest = self._bounds.cell_limit
        # One character more than is kept tells that the cell was longer.
        self._cell_bytes = None if longest is None else 4 * (longest + 1)
        self._repaired = 0
        connection = self._ready(statement.text, deadline)

        def read() -> Rows:
            self._make(connection, statement.tables)
            cursor = _execute(connection, statement)
            try:
                return replace(fetch(cursor, self._bounds), repaired=self._repaired)
            finally:
                cursor.close()

        return self.guarded(read)

    def _make(self, connection: sqlite3.Connection, tables: Sequence[TemporaryTable]) -> None:
        """Make temporary tables, in memory; they end with the connection. Raises what the driver does."""
        if not tables:
            return
        if self._authorizer.has_collations(connection):
            raise collated()  # columns that are made of a query have none
        with self._authorizer.making(connection, [table.name for table in tables]):
            for table in tables:
                connection.execute(f"CREATE TEMP TABLE {table.name} AS {table.like}").close()
                if table.rows:
                    marks = ", ".join("?" * len(table.rows[0]))
                    insert = f"INSERT INTO temp.{table.name} VALUES ({marks})"  # noqa: S608 - a name of our own
                    connection.executemany(insert, table.rows).close()

    def _ready(self, sql: str, deadline: Deadline) -> sqlite3.Connection:
        self._deadline = deadline  # opening may read the database's schema, too
        connection = self.open()
        self._authorizer.check(sql)
        return connection

    def _follow(self, state: FileState) -> sqlite3.Connection:
        address, immutable = self._file.address()
        before, self._opened = self._opened, None
        connection = self._connection
        if (
            connection is None
            or before is None
            or immutable
            or self._immutable
            or not state.same_file(before)
        ):
            self.close()
            connection = self._connection = self._connect(address)
            self._authorizer = Authorizer(self._readable, self._file.attached)
            self._authorizer.guard(connection)
        self._authorizer.learn(connection)
        self._opened, self._immutable = state, immutable
        # Where nothing locks the file, a write so soon after another one might not show: the next query opens it again.
        self._settled = not immutable or state.is_settled()
        return connection

    def _connect(self, address: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            address,
            uri=True,
            check_same_thread=False,
            isolation_level=None,
            timeout=self._bounds.time_limit,
        )
        try:
            self._file.attach(connection)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA temp_store = MEMORY")  # else sorts spill to files
            if self._memory_limit is not None:
                lower_heap_limit(connection, self._memory_limit)
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").close()
        except BaseException:
            connection.close()
            raise
        connection.text_factory = self._text
        connection.set_progress_handler(self._is_late, _INSTRUCTIONS)
        return connection

    def _text(self, raw: bytes) -> str:
        if self._cell_bytes is not None:
            raw = raw[: self._cell_bytes]
        self._bytes_left -= len(raw)
        if self._bytes_left < 0:
            raise _TooLongError
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self._repaired += 1
            # Cells that are no valid UTF-8 are read as the EHRSQL scorer reads them.
            return raw.decode(errors="ignore")

    def _is_late(self) -> int:
        let_forks_pass()
        return int(self._deadline.passed())

    def _failure(self, error: Exception) -> ExecutionError:
        if isinstance(error, _TooLongError):
            return too_large(self._bounds.byte_limit)
        if self._deadline.passed():
            return too_late(self._deadline.time_limit)
        kind = error_name(error)
        return out_of_memory() if kind in _OUT_OF_MEMORY else failed(kind)


def _execute(connection: sqlite3.Connection, statement: Statement) -> sqlite3.Cursor:
    named = {str(number): value for number, value in enumerate(statement.values, start=1)}
    cursor = connection.execute(statement.text, named)
    if cursor.description is None:
        raise ExecutionError("holds no query", where="query", remedy="Give a SELECT statement.")
    return cursor


def _overtaken() -> ExecutionError:
    return ExecutionError("the database was written while it was read", where="query", remedy="Run it again.")


class RunningQuery:
    """A query of a session that has begun, in the words of Python's database API (PEP 249)."""

    def __init__(self, session: SQLiteSession, cursor: sqlite3.Cursor) -> None:
        self._session = session
        self._cursor = cursor

    @property
    def description(self) -> Any:
        """One sequence a column, beginning with its name."""
        return self._cursor.description

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows, at most `size` of them; none at the end.

        Raises:
            ExecutionError: reading them failed, or they are too large.
        """
        return self._session.guarded(lambda: self._cursor.fetchmany(size))

    def fetch_current(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """As :meth:`fetchmany`, of one state of the database from the start to the end.

        Raises:
            ExecutionError: it was written meanwhile.
        """
        rows = self.fetchmany(size)
        if self._session.is_overtaken():
            raise _overtaken()
        return rows

    def close(self) -> None:
        """Let go of the query."""
        with inside_sqlite():
            self._cursor.close()
