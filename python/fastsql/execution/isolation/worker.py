"""The worker process of an isolated executor: ``python -m fastsql.execution.isolation.worker``.

It reads what to do from its standard input and answers on its standard output, as `wire` says, and does nothing else. It was
started afresh, not forked, holds no descriptor of its parent's but these two, and runs only what its parent verified; still
nothing here trusts a query. It ends with its input, at limits that the operating system sets, and by an alarm without a
handler where a query goes on too long, so that it does not outlive whoever would have killed it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, BinaryIO

from fastsql.errors import ExecutionError, FastSQLError
from fastsql.execution.executor import (
    Cursor,
    QueryTimeoutError,
    failed,
    memory_of,
    too_large,
)
from fastsql.execution.isolation.confinement import leave_no_traces, limit_resources
from fastsql.execution.isolation.wire import (
    LENGTH,
    error_message,
    frame,
    message,
    message_statement,
    rows_message,
)
from fastsql.execution.isolation.worker_setup import WorkerSetup, bounds_arguments, kill_after
from fastsql.execution.memory import out_of_memory
from fastsql.execution.reuse import Statement
from fastsql.execution.rows import Rows

_FRAME_BYTES = 2**20
"""About how much memory rows take that are sent at once."""
_ALARM_GRACE = 0.25
"""Seconds that the parent gets to kill this process before it ends itself."""
_ATTEMPTS = 10
"""How often it is tried to open a database within the time limit of a query."""
_ROOM = {"sqlite": 192 * 2**20, "duckdb": 256 * 2**20, "postgres": 192 * 2**20}
"""Bytes of address space beyond what queries may take: stacks of threads, what allocators reserve."""
_ROOM_PER_THREAD = 16 * 2**20
_COPIES = 4
"""How often a result is in memory: as the engine has it, as cells, and as it is sent."""
_FILE_BYTES = {"sqlite": 4 * 2**20, "duckdb": 0, "postgres": 0}
"""How large a file may become by writing: the index of a write-ahead log, which SQLite keeps beside it, or nothing."""


class _Pipes:
    """The two ends that lead to the parent, moved to where no library writes by accident."""

    def __init__(self) -> None:
        self._requests: BinaryIO = os.fdopen(os.dup(0), "rb")
        self._answers = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.close(nothing)

    def receive(self) -> dict[str, Any] | None:
        """The next request; None where the parent has gone or wants no more."""
        head = self._requests.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack(head)
        body = self._requests.read(length)
        return message(body) if len(body) == length else None

    def send(self, answer: dict[str, Any]) -> None:
        """Send an answer; one that cannot be sent becomes an error."""
        try:
            sent = frame(answer)
        except (ValueError, RecursionError):  # a cell that is no text, or nests too deep
            sent = frame(error_message(failed("a cell that cannot be sent")))
        view = memoryview(sent)
        while view:
            view = view[os.write(self._answers, view) :]


def main() -> None:
    """Serve until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's business
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    pipes = _Pipes()
    leave_no_traces()
    request = pipes.receive()
    if request is None:
        return
    setup = WorkerSetup.from_message(request)
    os.environ.update(setup.environment)
    try:
        engine = _opened(setup)
        limit_resources(
            setup.memory_limit + _COPIES * setup.bounds.byte_limit + _room(setup.dialect),
            _FILE_BYTES[setup.dialect],
        )
    except FastSQLError as error:
        pipes.send(error_message(error))
        return
    pipes.send({"ready": True})
    engine.warm_up()
    while (request := pipes.receive()) is not None:
        with _ended_after(float(request["seconds"])):
            _answer(pipes, engine, request)


def _room(dialect: str) -> int:
    """Address space beyond what queries may take; DuckDB has a thread for each processor."""
    return _ROOM[dialect] + (_ROOM_PER_THREAD * (os.cpu_count() or 1) if dialect == "duckdb" else 0)


def _opened(setup: WorkerSetup) -> _Engine:
    """The engine, its database open. Several workers that start at once need longer than a short time limit allows one."""
    for _ in range(_ATTEMPTS):
        with suppress(QueryTimeoutError):
            return _Engine(setup)
    return _Engine(setup)


def _answer(pipes: _Pipes, engine: _Engine, request: dict[str, Any]) -> None:
    try:
        if "run" in request:
            _send_rows(pipes, engine.run(message_statement(request)))
        elif "shape" in request:
            pipes.send({"shape": engine.shape(request["shape"])})
        else:
            with engine.cursor(request["start"]) as cursor:
                pipes.send({"columns": [str(column[0]) for column in cursor.description]})
                while (size := (pipes.receive() or {}).get("fetch")) is not None:
                    rows = [tuple(row) for row in cursor.fetchmany(size)]
                    if memory_of(rows) > engine.bounds.byte_limit:
                        raise too_large(engine.bounds.byte_limit)
                    pipes.send(rows_message(rows))
            pipes.send({"ended": True})
    except FastSQLError as error:
        pipes.send(error_message(error))
    except MemoryError:
        pipes.send(error_message(out_of_memory()))
    except OSError:
        raise  # the pipe: there is nobody to tell
    except Exception as error:  # noqa: BLE001 - whatever a driver raises; its message may quote a cell
        pipes.send(error_message(failed(type(error).__name__)))


def _send_rows(pipes: _Pipes, found: Rows) -> None:
    rows = found.rows
    at_once = max(1, len(rows) * _FRAME_BYTES // (memory_of(rows) or 1)) if rows else 1
    for first in range(0, len(rows) - at_once, at_once):
        pipes.send({**rows_message(rows[first : first + at_once]), "more": True})
    rest: Sequence[tuple[Any, ...]] = rows[(len(rows) - 1) // at_once * at_once :] if rows else ()
    pipes.send(
        {
            **rows_message(rest),
            "columns": found.columns,
            "truncated": found.truncated,
            "cut": found.cut,
            "repaired": found.repaired,
        }
    )


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer; the alarm has no handler, so that no code has to run for it."""
    signal.setitimer(signal.ITIMER_REAL, kill_after(seconds) + _ALARM_GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class _Engine:
    """The executor of this process, without its verifier: the parent has been through that."""

    def __init__(self, setup: WorkerSetup) -> None:
        self.bounds = setup.bounds
        self._dialect = setup.dialect
        limits = bounds_arguments(setup.bounds)
        if setup.dialect == "sqlite":
            from fastsql.execution.sqlite import ReadOnlyExecutor
            from fastsql.verification.readable import Readable

            readable = None if setup.columns is None else Readable.of_names(setup.columns)
            self._executor: Any = ReadOnlyExecutor(
                setup.target,
                readable=readable,
                attached=setup.attached,
                memory_limit=setup.memory_limit,
                connections=1,
                **limits,
            )
        elif setup.dialect == "duckdb":
            from fastsql.execution.duckdb import DuckDBExecutor

            self._executor = DuckDBExecutor(
                setup.target, memory_limit=f"{setup.memory_limit}B", connections=1, **limits
            )
        else:
            from fastsql.execution.targets import postgres_executor

            self._executor = postgres_executor(setup.target, columns=setup.columns, **limits)

    def warm_up(self) -> None:
        """Connect before the first query does. Where that fails, the query will say why."""
        if self._dialect == "postgres":
            with suppress(ExecutionError), self.cursor("SELECT 1"):
                pass

    def run(self, statement: Statement) -> Rows:
        """The rows of a statement."""
        found: Rows = self._executor.run_statement(statement)
        return found

    def shape(self, tables: list[str]) -> str:
        """A digest of what the tables are now."""
        shape = self._executor.shape_of(tables) if self._dialect == "postgres" else self._executor.shape(None)
        return str(shape)

    def cursor(self, sql: str) -> AbstractContextManager[Cursor]:
        """The running query."""
        start = self._executor.cursor if self._dialect == "sqlite" else self._executor.unverified_cursor
        running: AbstractContextManager[Cursor] = start(sql)
        return running


if __name__ == "__main__":
    # Nothing that goes wrong here may be printed: a traceback could hold a query. The parent sees that the process ended.
    try:
        main()
    except Exception:  # noqa: BLE001
        sys.exit(1)
