"""Where a run is, how long it has taken, and how its loss goes."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass
class Position:
    """Where a run is; all of it goes into a checkpoint."""

    epoch: int = 0
    batch: int = 0
    batches: int = 1
    step: int = 0
    seconds: float = 0.0
    left_out: int = 0
    best: float = -1.0
    since_best: int = 0

    @property
    def epochs(self) -> float:
        """Epochs done, with a fraction."""
        return self.epoch + self.batch / self.batches


class Clock:
    """Seconds of the run, those before a resume included."""

    def __init__(self, before: float) -> None:
        self._start = time.monotonic() - before

    def seconds(self) -> float:
        """Seconds up to now."""
        return time.monotonic() - self._start


class Smoothed:
    """A running mean that follows slowly."""

    def __init__(self) -> None:
        self.value = 0.0
        self._count = 0

    def add(self, item: float) -> None:
        """Takes one more value in."""
        self._count += 1
        self.value += (item - self.value) / min(self._count, 50)
