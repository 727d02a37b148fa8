"""A read-only DuckDB executor.

The file is opened read-only; files, extensions and variables of Python are out of reach, and the configuration is locked,
so that no query opens them again; exactly one statement, a SELECT, is let through; a query is interrupted at its deadline.
DuckDB looks for interrupts between vectors of rows, not within one call of a function: that no such call takes long is the
doing of the allow-list, which every query passes first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.errors import ExecutionError
from fastsql.execution.executor import BYTE_LIMIT, ROW_LIMIT, TIME_LIMIT, Bounds, failed, too_late
from fastsql.execution.reading import BoundedCursor, Deadline, VerifyingExecutor
from fastsql.schema import Schema

if TYPE_CHECKING:
    import duckdb

MEMORY_LIMIT = "2GB"
"""Memory that all queries of an executor share, if nothing else is said."""
_SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "max_temp_directory_size": "0GB",
}


class DuckDBExecutor(VerifyingExecutor):
    """Runs SELECT statements on one DuckDB file. May be shared by threads.

    Args:
        database: path of the DuckDB file; nobody in this process may hold it open for writing.
        schema: with it, every query passes :func:`fastsql.execution.verify` first; without it, all of that but the names.
        time_limit: seconds that one query may take.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all.
        memory_limit: as DuckDB writes it; nothing is spilled to disk.

    Raises:
        LimitError: a limit is none.
        ExecutionError: the file is missing, no DuckDB database, or DuckDB is not installed.
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
        memory_limit: str = MEMORY_LIMIT,
    ) -> None:
        super().__init__("duckdb", schema, Bounds(time_limit, row_limit, byte_limit, cell_limit))
        self._connection = _open(Path(database), memory_limit)

    @contextmanager
    def unverified_cursor(self, sql: str) -> Iterator[BoundedCursor]:
        """As :meth:`cursor`, behind DuckDB's own walls alone; for tests of those."""
        import duckdb

        deadline = Deadline(self._bounds.time_limit)
        with self._connection.cursor() as cursor:
            alarm = threading.Timer(self._bounds.time_limit, cursor.interrupt)
            alarm.daemon = True
            alarm.start()
            try:
                sql.encode("utf-8")  # what cannot be sent is a ValueError here, a TypeError there
                _require_select(cursor, sql)
                cursor.execute(sql)
                yield BoundedCursor(cursor, deadline)
            except duckdb.InterruptException:
                raise too_late(self._bounds.time_limit) from None
            except (duckdb.Error, ValueError) as error:
                raise failed(type(error).__name__) from None
            finally:
                # Joined, lest it interrupt what is no longer there.
                alarm.cancel()
                alarm.join()

    def close(self) -> None:
        """Close the file. The executor cannot be used afterwards."""
        self._connection.close()


def _open(path: Path, memory_limit: str) -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        raise ExecutionError(
            "the package 'duckdb' is not installed", remedy="pip install 'fastsql[duckdb]'"
        ) from error
    if not path.is_file():
        raise ExecutionError("no such database", where=str(path), remedy="Check the path.")
    try:
        connection = duckdb.connect(
            str(path), read_only=True, config={**_SETTINGS, "memory_limit": memory_limit}
        )
        connection.execute("SET lock_configuration = true")
    except duckdb.Error as error:
        raise ExecutionError(
            f"cannot be opened read-only ({type(error).__name__})",
            where=str(path),
            remedy="Give a DuckDB file that nobody holds open for writing.",
        ) from None
    return connection


def _require_select(cursor: duckdb.DuckDBPyConnection, sql: str) -> None:
    import duckdb

    statements = cursor.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ExecutionError("is not one SELECT", where="query", remedy="Give a SELECT statement.")
