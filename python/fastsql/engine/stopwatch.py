"""How long each stage of a parse took."""

from __future__ import annotations

import time
from collections.abc import Mapping


class Stopwatch:
    """Milliseconds a stage, in the order of the stages; a stage that comes again adds to its time."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """The stage that began with the last lap has ended."""
        now = time.perf_counter()
        self._add(stage, (now - self._last) * 1000)
        self._last = now

    def add(self, laps: Mapping[str, float]) -> None:
        """Several stages have ended since the last lap, which somebody else timed."""
        for stage, milliseconds in laps.items():
            self._add(stage, milliseconds)
        self._last = time.perf_counter()

    def _add(self, stage: str, milliseconds: float) -> None:
        self.laps[stage] = self.laps.get(stage, 0.0) + milliseconds
