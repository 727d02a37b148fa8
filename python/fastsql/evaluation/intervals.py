"""95 % intervals of an evaluation's figures: by bootstrap, but Wilson's for shares of few."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from fastsql.evaluation.bootstrap import LEVEL, Floats, Indices, bootstrap
from fastsql.evaluation.breakdown import TEMPLATES
from fastsql.evaluation.calibration import Flags, calibration_error
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.scores import penalties_of, reliability_scores
from fastsql.evaluation.shares import Share

Counts = Callable[[Judged], "tuple[bool, bool]"]
"""Whether a question is of those that a share counts, and whether it is of those that count."""

SHARES: Mapping[str, Counts] = {
    "ex": lambda item: (item.has_answer, bool(item.verdict.correct)),
    "em": lambda item: (item.answerable, item.verdict.em),
    "em_values": lambda item: (item.answerable, item.verdict.em_values),
    "valid_sql": lambda item: (item.verdict.runs is not None, bool(item.verdict.runs)),
    "se": lambda item: (not item.answerable, item.prediction.abstained),
    "sp": lambda item: (item.answerable, not item.prediction.abstained),
    "ex_gold_not_empty": lambda item: (
        item.has_answer and item.verdict.gold_void is False,
        bool(item.verdict.correct),
    ),
    "seen.ex": lambda item: (item.has_answer and item.seen is True, bool(item.verdict.correct)),
    "seen.sp": lambda item: (item.answerable and item.seen is True, not item.prediction.abstained),
    "unseen.ex": lambda item: (item.has_answer and item.seen is False, bool(item.verdict.correct)),
    "unseen.sp": lambda item: (item.answerable and item.seen is False, not item.prediction.abstained),
}


def intervals_of(
    judged: Sequence[Judged], confidence: Floats, right: Flags, resamples: int, seed: int
) -> dict[str, Any]:
    """[low, high] of every figure, drawing questions and drawing templates, and which shares have Wilson's instead.

    A figure that is not defined has None.
    """
    names, above, below = _ratios(judged)

    def statistics(indices: Indices) -> list[float]:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = 100 * above[indices].sum(axis=0) / below[indices].sum(axis=0)
        return [*shares, calibration_error(confidence[indices], right[indices])]

    few = {name: share.interval() for name, share in _shares(judged).items() if share.is_of_few and share.n}
    found: dict[str, Any] = {"level": LEVEL, "resamples": resamples, "wilson": sorted(few)}
    for kind, clusters in (("by_example", None), ("by_template", _clusters(judged))):
        low, high = bootstrap(statistics, len(judged), clusters, rounds=resamples, seed=seed)
        drawn = zip((*names, "ece"), low, high, strict=True)
        found[kind] = {
            name: few.get(name, None if math.isnan(one) else (round(float(one), 4), round(float(other), 4)))
            for name, one, other in drawn
        }
    return found


def _shares(judged: Sequence[Judged]) -> dict[str, Share]:
    counted = {name: [counts(item) for item in judged] for name, counts in SHARES.items()}
    return {name: Share.of(yes for asked, yes in found if asked) for name, found in counted.items()}


def _ratios(judged: Sequence[Judged]) -> tuple[list[str], Floats, Floats]:
    """Names of the figures that are ratios of sums, and what each question adds above and below the line.

    Both float64[n, figures].
    """
    scores = reliability_scores(judged)
    penalties = penalties_of(len(judged))
    above, below = [], []
    for index, item in enumerate(judged):
        score = 0 if scores is None else scores[index]
        weighted = [float(score if score > 0 else score * penalty) for penalty in penalties.values()]
        counts = [counts(item) for counts in SHARES.values()]
        above.append([*(asked and yes for asked, yes in counts), *weighted])
        below.append([*(asked for asked, _ in counts), *[scores is not None] * len(penalties)])
    names = [*SHARES, *(f"rs_{name}" for name in penalties)]
    return names, np.array(above, dtype=np.float64), np.array(below, dtype=np.float64)


def _clusters(judged: Sequence[Judged]) -> list[Hashable]:
    """What questions are drawn with: their gold's skeleton; without gold, the stated template or nothing else."""
    template = TEMPLATES["template"]
    return [item.skeleton or ("question", template(item) or item.prediction.id) for item in judged]
