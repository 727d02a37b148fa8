"""An executor whose queries run in processes of their own, which the operating system bounds and which can always be killed.

Within one process, a database engine that is inside one long call ends neither by an interrupt nor by a signal, and what it
allocates is the process's. So here the SQL is verified and written anew in this process, and run in a worker behind all the
walls of the engine's own executor; at the time limit and a grace the worker is killed, whatever it is doing, and replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from fastsql.errors import ExecutionError, FastSQLError
from fastsql.execution.connections import closed
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import FIRST_ROWS, Cursor, QueryTimeoutError, memory_of, query_text, too_large
from fastsql.execution.isolation.confinement import is_possible
from fastsql.execution.isolation.wire import WireError, message_rows, statement_message
from fastsql.execution.isolation.worker_pool import WorkerPool
from fastsql.execution.isolation.worker_process import WorkerDiedError, WorkerProcess
from fastsql.execution.isolation.worker_setup import WORKERS, WorkerSetup, columns_of, kill_after
from fastsql.execution.reading import VerifyingExecutor
from fastsql.execution.reuse import Statement
from fastsql.execution.rows import Rows
from fastsql.execution.watchdog import WATCHDOG
from fastsql.limits import check_count
from fastsql.schema import Schema

_START_SECONDS = 60.0
_ABANDONED = 0.5
"""Seconds after the moment at which a worker is killed when a cursor that nobody has ended loses it."""
_MOST_ROWS = 1_000


class IsolatedExecutor(VerifyingExecutor):
    """Runs SELECT statements in worker processes. May be shared by threads: each query takes a worker.

    :meth:`cursor` streams: rows come from the worker as they are asked for, and the byte limit bounds each fetch; the worker
    serves nobody else meanwhile. :meth:`run` brings the whole result, within the byte limit.

    Args:
        setup: which database, and within which bounds. `time_limit` counts from the call, waiting for a worker included.
        schema: with it, every query is verified first and written anew.
        workers: processes, which is how many queries run at the same time; further ones wait.
        connections: as :func:`fastsql.execution.open_executor` has it.

    Raises:
        LimitError: a limit is not a number above 0.
        ExecutionError: the database cannot be opened, or this system cannot bound a process.
    """

    def __init__(
        self,
        setup: WorkerSetup,
        *,
        schema: Schema | None = None,
        workers: int = WORKERS,
        connections: int | None = None,
    ) -> None:
        check_count(workers, "workers")
        check_count(setup.memory_limit, "memory_limit")
        if not is_possible():
            raise ExecutionError(
                "this system cannot limit the memory of a process as Linux does",
                where="isolated=True",
                remedy="Run on Linux, or without isolated=True.",
            )
        super().__init__(setup.dialect, schema, setup.bounds)
        self._setup = setup
        # As in one process: without a schema, SQLite's authorizer alone.
        self._verifies = setup.dialect != "sqlite" or schema is not None
        self._workers = workers
        self._pool = WorkerPool(setup, workers, connections)
        try:
            self._pool.give_back(self._pool.take_ready(Deadline(_START_SECONDS))[0])
        except BaseException:
            self._pool.close()
            raise

    def __repr__(self) -> str:
        memory = f"{self._setup.memory_limit / 2**20:,.0f} MiB each"
        return (
            f"<IsolatedExecutor {self._setup.dialect}, {self._workers} workers of {memory}, "
            f"{self._bounds.time_limit:g} s a query>"
        )

    def run(self, sql: str | None) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError: as :class:`fastsql.execution.Executor` says; also :class:`WorkerDiedError`.
            VerificationError: the executor's schema or list of harmless constructs does not allow it.
        """
        return self.run_unverified(self._verified(sql))

    @contextmanager
    def cursor(self, sql: str | None) -> Iterator[Cursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError, VerificationError: as :meth:`run`, whether at the start or while rows are read.
        """
        with self.unverified_cursor(self._verified(sql)) as cursor:
            yield cursor

    def run_statement(self, statement: Statement) -> Rows:
        """The rows of a statement that was verified. Raises ExecutionError as :meth:`run`."""
        deadline = Deadline(self._bounds.time_limit)
        with self._worker(deadline) as worker:
            return self._whole(worker, worker.ask(statement_message(statement), deadline), deadline)

    def shape(self, schema: Schema) -> str:
        """A digest of the tables, views and columns of the database. Raises ExecutionError where they cannot be read."""
        deadline = Deadline(self._bounds.time_limit)
        tables = list(self._setup.columns or columns_of(schema, self.dialect) or ())
        with self._worker(deadline) as worker:
            return str(worker.ask({"shape": tables}, deadline).get("shape"))

    def run_unverified(self, sql: str) -> Rows:
        """As :meth:`run`, behind the walls of the worker alone; for tests of those."""
        deadline = Deadline(self._bounds.time_limit)
        with self._worker(deadline) as worker:
            return self._whole(worker, worker.ask({"run": sql}, deadline), deadline)

    @contextmanager
    def unverified_cursor(self, sql: str) -> Iterator[IsolatedCursor]:
        """As :meth:`cursor`, behind the walls of the worker alone; for tests of those."""
        deadline = Deadline(self._bounds.time_limit)
        with self._worker(deadline, watched=True) as worker:
            cursor = IsolatedCursor(worker, _names(worker.ask({"start": sql}, deadline)), deadline)
            try:
                yield cursor
            finally:
                cursor.end()

    def close(self) -> None:
        """End the worker processes. The executor cannot be used afterwards."""
        self._pool.close()

    def pids(self) -> list[int]:
        """The identifiers of the worker processes that there are, for whoever watches them."""
        return self._pool.pids()

    def _verified(self, sql: str | None) -> str:
        text = query_text(sql)
        return self._runnables.of(text) if self._verifies else text

    @contextmanager
    def _worker(self, deadline: Deadline, *, watched: bool = False) -> Iterator[WorkerProcess]:
        lease, worker = self._pool.take_ready(deadline)
        watch = None
        if watched:  # a reader who does not come back by then keeps nobody waiting
            late = deadline.moment - deadline.time_limit + kill_after(deadline.time_limit) + _ABANDONED
            watch = WATCHDOG.begin(late, lambda: self._pool.take_away(lease))
        try:
            if self._pool.closed:  # whoever closed it did not see this worker
                raise closed()
            yield worker
        except QueryTimeoutError:
            worker.kill()  # it may still be at work
            raise
        except WorkerDiedError:
            if not self._pool.closed:
                raise
        else:
            return
        finally:
            if watch is not None:
                WATCHDOG.end(watch)
            if not worker.is_settled():
                worker.kill()  # nobody knows what it would answer next
            self._pool.give_back(lease)
        raise closed()

    def _whole(self, worker: WorkerProcess, answer: dict[str, Any], deadline: Deadline) -> Rows:
        rows: list[tuple[Any, ...]] = []
        used = 0
        while True:
            more = _rows(worker, answer)
            used += memory_of(more)
            if used > self._bounds.byte_limit:
                worker.kill()  # it has let through what it should not have
                raise too_large(self._bounds.byte_limit)
            rows += more
            if not answer.get("more"):
                return Rows(
                    _names(answer),
                    tuple(rows),
                    truncated=bool(answer.get("truncated")),
                    cut=int(answer.get("cut", 0)),
                    repaired=int(answer.get("repaired", 0)),
                )
            answer = worker.answer(deadline)


class IsolatedCursor:
    """A query that runs in a worker process."""

    def __init__(self, worker: WorkerProcess, columns: Sequence[str], deadline: Deadline) -> None:
        self.description = [(column,) for column in columns]
        self._worker = worker
        self._deadline = deadline

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows, at most `size` of them; none at the end.

        Raises:
            QueryTimeoutError: the time is up.
            ExecutionError: the query failed, or these rows take more than the byte limit.
        """
        return _rows(self._worker, self._worker.ask({"fetch": size}, self._deadline))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        size = FIRST_ROWS
        while rows := self.fetchmany(size):
            yield from rows
            size = max(1, min(_MOST_ROWS, 8 * size, size * 2**20 // memory_of(rows)))

    def end(self) -> None:
        """Have the worker leave the query, if it is still at it."""
        if self._worker.is_alive() and not self._worker.is_settled():
            with suppress(
                FastSQLError
            ):  # the reader has what it wanted; a worker that does not leave is killed
                self._worker.ask({"end": True}, self._deadline)


def _names(answer: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(name) for name in answer.get("columns") or ())


def _rows(worker: WorkerProcess, answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    failure = None
    try:
        return message_rows(answer)
    except WireError:
        worker.kill()
        failure = ExecutionError(
            "the worker process sent an answer that cannot be read", where="query", remedy="Run it again."
        )
    raise failure
