"""Numbers as people read them."""

from __future__ import annotations

_MOST_DECIMALS = 16


def told_apart(one: float, other: float, decimals: int = 2) -> tuple[str, str]:
    """Two numbers with as many decimals as it takes to see which is larger, at least `decimals`."""
    for places in range(decimals, _MOST_DECIMALS + 1):
        shown = f"{one:.{places}f}", f"{other:.{places}f}"
        if shown[0] != shown[1] or one == other:
            break
    return shown


def milliseconds(value: float) -> str:
    """A duration with as many decimals as tell something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
