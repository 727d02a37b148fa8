"""Connections that are each owned by a thread, so that nobody waits for a query longer than its time limit.

An engine can be deaf: one instruction of it may take minutes, and end neither by a progress handler nor by an interrupt. So
a query runs in a thread that owns its connection, and the caller waits for it with a timeout. At the time limit the engine
is interrupted; if it does not answer within a grace, the caller gets the error all the same, and thread and connection are
given up: they end when the call returns at last, and serve nobody else.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from fastsql.errors import ExecutionError
from fastsql.execution.connections import CONNECTIONS, Lease, Pool, Quota, closed
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import FIRST_ROWS, memory_of, too_late
from fastsql.execution.watchdog import WATCHDOG
from fastsql.forking import forget_thread

MOST_LOST = 4
"""Threads that queries on one database may have lost that do not end; beyond them no other is begun."""
_GRACE, _MOST_GRACE = 0.25, 1.0
"""For how long an interrupted engine may go on: a part of the time limit, and seconds at most."""
_CLOSING = 1.0
"""Seconds that closing waits for a connection that is idle."""
_TIDYING = 0.5
"""Seconds that a caller who is done waits for what is left of the query to be let go of."""
_ABANDONED = 0.5
"""Seconds after the time limit and its grace at which a cursor that nobody has ended loses its connection."""


class Closable(Protocol):
    """What holds on to a database."""

    def close(self) -> None:
        """Let go of it."""


class Session(Closable, Protocol):
    """A connection that belongs to one thread."""

    def interrupt(self) -> None:
        """End what runs on it, if it can be ended. Called by any thread while a call is under way."""


AnySession = TypeVar("AnySession", bound=Session)
Answer = TypeVar("Answer")

_MOST_ROWS, _BATCH_BYTES = 1_000, 4 * 2**20
"""Rows of a batch, and bytes that it should take, when a reader goes row by row."""

_open: weakref.WeakSet[Closable] = weakref.WeakSet()


def close_at_exit(owner: Closable) -> None:
    """Close an object when the interpreter ends, if it is still there: before what has been imported by now ends."""
    _open.add(owner)
    atexit.unregister(_close_all)
    atexit.register(_close_all)


def _close_all() -> None:
    for owner in list(_open):
        owner.close()


class _Call:
    """One piece of work for a thread, and what came of it."""

    __slots__ = ("answer", "done", "error", "work")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.answer: Any = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()


class Worker(Generic[AnySession]):
    """A daemon thread with a connection of its own, which it opens with the first call. Serves one caller at a time."""

    def __init__(self, open_session: Callable[[], AnySession]) -> None:
        self.lost = self._shut = False
        self._call: _Call | None = None
        self._held: list[AnySession] = []
        self._inbox: SimpleQueue[_Call | None] = SimpleQueue()
        self.thread = threading.Thread(
            target=_serve, args=(self._inbox, self._held, open_session), name="fastsql-query", daemon=True
        )
        self.thread.start()
        # A worker that is dropped leaves no thread behind.
        self._end = weakref.finalize(self, self._inbox.put, None)
        self._end.atexit = False

    def call(self, work: Callable[[AnySession], Answer], deadline: Deadline) -> Answer:
        """What `work` gives when it is called with the session, in the worker's thread.

        Raises:
            QueryTimeoutError: the deadline passed. If the engine did not even answer an interrupt, the worker is lost.
            ExecutionError: it was lost before, or shut. Otherwise whatever `work` raises.
        """
        left = deadline.remaining()
        self._call = call = _Call(work)
        if self.lost:
            raise closed() if self._shut else _gone()
        try:
            self._inbox.put(call)
            in_time = call.done.acquire(timeout=left)
            if not in_time:
                self.interrupt()
                if not call.done.acquire(timeout=_grace(deadline)):
                    self.give_up()
        except BaseException:  # the caller was interrupted: it need not wait for the engine
            self.interrupt()
            self.give_up()
            raise
        finally:
            self._call = None
        if self._shut and call.error is not None:
            self.interrupt()
            self.give_up()
            raise closed()
        if not in_time:
            raise too_late(deadline.time_limit)
        error, call.error = call.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # its traceback holds this frame
        return call.answer  # type: ignore[no-any-return]

    def tidy(self, work: Callable[[AnySession], object]) -> None:
        """Let a piece of work clear up after a caller, who has what it came for and waits for it a moment only.

        Nothing is raised but what interrupts the caller; a worker that cannot do it is given up.
        """
        if not self.lost:
            try:
                self.call(work, Deadline(_TIDYING))
            except ExecutionError:
                self.give_up()

    def close(self) -> None:
        """End the thread, which closes its connection first. The worker must be idle."""
        self.drop()
        self.thread.join(_CLOSING)

    def drop(self) -> None:
        """Have the thread close its connection and end, when its call returns."""
        self.lost = True
        self._end()

    def shut(self) -> None:
        """End what runs, since its executor is closed: whoever waits for it is told so."""
        self._shut = True
        self.drop()
        call = self._call
        if call is not None:
            call.error = closed()  # where it has not begun, it is not begun
            self.interrupt()
            with suppress(RuntimeError):  # it was done at this very moment
                call.done.release()

    def give_up(self) -> None:
        """Leave the thread to itself: nobody, no fork either, waits for its call to return."""
        self.drop()
        forget_thread(self.thread.ident)

    def interrupt(self) -> None:
        """End the call that runs, if it can be ended."""
        for session in self._held:  # none while it is being opened
            session.interrupt()


class Workers(Pool[Worker[AnySession]]):
    """The workers of one executor.

    Args:
        open_session: opens a connection; called in the thread that will own it.
        quota, most, kind: as :class:`Pool` has them; without a quota, they have one of their own.
    """

    def __init__(
        self,
        open_session: Callable[[], AnySession],
        most: int = CONNECTIONS,
        *,
        quota: Quota | None = None,
        kind: Hashable = None,
    ) -> None:
        self._open_session = open_session
        self._workers: weakref.WeakSet[Worker[AnySession]] = weakref.WeakSet()
        super().__init__(quota or Quota(), most, kind=kind)
        close_at_exit(self)

    def renew_after_fork(self) -> None:
        """Leave the workers to the process that they were inherited from."""
        for worker in list(self._workers):
            worker.lost = True
        super().renew_after_fork()
        self._workers = weakref.WeakSet()

    def call(self, work: Callable[[AnySession], Answer], deadline: Deadline) -> Answer:
        """What `work` gives with the session of a worker, in its thread.

        Raises:
            ConnectionsBusyError: none became free in time.
            ExecutionError: too many were lost, or they are closed; otherwise as :meth:`Worker.call`.
        """
        lease = self.take(deadline)
        try:
            return self._worker(lease).call(work, deadline)
        finally:
            self._give_back(lease)

    @contextmanager
    def one(self, deadline: Deadline) -> Iterator[Worker[AnySession]]:
        """A worker for the ``with`` block alone, from which it is taken away if the block goes on when the time is up.

        Raises:
            ConnectionsBusyError: none became free in time.
            ExecutionError: too many were lost, or they are closed.
        """
        lease = self.take(deadline)
        watch = None
        try:
            worker = self._worker(lease)
            late = deadline.moment + _grace(deadline) + _ABANDONED
            watch = WATCHDOG.begin(late, lambda: self._take_away(lease))
            yield worker
        finally:
            if watch is not None:
                WATCHDOG.end(watch)
            self._give_back(lease)

    def close(self) -> None:
        """End them all, and the queries that run."""
        idle, busy = self.shut()
        for lease in busy:
            if lease.connection is not None:
                lease.connection.shut()
        for worker in idle:
            worker.close()

    def _worker(self, lease: Lease[Worker[AnySession]]) -> Worker[AnySession]:
        worker = lease.connection = lease.connection or self._new()
        if self.closed:  # whoever closed it did not see this worker
            worker.shut()
            raise closed()
        return worker

    def _new(self) -> Worker[AnySession]:
        with self.quota.lock:
            self.quota.lost = lost = {thread for thread in self.quota.lost if thread.is_alive()}
        if len(lost) >= MOST_LOST:
            raise ExecutionError(
                f"{len(lost)} queries that passed their time limit are still running",
                where="executor",
                remedy="Try again later; an executor with isolated=True can end such queries.",
            )
        try:
            worker = Worker(self._open_session)
        except RuntimeError:
            reason = "the process cannot start more threads"
        else:
            self._workers.add(worker)
            return worker
        raise ExecutionError(reason, where="executor", remedy="Raise this process's limit of threads.")

    def _take_away(self, lease: Lease[Worker[AnySession]]) -> None:
        if lease.connection is not None:
            lease.connection.interrupt()
            lease.connection.give_up()
        self._give_back(lease)

    def _give_back(self, lease: Lease[Worker[AnySession]]) -> None:
        worker = lease.connection
        if worker is not None and worker.lost:
            with self.quota.lock:
                self.quota.lost.add(worker.thread)
        self.end(lease, keep=worker is not None and not worker.lost)


class WorkerCursor:
    """A running query that a worker reads.

    Args:
        description: of the columns, one sequence each.
        fetch: gives the next rows, called in the worker's thread.
        deadline: when reading must end.
    """

    def __init__(
        self,
        worker: Worker[AnySession],
        description: Any,
        fetch: Callable[[int], Sequence[tuple[Any, ...]]],
        deadline: Deadline,
    ) -> None:
        self.description = description
        self._worker = worker
        self._fetch = fetch
        self._deadline = deadline

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows, at most `size` of them; none at the end.

        Raises:
            QueryTimeoutError: the time is up.
            ExecutionError: reading failed.
        """
        return self._worker.call(lambda _: self._fetch(size), self._deadline)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        size = FIRST_ROWS
        while rows := self.fetchmany(size):
            yield from rows
            size = max(1, min(_MOST_ROWS, 2 * size, size * _BATCH_BYTES // memory_of(rows)))


def _serve(
    inbox: SimpleQueue[_Call | None], held: list[AnySession], open_session: Callable[[], AnySession]
) -> None:
    while (call := inbox.get()) is not None:
        try:
            if call.error is not None:
                continue
            if not held:
                held.append(open_session())
            call.answer = call.work(held[0])
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            call.error = error
        with suppress(RuntimeError):  # its executor was closed, and nobody waits any more
            call.done.release()
        del call  # lest it outlive its caller
    for session in held:
        session.close()


def _gone() -> ExecutionError:
    return ExecutionError(
        "its connection was closed at a time limit, or belongs to the process that this one was forked from",
        where="query",
        remedy="Run it again.",
    )


def _grace(deadline: Deadline) -> float:
    """Seconds that an engine has after its interrupt."""
    return min(_GRACE * deadline.time_limit, _MOST_GRACE)
