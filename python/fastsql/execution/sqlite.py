"""A read-only SQLite executor.

Walls, each enough against what it is for: the file is opened read-only; an authorizer lets through only the reading of
tables, those of the schema where there is one, and the functions of a list; a progress handler ends a query at its deadline,
and where even that is not heard the caller does not wait for it; SQLite's own limits bound the size of one value; what it
sorts stays in memory, and its memory has a limit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from fastsql.errors import ExecutionError
from fastsql.execution.connections import CONNECTIONS, quota_of
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import BYTE_LIMIT, ROW_LIMIT, TIME_LIMIT, Bounds, query_text
from fastsql.execution.memory import MEMORY_LIMIT
from fastsql.execution.reuse import Reusing, Statement
from fastsql.execution.rows import Rows
from fastsql.execution.sqlite_session import SQLiteSession
from fastsql.execution.threads import WorkerCursor, Workers
from fastsql.limits import check_count
from fastsql.schema import Schema
from fastsql.schema.names import fold
from fastsql.schema.sqlite_file import SQLiteFile
from fastsql.verification.readable import Readable

if TYPE_CHECKING:
    from fastsql.verification.verify import Runnables


class ReadOnlyExecutor(Reusing):
    """Runs SELECT statements on one SQLite file. May be shared by threads, and inherited by forked processes.

    Args:
        database: path of the SQLite file.
        schema: with it, every query is verified first and written anew, and SQLite itself lets it read nothing else.
        time_limit: seconds that one query may take.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all.
        memory_limit: bytes that SQLite may take in this process, by any connection: see `lower_heap_limit`. None sets none.
        connections: queries that may run at the same time; executors of this process on the same file share them.
        readable: without a schema, what SQLite lets queries read; None for everything.
        attached: further SQLite files by the names under which they are attached: the namespaces of their tables.

    Raises:
        LimitError: a limit is not a number above 0.
        ExecutionError: the file is missing, or no SQLite database.
    """

    dialect = "sqlite"

    def __init__(
        self,
        database: str | Path,
        *,
        schema: Schema | None = None,
        time_limit: float = TIME_LIMIT,
        row_limit: int = ROW_LIMIT,
        byte_limit: int = BYTE_LIMIT,
        cell_limit: int | None = None,
        memory_limit: int | None = MEMORY_LIMIT,
        connections: int = CONNECTIONS,
        readable: Readable | None = None,
        attached: Mapping[str, str | Path] | None = None,
    ) -> None:
        self._bounds = bounds = Bounds(time_limit, row_limit, byte_limit, cell_limit)
        check_count(connections, "connections")
        if memory_limit is not None:
            check_count(memory_limit, "memory_limit")
        self._schema = schema
        self._runnables: Runnables | None = None
        if schema is not None:
            from fastsql.verification.verify import Runnables

            self._runnables = Runnables(schema, "sqlite")
            readable = Readable.of_schema(schema)
        self._file = file = SQLiteFile(database, attached)
        check_attached(readable, file)

        def open_session() -> SQLiteSession:
            return SQLiteSession(file, readable, bounds, memory_limit)

        # Equal ones may use each other's connections.
        kind = (
            file.path,
            *((name, other.path) for name, other in file.attached.items()),
            bounds,
            memory_limit,
            None if readable is None else frozenset(readable.tables.items()),
        )
        self._workers = Workers(
            open_session, connections, quota=quota_of(os.path.realpath(file.path)), kind=kind
        )
        deadline = Deadline(max(time_limit, TIME_LIMIT))  # the limit is that of queries
        self._workers.call(SQLiteSession.open, deadline)

    def run(self, sql: str | None) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError: it is not a SELECT, does not fit the database, or took longer than the time limit.
            VerificationError: the executor has a schema, and the query is not one on it.
        """
        text = self._verified(sql)
        deadline = Deadline(self._bounds.time_limit)
        return self._workers.call(lambda session: session.run(text, deadline), deadline)

    @contextmanager
    def cursor(self, sql: str | None) -> Iterator[WorkerCursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError, VerificationError: as :meth:`run`, whether at the start or while rows are read; also where a
                database in WAL mode is written while it is read.
        """
        text = self._verified(sql)
        deadline = Deadline(self._bounds.time_limit)
        with self._workers.one(deadline) as worker:
            running = worker.call(lambda session: session.start(text, deadline), deadline)
            try:
                yield WorkerCursor(worker, running.description, running.fetch_current, deadline)
            finally:
                worker.tidy(lambda _: running.close())

    def run_statement(self, statement: Statement) -> Rows:
        """The rows of a statement that was verified. Raises ExecutionError as :meth:`run`."""
        deadline = Deadline(self._bounds.time_limit)
        return self._workers.call(lambda session: session.run_statement(statement, deadline), deadline)

    def shape(self, schema: Schema) -> str:
        """A digest of the tables, views and columns of the files. Raises ExecutionError where they cannot be read."""
        deadline = Deadline(self._bounds.time_limit)
        return self._workers.call(lambda session: session.shape(deadline), deadline)

    def state(self) -> object:
        """Equal for as long as the files are as they were; None where one is not there."""
        return self._file.look()

    def close(self) -> None:
        """Close the file. The executor cannot be used afterwards."""
        self._workers.close()

    def __enter__(self) -> ReadOnlyExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _verified(self, sql: str | None) -> str:
        text = query_text(sql)
        return text if self._runnables is None else self._runnables.of(text)


def check_attached(readable: Readable | None, file: SQLiteFile) -> None:
    """Raise ExecutionError where a namespace of the schema is not attached."""
    missing = (set() if readable is None else readable.namespaces) - {fold(name) for name in file.attached}
    if missing:
        raise ExecutionError(
            f"tables of these namespaces are in no file that is attached: {', '.join(sorted(missing))}",
            where=str(file.path),
            remedy="Say where they are: attached={'name': 'file.sqlite'}.",
        )
