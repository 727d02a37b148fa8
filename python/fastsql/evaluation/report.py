"""From verdicts to figures. All rates are percentages, 0 to 100; what concerns confidences is on their scale, 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fastsql.datasets.interactions import is_conversational
from fastsql.evaluation.bootstrap import ROUNDS
from fastsql.evaluation.breakdown import KINDS, TEMPLATES, parts_of, spread
from fastsql.evaluation.calibration import (
    BINS,
    PRECISIONS,
    Flags,
    Floats,
    calibration_error,
    reliability_bins,
    risk_coverage,
)
from fastsql.evaluation.categories import sort_by_category
from fastsql.evaluation.interactions import InteractionScores, interaction_scores
from fastsql.evaluation.intervals import intervals_of
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.predictions import Prediction
from fastsql.evaluation.provenance import Provenance
from fastsql.evaluation.scores import (
    answered_answerable,
    exact_match,
    execution_accuracy,
    percentile,
    refused_unanswerable,
    reliability,
    reliability_scores,
)
from fastsql.evaluation.shares import Share

QUANTILES = (50, 90, 99)


@dataclass(frozen=True)
class Report:
    """The figures of an evaluation, and the predictions they are about."""

    judged: tuple[Judged, ...] = field(repr=False)
    provenance: Provenance = field(default_factory=Provenance)
    errors: tuple[str, ...] = field(default=(), repr=False)
    """Kinds of the errors that the parser raised, one a question."""
    resamples: int = ROUNDS
    """Draws of the bootstrap; 0 leaves the intervals of the main figures out."""

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

    @cached_property
    def interactions(self) -> InteractionScores | None:
        """The figures of conversations; None where the questions are not turns of some."""
        if not is_conversational([item.example for item in self.judged]):
            return None
        return interaction_scores(self.judged, resamples=self.resamples, seed=self.provenance.seed)

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
            "valid_sql": Share.of(given).percent,
            "latency_ms": {f"p{quantile}": percentile(latencies, quantile) for quantile in QUANTILES},
            **({} if self.interactions is None else {"interactions": self.interactions.to_json()}),
            "details": self._details(answerable),
        }

    def _details(self, answerable: Sequence[Judged]) -> dict[str, Any]:
        published = [item.verdict.published for item in answerable if item.verdict.published is not None]
        details: dict[str, Any] = {
            "provenance": self.provenance.to_json(),
            "answerable": len(answerable),
            "unanswerable": len(self.judged) - len(answerable),
            "with_database": sum(item.has_answer for item in answerable),
            "abstained_answerable": sum(item.prediction.abstained for item in answerable),
            "se": refused_unanswerable(self.judged).percent,
            "sp": answered_answerable(self.judged).percent,
            "gold_empty": sum(bool(item.verdict.gold_void) for item in answerable),
            "ex_gold_not_empty": execution_accuracy(
                item for item in answerable if item.verdict.gold_void is False
            ).percent,
            "gold_failed": sum(item.verdict.gold_failed for item in answerable),
            "gold_published": Share.of(published).percent,
            "timeouts": sum(item.verdict.timed_out for item in self.judged),
            "penalty": self.provenance.penalty,
            "errors": {kind: self.errors.count(kind) for kind in sorted(set(self.errors))},
        }
        for name, seen in (("seen", True), ("unseen", False)):
            part = [item for item in answerable if item.seen is seen]
            if any(item.seen is not None for item in answerable):
                details[name] = {"n": len(part), **_accuracies(part), **_decisions(part)}
        return {
            **details,
            "intervals": intervals_of(
                self.judged, self.confidence, self.right, self.resamples, self.provenance.seed
            )
            if self.judged and self.resamples
            else None,
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
        return {kind: {part.name: part.to_json() for part in parts} for kind, parts in found.items() if parts}

    def _calibration(self) -> dict[str, Any]:
        curve = risk_coverage(self.confidence, self.right)
        return {
            "bins": BINS,
            "ece": _rounded(calibration_error(self.confidence, self.right)),
            "aurc": _rounded(curve.area) if self.judged else None,
            "coverage": {
                str(precision): round(100 * curve.coverage_at(precision / 100), 4) if self.judged else None
                for precision in PRECISIONS
            },
            "curve": [
                {"n": one.n, "confidence": round(one.confidence, 6), "accuracy": round(one.accuracy, 6)}
                for one in reliability_bins(self.confidence, self.right)
            ],
        }


def _accuracies(answerable: Sequence[Judged]) -> dict[str, float | None]:
    return {
        "ex": execution_accuracy(answerable).percent,
        "em": exact_match(answerable, values=False).percent,
        "em_values": exact_match(answerable, values=True).percent,
    }


def _decisions(answerable: Sequence[Judged]) -> dict[str, float | int | None]:
    scores = reliability_scores(answerable)
    return {
        "sp": answered_answerable(answerable).percent,
        "wrong": None if scores is None else sum(score < 0 for score in scores),
    }


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)
