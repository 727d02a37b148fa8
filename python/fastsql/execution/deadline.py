"""The moment at which a query must be done."""

from __future__ import annotations

import time

from fastsql.execution.executor import too_late


class Deadline:
    """The moment at which a query must be done; `time_limit` is in seconds."""

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit
        self.moment = time.monotonic() + time_limit

    def passed(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.moment

    def remaining(self) -> float:
        """Seconds that are left.

        Raises:
            QueryTimeoutError: none are.
        """
        left = self.moment - time.monotonic()
        if left <= 0:
            raise too_late(self.time_limit)
        return left
