"""How far confidences can be trusted: calibration, and the risk at every coverage.

All on the scale of the confidence, 0 to 1. A prediction is right if its answer is; whatever is written for a question that
has no answer is wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastsql.evaluation.shares import wilson

Floats: TypeAlias = "NDArray[np.float64]"
Flags: TypeAlias = "NDArray[np.bool_]"

BINS = 15
PRECISIONS = (90, 95, 99)
"""Shares of right answers, in percent, at which coverage is reported."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Bin:
    """Neighbours in confidence: how many, their mean confidence, how many of them are right."""

    n: int
    confidence: float
    accuracy: float

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy."""
        return wilson(self.accuracy, self.n)


@dataclass(frozen=True)
class RiskCoverage:
    """What answering from a confidence on would mean, for every confidence that occurs, from the highest.

    Arrays of one length: `threshold`; `coverage`, the share of questions answered; `risk`, the share of wrong ones among
    them.
    """

    threshold: Floats
    coverage: Floats
    risk: Floats

    @property
    def area(self) -> float:
        """Area under the curve: the mean risk over all coverages (AURC; Geifman et al., 2019)."""
        return float(np.sum(self.risk * np.diff(self.coverage, prepend=0.0)))

    def coverage_at(self, precision: float) -> float:
        """The largest share of questions that may be answered with `precision` (0 to 1) of them right; 0 where none may."""
        found = self.coverage[self.risk <= 1 - precision + _ROUNDING]
        return float(found.max(initial=0.0))


def reliability_bins(confidence: Floats, right: Flags, bins: int = BINS) -> tuple[Bin, ...]:
    """The reliability diagram's bins of equal mass, by rising confidence; empty ones are left out."""
    order = np.argsort(confidence, kind="stable")
    edges = np.arange(bins + 1) * len(order) // bins
    parts = [order[start:stop] for start, stop in pairwise(edges) if stop > start]
    return tuple(Bin(len(part), float(confidence[part].mean()), float(right[part].mean())) for part in parts)


def calibration_error(confidence: Floats, right: Flags, bins: int = BINS) -> float:
    """Expected calibration error (Naeini et al., 2015): mean distance of confidence and accuracy over bins of equal mass.

    NaN where there are no predictions. Chance alone puts a perfect confidence above 0, by about ``0.8 sqrt(p(1-p)/n)`` with
    n predictions a bin.
    """
    if not len(confidence):
        return math.nan
    order = np.argsort(confidence, kind="stable")
    edges = np.arange(bins + 1) * len(order) // bins
    sums = np.concatenate([[0.0], np.cumsum(confidence[order] - right[order])])
    return float(np.abs(np.diff(sums[edges])).sum() / len(order))


def risk_coverage(confidence: Floats, right: Flags) -> RiskCoverage:
    """The risk-coverage curve (El-Yaniv and Wiener, 2010). Questions of one confidence are answered together."""
    order = np.argsort(-confidence, kind="stable")
    found, wrong = confidence[order], np.cumsum(~right[order])
    last = np.append(found[1:] != found[:-1], True)[: len(found)]
    answered = np.arange(1, len(found) + 1)[last]
    return RiskCoverage(found[last], answered / max(len(found), 1), wrong[last] / answered)
