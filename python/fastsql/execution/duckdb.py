"""A read-only DuckDB executor.

The file is attached read-only to an instance of DuckDB of its own; files, extensions and variables of Python are out of
reach, and the configuration is locked, so that no query opens them again; exactly one statement, a SELECT, is let through; a
query is interrupted at its deadline. DuckDB looks for interrupts between vectors of rows, not within one call of a function:
that no such call takes long is the doing of the allow-list, which every query passes first, and where one does, the caller
does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastsql.execution.connections import CONNECTIONS, quota_of
from fastsql.execution.deadline import Deadline
from fastsql.execution.duckdb_session import DuckDBFile, DuckDBSession
from fastsql.execution.executor import BYTE_LIMIT, ROW_LIMIT, TIME_LIMIT, Bounds, query_text
from fastsql.execution.reading import VerifyingExecutor
from fastsql.execution.reuse import Statement
from fastsql.execution.rows import Rows
from fastsql.execution.threads import WorkerCursor, Workers
from fastsql.limits import check_count
from fastsql.schema import Schema

MEMORY_LIMIT = "2GB"
"""Memory that all queries of an executor share, if nothing else is said."""


class DuckDBExecutor(VerifyingExecutor):
    """Runs SELECT statements on one DuckDB file. May be shared by threads, and inherited by forked processes.

    Args:
        database: path of the DuckDB file; nobody in this process may hold it open for writing.
        schema: with it, every query passes :func:`fastsql.execution.verify` first; without it, all of that but the names.
        time_limit: seconds that one query may take.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all.
        memory_limit: as DuckDB writes it; nothing is spilled to disk.
        connections: queries that may run at the same time; executors of this process on the same file share them.

    Raises:
        LimitError: a limit is not a number above 0.
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
        connections: int = CONNECTIONS,
    ) -> None:
        super().__init__("duckdb", schema, Bounds(time_limit, row_limit, byte_limit, cell_limit))
        check_count(connections, "connections")
        bounds = self._bounds
        self._file = file = DuckDBFile(database, memory_limit)
        self._workers = Workers(
            lambda: DuckDBSession(file, bounds), connections, quota=quota_of(os.path.realpath(database))
        )
        deadline = Deadline(max(time_limit, TIME_LIMIT))  # the limit is that of queries
        self._workers.call(DuckDBSession.open, deadline)

    def run(self, sql: str | None) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError, VerificationError: as :class:`fastsql.execution.Executor` says.
        """
        text = self._runnables.of(query_text(sql))
        deadline = Deadline(self._bounds.time_limit)
        return self._workers.call(lambda session: session.run(text), deadline)

    def run_statement(self, statement: Statement) -> Rows:
        """The rows of a statement that was verified. Raises ExecutionError as :meth:`run`."""
        return self._workers.call(lambda session: session.run(statement), Deadline(self._bounds.time_limit))

    def shape(self, schema: Schema) -> str:
        """A digest of the tables, views and columns of the file. Raises ExecutionError where they cannot be read."""
        return self._workers.call(DuckDBSession.shape, Deadline(self._bounds.time_limit))

    @contextmanager
    def unverified_cursor(self, sql: str) -> Iterator[WorkerCursor]:
        """As :meth:`cursor`, behind DuckDB's own walls alone; for tests of those."""
        deadline = Deadline(self._bounds.time_limit)
        with self._workers.one(deadline) as worker:
            running = worker.call(lambda session: session.start(sql), deadline)
            try:
                yield WorkerCursor(worker, running.description, running.fetchmany, deadline)
            finally:
                worker.tidy(DuckDBSession.finish)

    def close(self) -> None:
        """Close the file. The executor cannot be used afterwards."""
        self._workers.close()
        self._file.close()
