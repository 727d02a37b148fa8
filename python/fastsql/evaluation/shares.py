"""Shares of counted questions, in percent, with Wilson's interval (Wilson, 1927)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

FEW = 40
"""Below so many questions, Brown, Cai and DasGupta (2001) advise Wilson's interval."""
FEW_OF_A_KIND = 5
"""Fewer right ones, or fewer wrong ones, than this, and a bootstrap draws hardly anything else than the others."""
_Z = 1.959964


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of n, all from 0 to 1."""
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True)
class Share:
    """`count` of `n` questions."""

    count: int
    n: int

    @classmethod
    def of(cls, outcomes: Iterable[bool]) -> Share:
        """The share of true outcomes."""
        values = list(outcomes)
        return cls(sum(values), len(values))

    @property
    def percent(self) -> float | None:
        """The share, 0 to 100; None of no questions."""
        return round(100 * self.count / self.n, 4) if self.n else None

    @property
    def is_of_few(self) -> bool:
        """Whether a bootstrap of it says too little: of few questions, or with few of one outcome."""
        return self.n < FEW or min(self.count, self.n - self.count) < FEW_OF_A_KIND

    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval in percent; None of no questions."""
        if not self.n:
            return None
        low, high = wilson(self.count / self.n, self.n)
        return round(100 * low, 4), round(100 * high, 4)
