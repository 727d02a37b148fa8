"""Connections to one database: a bounded number for all executors, in the order of asking, and none is lost."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution import QueryTimeoutError
from fastsql.execution.connections import ConnectionsBusyError, Lease, Pool, Quota, quota_of
from fastsql.execution.deadline import Deadline

SOON, LONG = 0.05, 60.0


class Connection:
    """A connection that tells whether it was closed."""

    dropped = False

    def drop(self) -> None:
        self.dropped = True


def taken(pool: Pool[Connection], seconds: float = LONG) -> Lease[Connection]:
    """A lease with a connection, which is opened where none was idle."""
    lease = pool.take(Deadline(seconds))
    lease.connection = lease.connection or Connection()
    return lease


def waiting(pool: Pool[Connection], then: Callable[[Lease[Connection]], object]) -> threading.Thread:
    """A thread that waits for a lease, once it waits."""
    before = len(pool.quota.waiting)
    thread = threading.Thread(target=lambda: then(taken(pool)))
    thread.start()
    while len(pool.quota.waiting) == before:
        os.sched_yield()
    return thread


def test_connections_are_used_again_the_last_one_first() -> None:
    pool: Pool[Connection] = Pool(Quota(), 2)
    first, second = taken(pool), taken(pool)
    connections = first.connection, second.connection
    for lease in (first, second):
        pool.end(lease, keep=True)
    assert (taken(pool).connection, taken(pool).connection) == connections[::-1]


def test_no_more_than_the_quota_are_open_whoever_asks() -> None:
    quota = Quota()
    pools: list[Pool[Connection]] = [Pool(quota, 2), Pool(quota, 2)]
    held = [taken(pools[0]), taken(pools[1])]
    for pool in pools:
        with pytest.raises(
            ConnectionsBusyError, match=r"longer than 0.05 s .* all 2 are in use.*connections"
        ):
            taken(pool, SOON)
    pools[0].end(held[0], keep=True)
    assert taken(pools[1]).connection is not None


def test_the_largest_number_that_an_executor_was_given_is_the_quota_while_it_is_open() -> None:
    quota = Quota()
    small: Pool[Connection] = Pool(quota, 1)
    large: Pool[Connection] = Pool(quota, 3)
    held = [taken(small), taken(large), taken(large)]
    with pytest.raises(ConnectionsBusyError, match="all 1 are in use"):
        taken(small, SOON)
    for lease in held[1:]:
        large.end(lease, keep=False)
    large.shut()
    other: Pool[Connection] = Pool(quota, 1)
    with pytest.raises(ConnectionsBusyError):
        taken(other, SOON)


def test_an_idle_connection_of_another_kind_makes_room_and_one_of_the_same_kind_is_taken() -> None:
    quota = Quota()
    one: Pool[Connection] = Pool(quota, 1, kind="a")
    twin: Pool[Connection] = Pool(quota, 1, kind="a")
    other: Pool[Connection] = Pool(quota, 1, kind="b")
    lease = taken(one)
    connection = lease.connection
    assert connection is not None
    one.end(lease, keep=True)
    lease = taken(twin)
    assert lease.connection is connection
    twin.end(lease, keep=True)
    assert not connection.dropped
    assert taken(other).connection is not connection
    assert connection.dropped


def test_what_costs_most_to_open_is_closed_last() -> None:
    quota = Quota()
    process: Pool[Connection] = Pool(quota, 2, is_costly=True)
    file: Pool[Connection] = Pool(quota, 2)
    leases = [taken(process), taken(file)]
    connections = [lease.connection for lease in leases]
    process.end(leases[0], keep=True)
    file.end(leases[1], keep=True)
    taken(Pool(quota, 2))
    assert [connection is not None and connection.dropped for connection in connections] == [False, True]


def test_who_came_first_is_served_first() -> None:
    pool: Pool[Connection] = Pool(Quota(), 1)
    other: Pool[Connection] = Pool(pool.quota, 1)
    served: list[int] = []

    def serve(number: int, of: Pool[Connection]) -> Callable[[Lease[Connection]], object]:
        def note(lease: Lease[Connection]) -> None:
            served.append(number)
            of.end(lease, keep=True)

        return note

    held = taken(pool)
    threads = [
        waiting(of, serve(number, of)) for number, of in enumerate([pool, other, pool, other, other, pool])
    ]
    pool.end(held, keep=True)
    for thread in threads:
        thread.join(LONG)
    assert served == [0, 1, 2, 3, 4, 5]


def test_a_waiter_who_cannot_be_served_holds_up_nobody_behind_him() -> None:
    quota = Quota()
    one: Pool[Connection] = Pool(quota, 1, shared=2)
    other: Pool[Connection] = Pool(quota, 2)
    of_one, of_other = taken(one), taken(other)
    got: list[str] = []
    threads = [waiting(one, lambda _: got.append("one")), waiting(other, lambda _: got.append("other"))]
    other.end(of_other, keep=True)
    threads[1].join(LONG)
    assert got == ["other"]
    one.end(of_one, keep=True)
    threads[0].join(LONG)
    assert got == ["other", "one"]


def test_a_lease_whose_holder_was_interrupted_before_he_had_it_is_free_again() -> None:
    pool: Pool[Connection] = Pool(Quota(), 1)
    pool.take(Deadline(LONG))
    gc.collect()
    assert taken(pool, SOON).connection is not None


def test_a_revoked_lease_gives_its_place_to_others_and_its_connection_to_nobody() -> None:
    pool: Pool[Connection] = Pool(Quota(), 1)
    lease = taken(pool)
    connection = lease.connection
    pool.revoke(lease)
    other = taken(pool)
    assert other.connection is not connection
    pool.end(lease, keep=True)
    assert connection is not None
    assert connection.dropped
    with pytest.raises(ConnectionsBusyError):
        taken(pool, SOON)
    pool.end(other, keep=True)
    assert len(pool.idle) == 1


def test_a_closed_pool_tells_all_who_wait_and_hands_over_what_others_can_use() -> None:
    quota = Quota()
    pool: Pool[Connection] = Pool(quota, 1, kind="a")
    twin: Pool[Connection] = Pool(quota, 1, kind="a")
    held = taken(twin)
    caught: list[BaseException] = []

    def wait() -> None:
        try:
            taken(pool)
        except ExecutionError as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not quota.waiting:
        os.sched_yield()
    pool.shut()
    thread.join(LONG)
    assert [str(error) for error in caught] == ["executor: is closed. Open another."]
    connection = held.connection
    twin.end(held, keep=True)
    heir: Pool[Connection] = Pool(quota, 1, kind="a")
    assert twin.shut() == ([], [])
    assert taken(heir).connection is connection


def test_a_pool_that_nobody_closed_leaves_no_connection_and_no_place_behind() -> None:
    quota = Quota()
    pool: Pool[Connection] = Pool(quota, 1)
    lease = taken(pool)
    connection = lease.connection
    pool.end(lease, keep=True)
    other: Pool[Connection] = Pool(quota, 1)
    del pool, lease
    gc.collect()
    assert connection is not None
    assert connection.dropped
    assert taken(other, SOON).connection is not None


def test_executors_on_one_database_have_one_quota_and_those_on_others_have_others() -> None:
    quota = quota_of("here")
    assert quota_of("here") is quota
    assert quota_of("there") is not quota


def test_many_threads_and_pools_never_hold_more_than_there_may_be() -> None:
    quota = Quota()
    pools: list[Pool[Connection]] = [Pool(quota, 3, kind=kind) for kind in ("a", "a", "b", None)]
    guard, present, most, failed = threading.Lock(), 0, 0, list[BaseException]()

    def work(pool: Pool[Connection]) -> None:
        nonlocal present, most
        try:
            for turn in range(200):
                lease = taken(pool)
                with guard:
                    present += 1
                    most = max(most, present)
                os.sched_yield()
                with guard:
                    present -= 1
                if turn % 7 == 0:
                    pool.revoke(lease)
                pool.end(lease, keep=bool(turn % 5))
        except BaseException as error:  # noqa: BLE001 - told to the test
            failed.append(error)

    threads = [threading.Thread(target=work, args=(pools[number % 4],)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    quota.count()
    assert (failed, most <= 3, quota.held <= 3) == ([], True, True)
    assert all(not pool.busy() for pool in pools)
    assert sum(len(pool.idle) for pool in pools) == quota.held


def test_nobody_waits_longer_than_his_time_limit_and_the_error_is_a_timeout() -> None:
    pool: Pool[Any] = Pool(Quota(), 1)
    held = taken(pool)
    assert issubclass(ConnectionsBusyError, QueryTimeoutError)
    with pytest.raises(ConnectionsBusyError):
        pool.take(Deadline(1e-9))
    assert not pool.quota.waiting
    pool.end(held, keep=True)
