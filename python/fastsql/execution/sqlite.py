"""A read-only SQLite executor.

Four walls, each enough against what it is for: the file is opened read-only; an authorizer lets through only the reading of
tables and the functions of a list; a progress handler ends a query at its deadline; SQLite's own limits bound the size of
one value, so that no single instruction can outlast the deadline by much or use up the memory.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from fastsql.errors import ExecutionError
from fastsql.execution.allowed import words
from fastsql.execution.executor import (
    BYTE_LIMIT,
    ROW_LIMIT,
    TIME_LIMIT,
    Bounds,
    Rows,
    failed,
    fetch,
    too_late,
)
from fastsql.schema import Schema

_INSTRUCTIONS = 2_000
"""Virtual machine instructions between two looks at the clock, about 50 us."""
_SQLITE_LIMITS = {0: 1_000_000, 7: 0, 8: 1_000}
"""By SQLite's own numbers: bytes of a value (SQLITE_LIMIT_LENGTH), attached files, bytes of a LIKE pattern. Searching a text
for one of half its length takes up to a quarter of the length squared: some seconds at a megabyte."""
_FUNCTIONS = words(
    """
    abs avg ceil ceiling char coalesce concat concat_ws count cume_dist date datetime degrees dense_rank exp first_value
    floor format glob group_concat hex ifnull iif instr julianday lag last_value lead length like likelihood likely ln log
    log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank pi pow power printf
    quote radians random rank replace round row_number rtrim sign soundex sqrt strftime string_agg substr substring sum time
    timediff total trim trunc typeof unhex unicode unixepoch unlikely upper
    acos acosh asin asinh atan atan2 atanh cos cosh sin sinh tan tanh
    json json_array json_array_length json_extract json_object json_quote json_type json_valid -> ->>
    current_date current_time current_timestamp
    """
)
"""Functions of SQLite that compute from their arguments alone; `match`, `load_extension` and all others are refused."""


class ReadOnlyExecutor:
    """Runs SELECT statements on one SQLite file. May be shared by threads, which then wait for each other.

    Args:
        database: path of the SQLite file.
        schema: with it, every query passes :func:`fastsql.execution.verify` first.
        time_limit: seconds that one query may take.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all.

    Raises:
        LimitError: a limit is none.
        ExecutionError: the file is missing, or no SQLite database.
    """

    def __init__(
        self,
        database: str | Path,
        *,
        schema: Schema | None = None,
        time_limit: float = TIME_LIMIT,
        row_limit: int = ROW_LIMIT,
        byte_limit: int = BYTE_LIMIT,
        cell_limit: int | None = None,
    ) -> None:
        self._path = Path(database)
        self._schema = schema
        self._bounds = Bounds(time_limit, row_limit, byte_limit, cell_limit)
        self._lock = threading.Lock()
        self._deadline = float("inf")
        self._connection = self._open()

    def run(self, sql: str) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError: it is not a SELECT, does not fit the database, or took longer than the time limit.
            VerificationError: the executor has a schema, and the query is not one on it.
        """
        with self.cursor(sql) as cursor:
            return fetch(cursor, self._bounds)

    @contextmanager
    def cursor(self, sql: str) -> Iterator[sqlite3.Cursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError, VerificationError: as :meth:`run`, whether at the start or while rows are read.
        """
        if self._schema is not None:
            from fastsql.execution.verify import verify

            verify(sql, self._schema)
        with self._lock:
            self._deadline = time.monotonic() + self._bounds.time_limit
            try:
                cursor = self._start(sql)
                try:
                    yield cursor
                finally:
                    cursor.close()
            except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError) as error:
                raise self._failure(error) from None
            finally:
                self._deadline = float("inf")

    def close(self) -> None:
        """Close the file. The executor cannot be used afterwards."""
        self._connection.close()

    def __enter__(self) -> ReadOnlyExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, sql: str) -> sqlite3.Cursor:
        try:
            cursor = self._connection.execute(sql)
        except ValueError as error:  # a NUL or half a surrogate pair in the text
            raise self._failure(error) from None
        if cursor.description is None:
            raise ExecutionError("holds no query", where="query", remedy="Give a SELECT statement.")
        return cursor

    def _open(self) -> sqlite3.Connection:
        if not self._path.is_file():
            raise ExecutionError("no such database", where=str(self._path), remedy="Check the path.")
        try:
            connection = sqlite3.connect(
                f"{self._path.resolve().as_uri()}?mode=ro",
                uri=True,
                check_same_thread=False,
                isolation_level=None,
            )
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").close()
        except sqlite3.Error as error:
            raise ExecutionError(
                f"cannot be opened ({error_name(error)})",
                where=str(self._path),
                remedy="Give an SQLite file.",
            ) from error
        # Cells that are no valid UTF-8 are read as the EHRSQL scorer reads them.
        connection.text_factory = lambda raw: raw.decode(errors="ignore")
        restrict(connection)
        connection.set_progress_handler(self._is_late, _INSTRUCTIONS)
        return connection

    def _is_late(self) -> int:
        return int(time.monotonic() > self._deadline)

    def _failure(self, error: Exception) -> ExecutionError:
        if time.monotonic() > self._deadline:
            return too_late(self._bounds.time_limit)
        return failed(error_name(error))


def restrict(connection: sqlite3.Connection) -> None:
    """Refuse, on this connection, everything but reading tables and calling harmless functions."""
    connection.set_authorizer(_authorize)
    set_limit = getattr(connection, "setlimit", None)  # Python 3.11
    if set_limit is not None:
        for category, limit in _SQLITE_LIMITS.items():
            set_limit(category, limit)


def error_name(error: Exception) -> str:
    """SQLite's name of an error, such as SQLITE_ERROR; Python's where it has none."""
    return str(getattr(error, "sqlite_errorname", None) or type(error).__name__)  # Python 3.11


def _authorize(
    action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None
) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        hidden = (first or "").lower().startswith(("sqlite_", "pragma_"))
        return sqlite3.SQLITE_DENY if hidden else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY
