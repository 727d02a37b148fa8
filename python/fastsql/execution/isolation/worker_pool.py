"""The worker processes of one executor: started before they are needed, replaced when they end, at most so many."""

from __future__ import annotations

import os
import threading
import time
import weakref
from contextlib import suppress

from fastsql.errors import ExecutionError
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import QueryTimeoutError
from fastsql.execution.isolation.worker_process import WorkerProcess
from fastsql.execution.isolation.worker_setup import WorkerSetup
from fastsql.forking import renew_in_child

_STALE = 1.0
"""Seconds after which it is no news that a worker could not start."""
_START_SECONDS = 60.0
"""Seconds after which a worker that is not ready is given up."""


class WorkerPool:
    """Worker processes that are alike; shared by threads. They end with the pool, with this process, and with :meth:`close`.

    Args:
        setup: what each is told first.
        most: how many there are.

    Raises:
        ExecutionError: no process can be started.
    """

    def __init__(self, setup: WorkerSetup, most: int) -> None:
        self._setup = setup
        self._most = most
        self._closed = False
        self._all: set[WorkerProcess] = set()
        self.renew_after_fork()
        renew_in_child(self)
        self._end = weakref.finalize(self, _close_all, self._all, os.getpid())
        with self._changed:
            self._fill()

    def renew_after_fork(self) -> None:
        """Leave the workers to the process that started them. The child starts its own with its first query."""
        for worker in self._all:
            worker.forget()
        self._all.clear()
        self._changed = threading.Condition()
        self._idle: list[WorkerProcess] = []

    def take(self, deadline: Deadline) -> WorkerProcess:
        """A worker that is ready; to be given back.

        Raises:
            QueryTimeoutError: none became ready in time.
            ExecutionError: none can be started, or the pool is closed.
        """
        attempts = self._most + 1
        while True:
            worker = self._next(deadline)
            ready = False
            try:
                ready = worker.wait_until_ready(deadline.moment)
            except ExecutionError:
                # One that failed a while ago says nothing of now; one that was killed while it started, nothing at all.
                says_nothing = worker.age > _STALE or worker.was_killed()
                self._discard(worker)
                attempts -= 1
                if not (says_nothing and attempts):
                    raise
                continue
            except BaseException:
                self._discard(worker)
                raise
            if ready and worker.is_alive():
                return worker
            if worker.is_alive() and worker.age < _START_SECONDS:
                self.give_back(worker)
                raise _busy(deadline.time_limit)
            self._discard(worker)  # somebody killed it while it had nothing to do, or it never starts

    def give_back(self, worker: WorkerProcess) -> None:
        """Take a worker back; in place of one that has ended another one is started."""
        alive = worker.is_alive()
        with self._changed:
            if alive and not self._closed:
                self._idle.append(worker)
                self._changed.notify()
                return
        self._discard(worker)
        with self._changed:
            if not self._closed:
                with suppress(ExecutionError):  # the next query tries again, and says why it fails
                    self._fill()

    def close(self) -> None:
        """End all workers, also those at work: their queries fail."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = [worker for worker in self._all if worker not in idle]
            self._changed.notify_all()
        for worker in busy:
            worker.kill()  # who waits for it closes it
        for worker in idle:
            self._discard(worker)

    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    def pids(self) -> list[int]:
        """The identifiers of the workers that there are."""
        with self._changed:
            return [worker.pid for worker in self._all]

    def _next(self, deadline: Deadline) -> WorkerProcess:
        with self._changed:
            while not self._closed:
                if not self._idle and len(self._all) < self._most:
                    self._fill()
                if self._idle:
                    return self._idle.pop()
                if not self._changed.wait(deadline.moment - time.monotonic()):
                    raise _busy(deadline.time_limit)
        raise closed()

    def _fill(self) -> None:
        while len(self._all) < self._most:
            worker = WorkerProcess(self._setup)
            self._all.add(worker)
            self._idle.insert(0, worker)  # taken last: it has still to start

    def _discard(self, worker: WorkerProcess) -> None:
        worker.close()
        with self._changed:
            self._all.discard(worker)
            self._changed.notify()


def closed() -> ExecutionError:
    """The error for a query of an executor that was closed."""
    return ExecutionError("is closed", where="executor", remedy="Open another.")


def _busy(time_limit: float) -> QueryTimeoutError:
    return QueryTimeoutError(
        f"waited longer than {time_limit:g} s for a worker process",
        where="query",
        remedy="Run fewer queries at a time, or raise the time limit or the number of workers.",
    )


def _close_all(workers: set[WorkerProcess], parent: int) -> None:
    if os.getpid() == parent:
        for worker in list(workers):
            worker.close()
