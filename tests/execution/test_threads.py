"""Workers: nobody waits for a deaf engine beyond the time limit, and what was given up comes back to nobody."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import QueryTimeoutError
from fastsql.execution.threads import MOST_LOST, Workers

SOON = 0.05
LONG = 60.0


class Session:
    """A connection that tells what was done to it."""

    def __init__(self) -> None:
        self.interrupted = threading.Event()
        self.closed = threading.Event()

    def interrupt(self) -> None:
        self.interrupted.set()

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def sessions() -> list[Session]:
    """All sessions that were opened, in order."""
    return []


@pytest.fixture
def workers(sessions: list[Session]) -> Iterator[Workers[Session]]:
    def open_session() -> Session:
        sessions.append(Session())
        return sessions[-1]

    workers = Workers(open_session, 2)
    yield workers
    workers.close()


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    """What a deaf engine waits for; let go of at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


def call(workers: Workers[Session], work: Callable[[Session], object], seconds: float = LONG) -> object:
    deadline = Deadline(seconds)
    with workers.one(deadline) as worker:
        return worker.call(work, deadline)


def lose(workers: Workers[Session], hold: threading.Event) -> None:
    with pytest.raises(QueryTimeoutError, match=r"took longer than 0.05 s"):
        call(workers, lambda _: hold.wait(), SOON)


def test_one_caller_after_the_other_is_served_by_the_same_connection(workers: Workers[Session]) -> None:
    assert call(workers, lambda session: session) is call(workers, lambda session: session)


def test_an_engine_that_hears_an_interrupt_keeps_its_connection(workers: Workers[Session]) -> None:
    with pytest.raises(QueryTimeoutError):
        call(workers, lambda session: session.interrupted.wait(), SOON)
    assert call(workers, lambda session: session.interrupted.is_set())


def test_a_deaf_engine_is_left_alone_and_the_next_caller_gets_another(
    workers: Workers[Session], sessions: list[Session], hold: threading.Event
) -> None:
    lose(workers, hold)
    assert call(workers, lambda session: session is sessions[1])
    assert not sessions[0].closed.is_set()
    hold.set()
    assert sessions[0].closed.wait(LONG)
    assert not sessions[1].closed.is_set()


def test_only_so_many_connections_may_be_lost(workers: Workers[Session], hold: threading.Event) -> None:
    for _ in range(MOST_LOST):
        lose(workers, hold)
    with pytest.raises(ExecutionError, match=r"4 queries .* still run.*isolated=True"):
        call(workers, lambda session: session)


def test_lost_connections_that_ended_count_no_longer(
    workers: Workers[Session], sessions: list[Session], hold: threading.Event
) -> None:
    for _ in range(MOST_LOST):
        lose(workers, hold)
    hold.set()
    for thread in list(workers.quota.lost):
        thread.join(LONG)
    assert call(workers, lambda session: session is sessions[MOST_LOST])


@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_caller_waits_for_nothing(
    workers: Workers[Session], sessions: list[Session], hold: threading.Event
) -> None:
    def press(_: Session) -> None:
        time.sleep(SOON)  # a signal that comes just before the caller waits is heard when it has waited
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        hold.wait()

    with pytest.raises(KeyboardInterrupt):
        call(workers, press)
    assert sessions[0].interrupted.is_set()
    assert call(workers, lambda session: session is sessions[1])


def test_who_finds_all_connections_at_work_waits_no_longer_than_the_limit(
    workers: Workers[Session],
) -> None:
    with (
        workers.one(Deadline(LONG)),
        workers.one(Deadline(LONG)),
        pytest.raises(QueryTimeoutError, match=r"waited longer than 0.05 s for other queries"),
    ):
        call(workers, lambda session: session, SOON)
    assert call(workers, lambda session: session)


def test_a_connection_that_becomes_free_goes_to_who_waits(
    workers: Workers[Session], hold: threading.Event
) -> None:
    served = threading.Event()

    def ask() -> None:
        call(workers, lambda _: served.set())

    waiting = threading.Thread(target=ask)
    with workers.one(Deadline(LONG)):
        with workers.one(Deadline(LONG)):
            waiting.start()
            assert not served.is_set()
        assert served.wait(LONG)
    waiting.join(LONG)


def test_an_error_of_the_work_is_raised_where_it_was_asked_for(workers: Workers[Session]) -> None:
    def fail(_: Session) -> None:
        raise ExecutionError("failed here")

    with pytest.raises(ExecutionError, match="failed here") as caught:
        call(workers, fail)
    assert caught.value.__context__ is None
    assert call(workers, lambda session: session)


def test_a_connection_that_cannot_be_opened_is_tried_again() -> None:
    tries: list[int] = []

    def open_session() -> Session:
        tries.append(1)
        if len(tries) == 1:
            raise ExecutionError("no such database")
        return Session()

    workers = Workers(open_session, 1)
    with pytest.raises(ExecutionError, match="no such database"):
        call(workers, lambda session: session)
    assert call(workers, lambda session: session)
    workers.close()


def test_closing_ends_threads_and_connections(workers: Workers[Session], sessions: list[Session]) -> None:
    with workers.one(Deadline(LONG)) as worker:
        worker.call(lambda session: session, Deadline(LONG))
        workers.close()
        assert sessions[0].closed.wait(LONG)
        with pytest.raises(ExecutionError, match="executor: is closed"):
            worker.call(lambda session: session, Deadline(LONG))
    worker.thread.join(LONG)
    assert not worker.thread.is_alive()
    with pytest.raises(ExecutionError, match="is closed"):
        call(workers, lambda session: session)


def test_closing_lets_the_caller_of_a_deaf_engine_go(
    workers: Workers[Session], sessions: list[Session], hold: threading.Event
) -> None:
    def close(_: Session) -> None:
        threading.Thread(target=workers.close).start()
        hold.wait()

    with pytest.raises(ExecutionError, match="executor: is closed"):
        call(workers, close)
    assert sessions[0].interrupted.is_set()
    hold.set()
    assert sessions[0].closed.wait(LONG)


def test_a_call_that_meets_a_closed_executor_is_not_begun(workers: Workers[Session]) -> None:
    begun: list[object] = []
    with workers.one(Deadline(LONG)) as worker:
        workers.close()
        with pytest.raises(ExecutionError, match="executor: is closed"):
            worker.call(begun.append, Deadline(LONG))
    assert begun == []


def test_workers_that_nobody_closed_leave_no_thread_behind(sessions: list[Session]) -> None:
    def open_session() -> Session:
        sessions.append(Session())
        return sessions[-1]

    workers = Workers(open_session, 1)
    thread = call(workers, lambda _: threading.current_thread())
    del workers
    gc.collect()
    assert isinstance(thread, threading.Thread)
    thread.join(LONG)
    assert not thread.is_alive()
    assert sessions[0].closed.is_set()
