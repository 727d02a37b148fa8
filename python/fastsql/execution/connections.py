"""The connections that the executors of a process hold to one database: only so many, given out in the order of asking.

A server counts connections, and memory and threads are counted by whoever runs this process; so all executors on a database
share one quota, and those who find it used up wait for their turn within their time limits. An idle connection belongs to
nobody: another executor takes it where it would open one just like it, and has it closed where it needs another one.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar

from fastsql.errors import ExecutionError
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import QueryTimeoutError
from fastsql.forking import renew_in_child

CONNECTIONS = 4
"""Connections to one database that a process holds, if nothing else is said; further callers wait for one to be free."""
_LOOK = 1.0
"""Seconds after which a waiter looks for itself: a caller who is interrupted at the wrong instruction tells nobody."""

_inherited: list[object] = []
"""Connections of the process that this one was forked from. Kept: they may not be closed here."""


class ConnectionsBusyError(QueryTimeoutError):
    """No connection became free within the time limit of a query."""


class Droppable(Protocol):
    """A connection, or what owns one."""

    def drop(self) -> None:
        """Let go of it, without waiting for the database. May be called again."""


AnyConnection = TypeVar("AnyConnection", bound=Droppable)


class Lease(Generic[AnyConnection]):
    """The right to hold one connection, until it is given back.

    Attributes:
        connection: one that was idle; None where there was none: then the holder opens it and keeps it here.
        generation: which of the processes that were forked from each other made it.
    """

    __slots__ = ("__weakref__", "connection", "generation")

    def __init__(self, connection: AnyConnection | None, generation: int) -> None:
        self.connection = connection
        self.generation = generation


class _Waiter:
    """A caller who waits for a lease of a pool."""

    __slots__ = ("called", "lease", "pool")

    def __init__(self, pool: Pool[Any]) -> None:
        self.pool = pool
        self.lease: Lease[Any] | None = None
        self.called = threading.Lock()
        self.called.acquire()


class Quota:
    """How many connections to one database there may be, in all the pools that share it.

    All but :meth:`renew_after_fork` is called with the lock held.

    Attributes:
        most: connections that there may be: the largest number that one of the pools was made with.
        held: connections that there are, or are being opened; more than there are where pools or leases were forgotten.
        waiting: callers who wait, in the order in which they came.
        lost: threads that were given up together with their connections.
    """

    def __init__(self) -> None:
        self.pools: weakref.WeakSet[Pool[Any]] = weakref.WeakSet()
        self.most = 0
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Begin anew: in a forked child nobody waits."""
        self.lock = threading.Lock()
        self.held = 0
        self.waiting: deque[_Waiter] = deque()
        self.lost: set[threading.Thread] = set()

    def count(self) -> None:
        """Find out how many connections there are, and may be."""
        pools = list(self.pools)
        self.most = max((pool.shared for pool in pools if not pool.closed), default=0)
        self.held = sum(len(pool.idle) + len(pool.busy()) for pool in pools)

    def lease(self, pool: Pool[AnyConnection], evicted: list[Droppable]) -> Lease[AnyConnection] | None:
        """A lease that can be had now; what is closed for it is added to `evicted`."""
        if len(pool.busy()) >= pool.most:
            return None
        connection = None
        source = pool if pool.idle else next((twin for twin in pool.twins() if twin.idle), None)
        if source is not None:
            connection = source.idle.pop()
        else:
            if self.held >= self.most:
                self.count()
            if self.held < self.most:
                self.held += 1
            elif others := [other for other in self.pools if other.idle]:
                evicted.append(min(others, key=lambda other: (other.is_costly, other.used)).idle.pop(0))
            else:
                return None
        return pool.hold(connection)

    def serve(self, evicted: list[Droppable]) -> None:
        """Call all who wait and can be served, in the order in which they came."""
        for waiter in list(self.waiting):
            waiter.lease = self.lease(waiter.pool, evicted)
            if waiter.lease is not None:
                self.waiting.remove(waiter)
                waiter.called.release()


class _Quotas:
    """The quotas of this process, by database."""

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[Hashable, Quota] = weakref.WeakValueDictionary()
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        self._lock = threading.Lock()

    def of(self, database: Hashable) -> Quota:
        with self._lock:
            quota = self._known.get(database)
            if quota is None:
                quota = self._known[database] = Quota()
            return quota


_quotas = _Quotas()


def quota_of(database: Hashable) -> Quota:
    """The quota that all executors of this process share on one database."""
    return _quotas.of(database)


class Pool(Generic[AnyConnection]):
    """One executor's connections to a database, within a quota. Shared by threads; begins anew in a forked process.

    Args:
        quota: that of the database.
        most: connections that this executor uses at the same time.
        shared: connections of all executors together that are enough for this one; `most`, if nothing is said.
        kind: equal for pools whose connections can stand in for each other; None where none can.
        waits_for: what callers wait for, for an error.
        remedy: what else could help them.
        is_costly: whether opening a connection takes so long that those of others are closed first.
    """

    def __init__(
        self,
        quota: Quota,
        most: int,
        *,
        shared: int | None = None,
        kind: Hashable = None,
        waits_for: str = "for other queries on this database",
        remedy: str = "the number of connections",
        is_costly: bool = False,
    ) -> None:
        self.quota = quota
        self.most = most
        self.shared = most if shared is None else shared
        self.kind = kind
        self.is_costly = is_costly
        self.closed = False
        self.used = 0.0
        """When a connection was given back last, by `time.monotonic`."""
        self.idle: list[AnyConnection] = []
        self.generation = -1
        self._waits_for, self._remedy = waits_for, remedy
        Pool.renew_after_fork(self)
        renew_in_child(self)
        self._end = weakref.finalize(self, _drop_all, self.idle, os.getpid())
        self._end.atexit = False
        with quota.lock:
            quota.pools.add(self)
            quota.count()

    def renew_after_fork(self) -> None:
        """Leave the connections to the process that they were inherited from."""
        self.generation += 1
        if self.generation:
            _inherited.extend([*self.idle, *self.busy()])
        self.idle.clear()
        self._held: dict[int, weakref.ref[Lease[AnyConnection]]] = {}

    def busy(self) -> list[Lease[AnyConnection]]:
        """The leases that are held, without those whose holders were interrupted before they knew that they had them."""
        leases = {number: lease for number, held in list(self._held.items()) if (lease := held()) is not None}
        for number in self._held.keys() - leases.keys():
            del self._held[number]
        return list(leases.values())

    def hold(self, connection: AnyConnection | None) -> Lease[AnyConnection]:
        """A new lease. Called with the quota's lock held."""
        lease = Lease(connection, self.generation)
        self._held[id(lease)] = weakref.ref(lease)
        return lease

    def twins(self) -> list[Pool[AnyConnection]]:
        """Pools whose connections can stand in for this one's. Called with the quota's lock held."""
        if self.kind is None:
            return []
        return [
            pool
            for pool in self.quota.pools
            if pool is not self and pool.kind == self.kind and not pool.closed
        ]

    def take(self, deadline: Deadline) -> Lease[AnyConnection]:
        """A connection, or the right to open one; to be ended.

        Raises:
            ConnectionsBusyError: none became free in time.
            ExecutionError: the pool is closed.
        """
        with self.quota.lock:
            if self.idle and len(self._held) < self.most:
                return self.hold(self.idle.pop())
        return self._take(deadline)

    def _take(self, deadline: Deadline) -> Lease[AnyConnection]:
        """As :meth:`take`, where none of its own is idle."""
        evicted: list[Droppable] = []
        waiter = None
        with self.quota.lock:
            lease = None if self.closed else self.quota.lease(self, evicted)
            if lease is None and not self.closed:
                waiter = _Waiter(self)
                self.quota.waiting.append(waiter)
        if waiter is not None:
            lease = self._await(waiter, deadline)
        _drop_all(evicted)
        if lease is None:
            raise closed()
        return lease

    def reserve(self) -> Lease[AnyConnection] | None:
        """The right to open one more connection before it is needed, where nobody else has to do without it."""
        with self.quota.lock:
            alike = len(self.idle) + len(self.busy()) + sum(len(twin.idle) for twin in self.twins())
            self.quota.count()
            if self.closed or alike >= self.most or self.quota.held >= self.quota.most:
                return None
            self.quota.held += 1
            return self.hold(None)

    def end(self, lease: Lease[AnyConnection], *, keep: bool, last: bool = False) -> None:
        """Give a lease back. Its connection is kept for others, where it may be, or dropped.

        Args:
            lease: what :meth:`take` or :meth:`reserve` gave.
            keep: whether its connection can be used again.
            last: whether others are taken before it.
        """
        quota, connection = self.quota, lease.connection
        evicted: list[Droppable] = []
        with quota.lock:
            if lease.generation != self.generation:
                return
            was_held = self._held.pop(id(lease), None) is not None
            if not (
                keep and was_held and connection is not None and not self.closed and quota.held <= quota.most
            ):
                quota.held -= was_held
                if connection is not None:
                    evicted.append(connection)
            elif last:
                self.idle.insert(0, connection)
            else:
                self.idle.append(connection)
                self.used = time.monotonic()
            if quota.waiting:
                quota.serve(evicted)
        if evicted:
            _drop_all(evicted)

    def revoke(self, lease: Lease[AnyConnection]) -> None:
        """Give a lease's place to others. Whoever holds it ends it, too, when he comes back; that drops its connection."""
        evicted: list[Droppable] = []
        with self.quota.lock:
            if lease.generation == self.generation and self._held.pop(id(lease), None) is not None:
                self.quota.held -= 1
                self.quota.serve(evicted)
        _drop_all(evicted)

    def shut(self) -> tuple[list[AnyConnection], list[Lease[AnyConnection]]]:
        """Lease no more. Gives the idle connections that no other pool can use, and the leases that are still held."""
        evicted: list[Droppable] = []
        with self.quota.lock:
            self.closed = True
            idle, busy = list(self.idle), self.busy()
            self.idle.clear()
            for twin in self.twins()[:1]:
                twin.idle[:0] = idle
                idle = []
            for waiter in [waiter for waiter in self.quota.waiting if waiter.pool is self]:
                self.quota.waiting.remove(waiter)
                waiter.called.release()
            self.quota.count()
            self.quota.serve(evicted)
        _drop_all(evicted)
        return idle, busy

    def _await(self, waiter: _Waiter, deadline: Deadline) -> Lease[AnyConnection] | None:
        """The lease that a waiter is given in the end; None where the pool was closed."""
        evicted: list[Droppable] = []
        try:
            while True:
                left = deadline.moment - time.monotonic()
                if waiter.called.acquire(timeout=max(0.0, min(left, _LOOK))):
                    return waiter.lease
                with self.quota.lock:
                    self.quota.serve(evicted)
                    if waiter in self.quota.waiting and left <= _LOOK:
                        self.quota.waiting.remove(waiter)
                        break
        except BaseException:  # the caller was interrupted
            with self.quota.lock:
                if waiter in self.quota.waiting:
                    self.quota.waiting.remove(waiter)
            if waiter.lease is not None:
                self.end(waiter.lease, keep=True)
            raise
        finally:
            _drop_all(evicted)
        raise ConnectionsBusyError(
            f"waited longer than {deadline.time_limit:g} s {self._waits_for}: all {self._in_use()} are in use",
            where="query",
            remedy=f"Run fewer queries at a time, or raise the time limit or {self._remedy}.",
        )

    def _in_use(self) -> int:
        with self.quota.lock:
            return min(self.most, self.quota.most)


def closed() -> ExecutionError:
    """The error for a query of an executor that was closed."""
    return ExecutionError("is closed", where="executor", remedy="Open another.")


def _drop_all(connections: list[Any], owner: int | None = None) -> None:
    if owner in (None, os.getpid()):
        for connection in connections:
            connection.drop()
