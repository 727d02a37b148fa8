"""The watchdog acts on what is not over in time, on nothing else, and once."""

from __future__ import annotations

import os
import threading
import time

from fastsql.execution.watchdog import Watchdog


def test_a_watchdog_acts_when_the_moment_comes_and_says_so() -> None:
    dog = Watchdog()
    acted = threading.Event()
    watch = dog.begin(time.monotonic() + 0.01, acted.set)
    assert acted.wait(20)
    assert dog.end(watch)


def test_work_that_ended_before_the_moment_is_left_alone() -> None:
    dog = Watchdog()
    acted: list[str] = []
    done = threading.Event()
    moment = time.monotonic() + 0.05
    ended = [dog.begin(moment, lambda: acted.append("ended")) for _ in range(100)]
    assert not any(dog.end(watch) for watch in ended)
    dog.begin(moment + 0.01, done.set)
    assert done.wait(20)
    assert acted == []


def test_a_watchdog_asleep_until_a_later_moment_misses_no_earlier_one() -> None:
    dog = Watchdog()
    later, earlier = threading.Event(), threading.Event()
    far = dog.begin(time.monotonic() + 600, later.set)
    dog.begin(time.monotonic() + 0.01, earlier.set)
    assert earlier.wait(20)
    assert not dog.end(far)
    assert not later.is_set()


def test_many_threads_may_share_a_watchdog() -> None:
    dog = Watchdog()
    fired: list[bool] = []

    def use() -> None:
        for number in range(200):
            moment = time.monotonic() + (600 if number % 2 else -1)
            watch = dog.begin(moment, lambda: None)
            if number % 2:
                fired.append(dog.end(watch))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fired == [False] * 800
    assert not dog._live or all(watch.moment < time.monotonic() for watch in dog._live)


def test_a_forked_child_has_a_watchdog() -> None:
    dog = Watchdog()
    dog.begin(time.monotonic() + 600, lambda: None)
    child = os.fork()
    if child == 0:
        acted = threading.Event()
        dog.begin(time.monotonic() + 0.01, acted.set)
        os._exit(0 if acted.wait(20) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
