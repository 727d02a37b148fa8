"""The fourth stage where nothing is run: the likeliest hypothesis, unless it contradicts a reference table."""

from __future__ import annotations

from fastsql.limits import Limits
from fastsql.parser.assess import Assessed, assess
from fastsql.parser.write import Written, runnable
from fastsql.reliability.assess import Reliability


def assess_consistent(first: Written, reliability: Reliability, limits: Limits) -> Assessed:
    """The hypothesis to be given, `first` being the likeliest before its contradictions count.

    Only where it has one are the others looked at: nothing else tells hypotheses apart better than the search does.
    """
    assessed = assess(first, reliability)
    if first.fault or not assessed.contradictions:
        return assessed
    others = [assess(other, reliability) for n in first.others if (other := runnable(first, n, limits))]
    free = [other for other in others if not other.contradictions]
    return max((assessed, *free), key=lambda one: one.confidence)
