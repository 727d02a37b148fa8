"""Calls of several threads that are answered together."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from fastsql.engine.gathering import Gathering

SOON = 60
"""Seconds after which a test says that something never came."""


class Answering:
    """Answers numbers with their squares, and notes which were asked for together. Closed, it makes them wait."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[int]]] = []
        self.under_way = threading.Semaphore(0)
        self.may_go_on = threading.Semaphore(0)
        self.closed = False

    def __call__(self, key: str, items: Sequence[int]) -> list[int | BaseException]:
        self.calls.append((key, list(items)))
        self.under_way.release()
        if self.closed:
            assert self.may_go_on.acquire(timeout=SOON)
        if 13 in items:
            raise ArithmeticError("13 is in it")
        if 99 in items:
            return []
        return [ValueError(item) if item < 0 else item * item for item in items]


@pytest.fixture
def answering() -> Answering:
    return Answering()


@pytest.fixture
def gathering(answering: Answering) -> Gathering[str, int, int]:
    return Gathering(answering, most=3)


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < end, "it never came"
        os.sched_yield()


def waiting(gathering: Gathering[str, int, int]) -> int:
    return len(gathering._waiting)


def ask_meanwhile(
    gathering: Gathering[str, int, int],
    answering: Answering,
    callers: ThreadPoolExecutor,
    asked: Sequence[tuple[str, int]],
) -> list[Future[int]]:
    """Asks one thing, and while that is being answered the others, one after the other; the answering stays closed."""
    answering.closed = True
    futures = [callers.submit(gathering.ask, "first", 0)]
    assert answering.under_way.acquire(timeout=SOON)
    for number, (key, item) in enumerate(asked, start=1):
        futures.append(callers.submit(gathering.ask, key, item))
        until(lambda number=number: waiting(gathering) == number)  # type: ignore[misc]
    return futures


def test_who_is_alone_is_answered_alone_and_at_once(
    gathering: Gathering[str, int, int], answering: Answering
) -> None:
    assert [gathering.ask("k", item) for item in (2, 3, 4)] == [4, 9, 16]
    assert answering.calls == [("k", [2]), ("k", [3]), ("k", [4])]


def test_what_is_asked_meanwhile_is_answered_together_by_key_and_not_too_much_at_once(
    gathering: Gathering[str, int, int], answering: Answering, callers: ThreadPoolExecutor
) -> None:
    asked = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("a", 5), ("b", 6), ("c", 7)]
    futures = ask_meanwhile(gathering, answering, callers, asked)
    answering.may_go_on.release(len(futures))
    assert [future.result(SOON) for future in futures] == [0, 1, 4, 9, 16, 25, 36, 49]
    assert answering.calls == [("first", [0]), ("a", [1, 3, 4]), ("b", [2, 6]), ("a", [5]), ("c", [7])]
    assert waiting(gathering) == 0


def test_an_answer_is_given_before_the_next_ones_are_sought(
    gathering: Gathering[str, int, int], answering: Answering, callers: ThreadPoolExecutor
) -> None:
    futures = ask_meanwhile(gathering, answering, callers, [("a", 1), ("a", 2), ("b", 3), ("a", 4)])
    answering.may_go_on.release(2)
    assert [future.result(SOON) for future in (*futures[:3], futures[4])] == [0, 1, 4, 16]
    assert answering.under_way.acquire(timeout=SOON)
    assert not futures[3].done()
    answering.may_go_on.release()
    assert futures[3].result(SOON) == 9


def test_an_exception_is_raised_where_its_item_was_asked_for(
    gathering: Gathering[str, int, int], answering: Answering, callers: ThreadPoolExecutor
) -> None:
    futures = ask_meanwhile(gathering, answering, callers, [("a", 1), ("a", -2), ("a", 3)])
    answering.may_go_on.release(2)
    assert isinstance(futures[2].exception(SOON), ValueError)
    assert [futures[number].result(SOON) for number in (0, 1, 3)] == [0, 1, 9]


@pytest.mark.parametrize(("item", "error"), [(13, ArithmeticError), (99, RuntimeError)])
def test_a_call_that_fails_does_so_for_all_it_was_for_and_for_nobody_else(
    gathering: Gathering[str, int, int],
    answering: Answering,
    callers: ThreadPoolExecutor,
    item: int,
    error: type[Exception],
) -> None:
    futures = ask_meanwhile(gathering, answering, callers, [("a", 1), ("a", item), ("b", 3)])
    answering.may_go_on.release(4)
    assert isinstance(futures[1].exception(SOON), error)
    assert isinstance(futures[2].exception(SOON), error)
    assert futures[3].result(SOON) == 9
    assert gathering.ask("a", 5) == 25


@pytest.mark.usefixtures("interrupts")
def test_who_is_interrupted_while_waiting_leaves_the_others_waiting(
    gathering: Gathering[str, int, int], answering: Answering, callers: ThreadPoolExecutor
) -> None:
    (first,) = ask_meanwhile(gathering, answering, callers, [])

    def interrupt() -> int:
        until(lambda: waiting(gathering) == 1)
        later = callers.submit(gathering.ask, "a", 4)
        until(lambda: waiting(gathering) == 2)
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)
        until(lambda: waiting(gathering) == 1)
        answering.may_go_on.release(2)
        return later.result(SOON)

    interrupting = callers.submit(interrupt)
    with pytest.raises(KeyboardInterrupt):
        gathering.ask("a", 3)
    assert (first.result(SOON), interrupting.result(SOON)) == (0, 16)
    assert answering.calls == [("first", [0]), ("a", [4])]


def test_who_is_interrupted_while_answering_leaves_the_others_to_themselves(
    callers: ThreadPoolExecutor,
) -> None:
    answering = Answering()

    def answer(key: str, items: Sequence[int]) -> list[int | BaseException]:
        if items[0] == 1 and len(answering.calls) == 1:
            answering.calls.append((key, list(items)))
            raise KeyboardInterrupt
        return answering(key, items)

    gathering: Gathering[str, int, int] = Gathering(answer, most=3)
    futures = ask_meanwhile(gathering, answering, callers, [("a", 1), ("a", 2), ("a", 3)])
    answering.may_go_on.release(2)
    assert isinstance(futures[1].exception(SOON), KeyboardInterrupt)
    assert [futures[number].result(SOON) for number in (0, 2, 3)] == [0, 4, 9]
    assert answering.calls == [("first", [0]), ("a", [1, 2, 3]), ("a", [2, 3])]


def test_many_threads_each_get_their_own_answers_and_one_answers_at_a_time(
    callers: ThreadPoolExecutor,
) -> None:
    answering = Answering()
    inside = threading.Lock()

    def answer(key: str, items: Sequence[int]) -> list[int | BaseException]:
        assert inside.acquire(blocking=False), "two answer at once"
        try:
            assert len(items) <= 3
            return answering(key, items)
        finally:
            inside.release()

    gathering: Gathering[str, int, int] = Gathering(answer, most=3)

    def ask(caller: int) -> list[int]:
        return [gathering.ask("xyz"[number % 3], 100 + caller * number) for number in range(100)]

    found = list(callers.map(ask, range(16)))
    assert found == [[(100 + caller * number) ** 2 for number in range(100)] for caller in range(16)]
    assert sorted(item for _, items in answering.calls for item in items) == sorted(
        100 + caller * number for caller in range(16) for number in range(100)
    )
