"""Numbers and verdicts as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsql.result import Result

GUESS = "Best guess, not an answer"
"""What stands above the best hypothesis of a refusal."""
_MOST_DECIMALS = 16


def told_apart(one: float, other: float, decimals: int = 2) -> tuple[str, str]:
    """Two numbers with as many decimals as it takes to see which is larger, at least `decimals`."""
    for places in range(decimals, _MOST_DECIMALS + 1):
        shown = f"{one:.{places}f}", f"{other:.{places}f}"
        if shown[0] != shown[1] or one == other:
            break
    return shown


def certainty(result: Result) -> str:
    """How sure a result is, what it takes to answer, and how probably there is no answer, if the model knows that."""
    told = f"confidence {result.confidence:.2f}"
    if result.threshold is not None:
        shown, needed = told_apart(result.confidence, result.threshold)
        told = f"confidence {shown}, needed {needed}"
    return f"{told}; probability of no answer {result.unanswerable:.2f}" if result.unanswerable else told


def further_suggestions(result: Result) -> list[str]:
    """The sentences of suggestions that the reason does not say already."""
    return [suggestion.text for suggestion in result.suggestions if suggestion.text != result.reason]


def milliseconds(value: float) -> str:
    """A duration with as many decimals as tell something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
