"""The worker processes of one executor: started before they are needed, replaced when they end, at most so many."""

from __future__ import annotations

import json
from contextlib import suppress

from fastsql.errors import ExecutionError
from fastsql.execution.connections import CONNECTIONS, ConnectionsBusyError, Lease, Pool, quota_of
from fastsql.execution.deadline import Deadline
from fastsql.execution.isolation.worker_process import WorkerProcess
from fastsql.execution.isolation.worker_setup import WorkerSetup

_STALE = 1.0
"""Seconds after which it is no news that a worker could not start."""
_START_SECONDS = 60.0
"""Seconds after which a worker that is not ready is given up."""


class WorkerPool(Pool[WorkerProcess]):
    """Worker processes that are alike; shared by threads. They end with the pool, with this process, and with :meth:`close`.

    Each is a connection to its database: executors on the same one, isolated or not, share its quota, and those that are set
    up alike each other's workers.

    Args:
        setup: what each is told first.
        most: how many there are.
        connections: as :func:`fastsql.execution.open_executor` has it.

    Raises:
        ExecutionError: no process can be started.
    """

    def __init__(self, setup: WorkerSetup, most: int, connections: int | None = None) -> None:
        self._setup = setup
        super().__init__(
            quota_of(setup.database()),
            most,
            shared=max(CONNECTIONS, most) if connections is None else connections,
            kind=json.dumps(setup.message(), sort_keys=True),
            waits_for="for a worker process",
            remedy="the number of workers",
            is_costly=True,
        )
        self._end.atexit = True
        self._fill()

    @property
    def _all(self) -> set[WorkerProcess]:
        with self.quota.lock:
            busy = {lease.connection for lease in self.busy() if lease.connection is not None}
            return {*self.idle, *busy}

    def renew_after_fork(self) -> None:
        """Leave the workers to the process that started them. The child starts its own with its first query."""
        for worker in [*self.idle, *(lease.connection for lease in self.busy())]:
            if worker is not None:
                worker.forget()
        super().renew_after_fork()

    def take_ready(self, deadline: Deadline) -> tuple[Lease[WorkerProcess], WorkerProcess]:
        """A worker that is ready; to be given back.

        Raises:
            ConnectionsBusyError: none became ready in time.
            ExecutionError: none can be started, or the pool is closed.
        """
        attempts = self.most + 1
        while True:
            lease = self.take(deadline)
            worker = self._started(lease)
            ready = False
            try:
                ready = worker.wait_until_ready(deadline.moment)
            except ExecutionError:
                # One that failed a while ago says nothing of now; one that was killed while it started, nothing at all.
                says_nothing = worker.age > _STALE or worker.was_killed()
                self.end(lease, keep=False)
                attempts -= 1
                if not (says_nothing and attempts):
                    raise
                continue
            except BaseException:
                self.end(lease, keep=False)
                raise
            if ready and worker.is_alive():
                return lease, worker
            starts = worker.is_alive() and worker.age < _START_SECONDS
            self.end(
                lease, keep=starts
            )  # else somebody killed it while it had nothing to do, or it never starts
            if starts:
                raise ConnectionsBusyError(
                    f"waited longer than {deadline.time_limit:g} s for a worker process to start",
                    where="query",
                    remedy="Run fewer queries at a time, or raise the time limit or the number of workers.",
                )

    def give_back(self, lease: Lease[WorkerProcess]) -> None:
        """Take a worker back; in place of one that has ended another one is started."""
        alive = lease.connection is not None and lease.connection.is_alive()
        self.end(lease, keep=alive)
        if not alive:
            with suppress(ExecutionError):  # the next query tries again, and says why it fails
                self._fill()

    def take_away(self, lease: Lease[WorkerProcess]) -> None:
        """Kill a worker whose reader does not come back; its pipes are left to him."""
        if lease.connection is not None:
            lease.connection.kill(wait=False)
        self.revoke(lease)

    def close(self) -> None:
        """End all workers, also those at work: their queries fail."""
        idle, busy = self.shut()
        for lease in busy:
            if lease.connection is not None:
                lease.connection.kill()  # who waits for it drops it
        for worker in idle:
            worker.drop()

    def pids(self) -> list[int]:
        """The identifiers of the workers that there are."""
        return [worker.pid for worker in self._all]

    def _started(self, lease: Lease[WorkerProcess]) -> WorkerProcess:
        """The worker of a lease, which is ended where none can be started."""
        if lease.connection is None:
            try:
                lease.connection = WorkerProcess(self._setup)
            except BaseException:
                self.end(lease, keep=False)
                raise
        return lease.connection

    def _fill(self) -> None:
        while (lease := self.reserve()) is not None:
            self._started(lease)
            self.end(lease, keep=True, last=True)  # it has still to start
