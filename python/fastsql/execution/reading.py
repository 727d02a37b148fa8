"""A running query that its reader cannot hold longer than the time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fastsql.execution.executor import Fetching, too_late

_BATCH = 1_000
"""Rows that are fetched at a time when a reader goes row by row."""


class Deadline:
    """The moment at which a query must be done; `time_limit` is in seconds."""

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit
        self._moment = time.monotonic() + time_limit

    def remaining(self) -> float:
        """Seconds that are left.

        Raises:
            QueryTimeoutError: none are.
        """
        left = self._moment - time.monotonic()
        if left <= 0:
            raise too_late(self.time_limit)
        return left


class BoundedCursor:
    """A cursor that looks at the clock before each fetch.

    Args:
        cursor: a driver's cursor, with its query running.
        deadline: when reading must end.
        before_fetch: called with the seconds that are left before each fetch.
    """

    def __init__(
        self, cursor: Fetching, deadline: Deadline, before_fetch: Callable[[float], None] | None = None
    ) -> None:
        self._cursor = cursor
        self._deadline = deadline
        self._before_fetch = before_fetch

    @property
    def description(self) -> Any:
        """One sequence a column, beginning with its name."""
        return self._cursor.description

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows, at most `size` of them; none at the end.

        Raises:
            QueryTimeoutError: the time is up.
        """
        left = self._deadline.remaining()
        if self._before_fetch is not None:
            self._before_fetch(left)
        return self._cursor.fetchmany(size)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while rows := self.fetchmany(_BATCH):
            yield from rows
