"""A read-only SQLite executor with a time limit and a row limit.

Four walls, each enough against what it is for: the file is opened read-only; an authorizer refuses every statement and
function that is not plain reading; a progress handler ends a query at its deadline; SQLite's own limits bound the size of
one value, so that no single instruction can outlast the deadline or the memory.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from fastsql.errors import ExecutionError

Cell: TypeAlias = "str | int | float | bytes | None"

_INSTRUCTIONS = 2_000
"""Virtual machine instructions between two looks at the clock, about 50 us."""
_SQLITE_LIMITS = {0: 10_000_000, 7: 0, 8: 1_000}
"""By SQLite's own numbers: bytes of a value (SQLITE_LIMIT_LENGTH), attached files, bytes of a LIKE pattern."""
_FORBIDDEN_FUNCTIONS = frozenset(
    {
        "load_extension",
        "readfile",
        "writefile",
        "edit",
        "fts3_tokenizer",
        "zeroblob",
        "randomblob",
        "sqlite_log",
    }
)


@dataclass(frozen=True)
class Rows:
    """Rows of a result in the query's order. `truncated` tells that there were more than the row limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool = False


class ReadOnlyExecutor:
    """Runs SELECT statements on one SQLite file. May be shared by threads, which then wait for each other.

    Args:
        database: path of the SQLite file.
        time_limit: seconds that one query may take.
        row_limit: rows that are fetched of one result.

    Raises:
        ExecutionError: the file is missing, or no SQLite database.
    """

    def __init__(self, database: str | Path, *, time_limit: float = 10.0, row_limit: int = 10_000) -> None:
        self._path = Path(database)
        self._time_limit = time_limit
        self._row_limit = row_limit
        self._lock = threading.Lock()
        self._deadline = float("inf")
        self._connection = self._open()

    def run(self, sql: str) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError: it is not a SELECT, does not fit the database, or took longer than the time limit.
        """
        with self.cursor(sql) as cursor:
            columns = tuple(entry[0] for entry in cursor.description)
            rows = cursor.fetchmany(self._row_limit + 1)
        return Rows(columns, tuple(rows[: self._row_limit]), truncated=len(rows) > self._row_limit)

    @contextmanager
    def cursor(self, sql: str) -> Iterator[sqlite3.Cursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError: as :meth:`run`, whether at the start or while rows are read.
        """
        with self._lock:
            self._deadline = time.monotonic() + self._time_limit
            try:
                cursor = self._connection.execute(sql)
                if cursor.description is None:
                    raise ExecutionError("holds no query", where="query", remedy="Give a SELECT statement.")
                try:
                    yield cursor
                finally:
                    cursor.close()
            except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError) as error:
                raise self._failure(error) from error
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
                f"cannot be opened ({_kind(error)})", where=str(self._path), remedy="Give an SQLite file."
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
            return QueryTimeoutError(
                f"took longer than {self._time_limit:g} s",
                where="query",
                remedy="Ask for less, or raise the time limit.",
            )
        # SQLite's own message can quote a literal of the query, and with it a patient.
        return ExecutionError(
            f"failed ({_kind(error)})", where="query", remedy="Check that it fits this database."
        )


class QueryTimeoutError(ExecutionError):
    """A query was ended at its time limit."""


def restrict(connection: sqlite3.Connection) -> None:
    """Refuse, on this connection, everything but reading tables and calling harmless functions."""
    connection.set_authorizer(_authorize)
    set_limit = getattr(connection, "setlimit", None)  # Python 3.11
    if set_limit is not None:
        for category, limit in _SQLITE_LIMITS.items():
            set_limit(category, limit)


def _authorize(
    action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None
) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        hidden = (first or "").lower().startswith(("sqlite_", "pragma_"))
        return sqlite3.SQLITE_DENY if hidden else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() in _FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _kind(error: Exception) -> str:
    name = getattr(error, "sqlite_errorname", None)  # Python 3.11
    return str(name or type(error).__name__)
