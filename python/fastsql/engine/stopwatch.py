"""How long each stage of a parse took."""

from __future__ import annotations

import time
from collections.abc import Mapping


class Stopwatch:
    """Milliseconds a stage, in the order of the stages."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """The stage that began with the last lap has ended."""
        now = time.perf_counter()
        self.laps[stage] = (now - self._last) * 1000
        self._last = now

    def add(self, laps: Mapping[str, float]) -> None:
        """Several stages have ended since the last lap, which somebody else timed."""
        self.laps |= laps
        self._last = time.perf_counter()
