"""Reading the cells of many columns: how long one may take, who is told, and what an interruption leaves."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from fastsql.limits import check_seconds

COLUMN_SECONDS = 10.0
"""Seconds that reading the values of one column may take, if nothing else is said."""

Progress: TypeAlias = "Callable[[int, int, str], object]"
"""Called before each column with how many are done, how many there are, and "table.column"; False ends the reading."""


class ReadingInterrupted(KeyboardInterrupt):
    """Ctrl-C while values were read. ``partial`` is what would have been returned, of the columns read until then."""

    def __init__(self, partial: Any) -> None:
        self.partial = partial
        super().__init__("reading values was interrupted; what was read is this exception's 'partial'")


class Pace:
    """The columns of one reading, from the first to wherever it ends."""

    def __init__(self, seconds: float = COLUMN_SECONDS, progress: Progress | bool | None = None) -> None:
        """`progress` True shows a line on the standard error. Raises LimitError for seconds that are no limit."""
        check_seconds(seconds, "column_seconds")
        self.seconds = seconds
        self.interrupted = False
        """Whether Ctrl-C ended it."""
        self.unread: list[str] = []
        """Columns that it did not come to."""
        self._progress: Progress | None = show_progress if progress is True else progress or None

    def each(self, names: Sequence[str]) -> Iterator[int]:
        """The places of columns one by one, until the last, Ctrl-C, or a callback that says False."""
        for place, name in enumerate(names):
            if self.interrupted or not self._goes_on(place, len(names), name):
                self.unread += names[place:]
                return
            yield place
        self._goes_on(len(names), len(names), "")

    def _goes_on(self, done: int, total: int, name: str) -> bool:
        """Tell of the progress; whether nobody wants it to end."""
        try:
            return self._progress is None or self._progress(done, total, name) is not False
        except KeyboardInterrupt:
            self.interrupted = True
            return False

    @contextmanager
    def column(self, name: str) -> Iterator[None]:
        """The reading of one column: Ctrl-C within ends all of it, after what has been read."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True
            self.unread.append(name)


class Deadline:
    """The time that is left for one column, and a way to end a query that takes longer."""

    def __init__(self, seconds: float, end: Callable[[], object] | None = None) -> None:
        """`end` is called from another thread when the time is up while `running`."""
        self.seconds = seconds
        self.passed = False
        self._moment = time.monotonic() + seconds
        self._end = end

    @property
    def left(self) -> float:
        """Seconds, 0 where there are none."""
        return max(self._moment - time.monotonic(), 0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """A query runs: it is ended when the time is up."""
        if self._end is None:
            yield
            return
        timer = threading.Timer(self.left, self._pass)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _pass(self) -> None:
        self.passed = True
        if self._end is not None:
            self._end()


def show_progress(done: int, total: int, name: str) -> None:
    """A line on the standard error that says which column is read, rewritten in a terminal."""
    live = sys.stderr.isatty()
    if not live and done not in (0, total):
        return
    text = f"reading values: {done:,} of {total:,} columns  {name}"
    sys.stderr.write(f"\r{text[:110]:<110}" if live else f"{text.rstrip()}\n")
    if live and done == total:
        sys.stderr.write("\n")
    sys.stderr.flush()
