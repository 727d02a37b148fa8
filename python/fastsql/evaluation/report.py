"""From verdicts to figures. All rates are percentages, 0 to 100; what concerns confidences is on their scale, 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fastsql.evaluation.bootstrap import LEVEL, ROUNDS, Indices, bootstrap
from fastsql.evaluation.breakdown import KINDS, TEMPLATES, parts_of, spread
from fastsql.evaluation.calibration import (
    BINS,
    Flags,
    Floats,
    calibration_error,
    reliability_bins,
    risk_coverage,
)
from fastsql.evaluation.categories import sort_by_category
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.predictions import Prediction
from fastsql.evaluation.scores import (
    answered_answerable,
    exact_match,
    execution_accuracy,
    penalties_of,
    percentage,
    percentile,
    refused_unanswerable,
    reliability,
    reliability_scores,
)

QUANTILES = (50, 90, 99)


@dataclass(frozen=True)
class Report:
    """The figures of an evaluation, and the predictions they are about."""

    judged: tuple[Judged, ...] = field(repr=False)
    penalty: float | None = None
    errors: tuple[str, ...] = field(default=(), repr=False)
    """Kinds of the errors that the parser raised, one a question."""
    resamples: int = ROUNDS
    """Draws of the bootstrap; 0 leaves the intervals out."""

    @property
    def predictions(self) -> tuple[Prediction, ...]:
        """The predictions in the order of the examples."""
        return tuple(item.prediction for item in self.judged)

    @cached_property
    def confidence(self) -> Floats:
        """float64[n]: the confidence of every prediction, 0 where there is none."""
        return np.array([item.prediction.confidence for item in self.judged], dtype=np.float64)

    @cached_property
    def right(self) -> Flags:
        """bool[n]: whether the best hypothesis is right."""
        return np.array([item.right for item in self.judged], dtype=np.bool_)

    def to_json(self) -> dict[str, Any]:
        """The figures under the documented keys; what is beyond them lies under "details".

        It holds no question, no SQL and no value: templates are counted, not named.
        """
        answerable = [item for item in self.judged if item.answerable]
        scores = reliability_scores(self.judged)
        given = [item.verdict.runs for item in self.judged if item.verdict.runs is not None]
        latencies = [item.latency_ms for item in self.judged if item.latency_ms is not None]
        return {
            "n": len(self.judged),
            **_accuracies(answerable),
            "rs": reliability(scores),
            "wrong": None if scores is None else sum(score < 0 for score in scores),
            "abstained": sum(item.prediction.abstained for item in self.judged),
            "valid_sql": percentage(given),
            "latency_ms": {f"p{quantile}": percentile(latencies, quantile) for quantile in QUANTILES},
            "details": self._details(answerable),
        }

    def _details(self, answerable: Sequence[Judged]) -> dict[str, Any]:
        published = [item.verdict.published for item in answerable if item.verdict.published is not None]
        details: dict[str, Any] = {
            "answerable": len(answerable),
            "unanswerable": len(self.judged) - len(answerable),
            "with_database": sum(item.has_answer for item in answerable),
            "abstained_answerable": sum(item.prediction.abstained for item in answerable),
            "se": refused_unanswerable(self.judged),
            "sp": answered_answerable(self.judged),
            "gold_empty": sum(bool(item.verdict.gold_void) for item in answerable),
            "ex_gold_not_empty": execution_accuracy(
                [item for item in answerable if item.verdict.gold_void is False]
            ),
            "gold_failed": sum(item.verdict.gold_failed for item in answerable),
            "gold_published": percentage(published),
            "timeouts": sum(item.verdict.timed_out for item in self.judged),
            "penalty": self.penalty,
            "errors": {kind: self.errors.count(kind) for kind in sorted(set(self.errors))},
        }
        for name, seen in (("seen", True), ("unseen", False)):
            part = [item for item in answerable if item.seen is seen]
            if any(item.seen is not None for item in answerable):
                details[name] = {"n": len(part), **_accuracies(part), **_decisions(part)}
        return {
            **details,
            "intervals": self._intervals(),
            "calibration": self._calibration(),
            "categories": {
                kind: {name: len(items) for name, items in found.items()}
                for kind, found in sort_by_category(self.judged).items()
            },
            "parts": self._parts(),
            "templates": {
                name: spread(parts)
                for name, key in TEMPLATES.items()
                if (parts := parts_of(self.judged, key))
            },
        }

    def _parts(self) -> dict[str, dict[str, Any]]:
        found = {kind: parts_of(self.judged, key) for kind, key in KINDS.items()}
        return {
            kind: {
                part.name: {key: value for key, value in asdict(part).items() if key != "name"}
                for part in parts
            }
            for kind, parts in found.items()
            if parts
        }

    def _calibration(self) -> dict[str, Any]:
        curve = risk_coverage(self.confidence, self.right)
        return {
            "bins": BINS,
            "ece": _rounded(calibration_error(self.confidence, self.right)),
            "aurc": _rounded(curve.area) if self.judged else None,
            "curve": [
                {"n": one.n, "confidence": round(one.confidence, 6), "accuracy": round(one.accuracy, 6)}
                for one in reliability_bins(self.confidence, self.right)
            ],
        }

    def _intervals(self) -> dict[str, Any] | None:
        """95 % intervals [low, high] of the main figures, drawing questions and drawing templates."""
        if not self.judged or not self.resamples:
            return None
        names, above, below = self._ratios()

        def statistics(indices: Indices) -> list[float]:
            with np.errstate(invalid="ignore", divide="ignore"):
                shares = 100 * above[indices].sum(axis=0) / below[indices].sum(axis=0)
            return [*shares, calibration_error(self.confidence[indices], self.right[indices])]

        found: dict[str, Any] = {"level": LEVEL, "resamples": self.resamples}
        for kind, clusters in (("by_example", None), ("by_template", self._clusters())):
            low, high = bootstrap(statistics, len(self.judged), clusters, rounds=self.resamples)
            ends = zip(low, high, strict=True)
            found[kind] = {
                name: None if math.isnan(one) else [_rounded(one), _rounded(other)]
                for name, (one, other) in zip((*names, "ece"), ends, strict=True)
            }
        return found

    def _ratios(self) -> tuple[list[str], Floats, Floats]:
        """Names of the figures that are ratios of sums, and what each question adds above and below the line.

        Both float64[n, figures].
        """
        scores = reliability_scores(self.judged)
        penalties = penalties_of(len(self.judged))
        above, below = [], []
        for index, item in enumerate(self.judged):
            correct, verdict = item.has_answer and bool(item.verdict.correct), item.verdict
            score = 0 if scores is None else scores[index]
            weighted = [float(score if score > 0 else score * penalty) for penalty in penalties.values()]
            refused = item.prediction.abstained
            decided = [refused and not item.answerable, item.answerable and not refused]
            above.append([correct, verdict.em, verdict.em_values, bool(verdict.runs), *decided, *weighted])
            counted = [item.has_answer, item.answerable, item.answerable, verdict.runs is not None]
            counted += [not item.answerable, item.answerable]
            below.append([*counted, *[scores is not None] * len(penalties)])
        names = ["ex", "em", "em_values", "valid_sql", "se", "sp", *(f"rs_{name}" for name in penalties)]
        return names, np.array(above, dtype=np.float64), np.array(below, dtype=np.float64)

    def _clusters(self) -> list[Hashable]:
        """What questions are drawn with: their gold's skeleton; without gold, the stated template or nothing else."""
        template = TEMPLATES["template"]
        return [item.skeleton or ("question", template(item) or item.prediction.id) for item in self.judged]


def _accuracies(answerable: Sequence[Judged]) -> dict[str, float | None]:
    return {
        "ex": execution_accuracy(answerable),
        "em": exact_match(answerable, values=False),
        "em_values": exact_match(answerable, values=True),
    }


def _decisions(answerable: Sequence[Judged]) -> dict[str, float | int | None]:
    scores = reliability_scores(answerable)
    return {
        "sp": answered_answerable(answerable),
        "wrong": None if scores is None else sum(score < 0 for score in scores),
    }


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)
