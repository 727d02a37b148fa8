"""Whether something ends in time, on machines that are busy, too.

A busy machine delays now one try and now another; a limit that does not hold delays every one of them. So the best of up to
three tries has to be within the bound. What else must hold, holds in each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from fastsql.execution import QueryTimeoutError

TRIES = 3
_PATIENCE = 60.0
"""Seconds within which a worker process starts, or a connection is made, on any machine."""
Found = TypeVar("Found")


def in_time(bound: float, work: Callable[[], object], *, prepare: Callable[[], object] = bool) -> None:
    """Do a piece of work up to three times, until one try takes less than `bound` seconds.

    Args:
        prepare: called before each try, in time that does not count.

    Raises:
        AssertionError: each took longer.
    """

    def seconds() -> float:
        prepare()
        begun = time.monotonic()
        work()
        return time.monotonic() - begun

    once_within(bound, seconds)


def once_within(bound: float, seconds: Callable[[], float]) -> None:
    """Measure up to three times, until one measurement is less than `bound`.

    Raises:
        AssertionError: none is.
    """
    taken = []
    while len(taken) < TRIES:
        taken.append(seconds())
        if taken[-1] < bound:
            return
    raise AssertionError(f"took {min(taken):.2f} s at best, which is not within {bound:g} s")


def patiently(work: Callable[[], Found]) -> Found:
    """What a piece of work gives as soon as it does not reach its time limit: something may have to start for it."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with suppress(QueryTimeoutError):
            return work()
    raise AssertionError(f"was too late again and again, for {_PATIENCE:g} s")
