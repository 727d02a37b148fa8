"""Connections that are each owned by a thread, so that nobody waits for a query longer than its time limit.

An engine can be deaf: one instruction of it may take minutes, and end neither by a progress handler nor by an interrupt. So
a query runs in a thread that owns its connection, and the caller waits for it with a timeout. At the time limit the engine
is interrupted; if it does not answer within a grace, the caller gets the error all the same, and thread and connection are
given up: they end when the call returns at last, and serve nobody else.
"""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from fastsql.errors import ExecutionError
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import FIRST_ROWS, QueryTimeoutError, memory_of, too_late
from fastsql.forking import forget_thread, renew_in_child

CONNECTIONS = 4
"""Queries of one executor that run at the same time, if nothing else is said; further callers wait for one to end."""
MOST_LOST = 4
"""Threads that one executor may have lost to queries that do not end; beyond them it refuses to begin another."""
_GRACE, _MOST_GRACE = 0.25, 1.0
"""For how long an interrupted engine may go on: a part of the time limit, and seconds at most."""
_CLOSING = 1.0
"""Seconds that closing waits for a connection that is idle."""
_TIDYING = 0.5
"""Seconds that a caller who is done waits for what is left of the query to be let go of."""


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

_inherited: list[object] = []
"""Workers of the process that this one was forked from. Kept: neither they nor their connections may be closed here."""


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
        self.lost = False
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
            ExecutionError: it was lost before. Otherwise whatever `work` raises.
        """
        if self.lost:
            raise _gone()
        left = deadline.remaining()
        call = _Call(work)
        try:
            self._inbox.put(call)
            in_time = call.done.acquire(timeout=left)
            if not in_time:
                self._interrupt()
                if not call.done.acquire(timeout=min(_GRACE * deadline.time_limit, _MOST_GRACE)):
                    self.give_up()
        except BaseException:  # the caller was interrupted: it need not wait for the engine
            self._interrupt()
            self.give_up()
            raise
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
        self.lost = True
        self._end()
        self.thread.join(_CLOSING)

    def give_up(self) -> None:
        """Leave the thread to itself: it closes its connection and ends when its call returns."""
        self.lost = True
        self._end()
        forget_thread(self.thread.ident)

    def _interrupt(self) -> None:
        for session in self._held:  # none while it is being opened
            session.interrupt()


class Workers(Generic[AnySession]):
    """The workers of one executor: at most `most` at work at a time. Shared by threads; made anew in a forked process."""

    def __init__(self, open_session: Callable[[], AnySession], most: int = CONNECTIONS) -> None:
        self._open_session = open_session
        self._most = most
        self._closed = False
        self.renew_after_fork()
        renew_in_child(self)
        close_at_exit(self)

    def renew_after_fork(self) -> None:
        """Leave the workers to the process that they were inherited from."""
        for worker in list(getattr(self, "_workers", ())):
            worker.lost = True
            _inherited.append(worker)
        self._changed = threading.Condition()
        self._idle: list[Worker[AnySession]] = []
        self._workers: weakref.WeakSet[Worker[AnySession]] = weakref.WeakSet()
        self._lost: list[threading.Thread] = []

    @contextmanager
    def one(self, deadline: Deadline) -> Iterator[Worker[AnySession]]:
        """A worker for the ``with`` block alone.

        Raises:
            QueryTimeoutError: none became free in time.
            ExecutionError: too many were lost, or they are closed.
        """
        worker = self._take(deadline)
        try:
            yield worker
        finally:
            self._give_back(worker)

    def close(self) -> None:
        """End all that are idle, and those at work as soon as they are done."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for worker in idle:
            worker.close()

    def _take(self, deadline: Deadline) -> Worker[AnySession]:
        with self._changed:
            while not self._closed:
                if self._idle:
                    return self._idle.pop()
                if len(self._workers) < self._most:
                    worker = self._new()
                    self._workers.add(worker)
                    return worker
                if not self._changed.wait(deadline.moment - time.monotonic()):
                    raise _busy(deadline.time_limit)
        raise ExecutionError("is closed", where="executor", remedy="Open another.")

    def _new(self) -> Worker[AnySession]:
        self._lost = [thread for thread in self._lost if thread.is_alive()]
        if len(self._lost) >= MOST_LOST:
            raise ExecutionError(
                f"{len(self._lost)} queries that passed their time limit are still running",
                where="executor",
                remedy="Try again later; an executor with isolated=True can end such queries.",
            )
        try:
            return Worker(self._open_session)
        except RuntimeError:
            reason = "the process cannot start more threads"
        raise ExecutionError(reason, where="executor", remedy="Raise this process's limit of threads.")

    def _give_back(self, worker: Worker[AnySession]) -> None:
        with self._changed:
            if worker.lost:
                self._workers.discard(worker)
                self._lost.append(worker.thread)
            elif not self._closed:
                self._idle.append(worker)
            self._changed.notify()
        if self._closed and not worker.lost:
            worker.close()


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
            if not held:
                held.append(open_session())
            call.answer = call.work(held[0])
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            call.error = error
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


def _busy(time_limit: float) -> QueryTimeoutError:
    return QueryTimeoutError(
        f"waited longer than {time_limit:g} s for other queries of this executor",
        where="query",
        remedy="Run fewer queries at a time, or raise the time limit or the number of connections.",
    )
