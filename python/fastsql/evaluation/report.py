"""From verdicts to figures. All rates are percentages, 0 to 100."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastsql.evaluation.judge import Verdict
from fastsql.evaluation.predictions import Prediction

PENALTIES = (0, 5, 10)
QUANTILES = (50, 90, 99)


@dataclass(frozen=True)
class Judged:
    """A question's prediction with its verdict; `seen` is None where no training set was named."""

    prediction: Prediction
    verdict: Verdict
    answerable: bool
    seen: bool | None = None
    latency_ms: float | None = None

    @property
    def has_answer(self) -> bool:
        """Whether a gold result could be compared with."""
        return self.answerable and self.verdict.correct is not None


@dataclass(frozen=True)
class Report:
    """The figures of an evaluation, and the predictions they are about."""

    judged: tuple[Judged, ...]
    penalty: float | None = None
    errors: tuple[str, ...] = field(default=(), repr=False)
    """Kinds of the errors that the parser raised, one a question."""

    @property
    def predictions(self) -> tuple[Prediction, ...]:
        """The predictions in the order of the examples."""
        return tuple(item.prediction for item in self.judged)

    def to_json(self) -> dict[str, Any]:
        """The figures under the documented keys; what is beyond them lies under "details"."""
        answerable = [item for item in self.judged if item.answerable]
        scores = reliability_scores(self.judged)
        given = [item.verdict.runs for item in self.judged if item.verdict.runs is not None]
        latencies = [item.latency_ms for item in self.judged if item.latency_ms is not None]
        return {
            "n": len(self.judged),
            "ex": execution_accuracy(answerable),
            "em": percentage(item.verdict.em for item in answerable),
            "em_values": percentage(item.verdict.em_values for item in answerable),
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
                details[name] = {
                    "n": len(part),
                    "ex": execution_accuracy(part),
                    "em": percentage(item.verdict.em for item in part),
                    "em_values": percentage(item.verdict.em_values for item in part),
                }
        return details


def execution_accuracy(judged: Iterable[Judged]) -> float | None:
    """Share of best hypotheses with gold's result, before refusal, over questions that have one; None if there are none."""
    return percentage(bool(item.verdict.correct) for item in judged if item.has_answer)


def reliability_scores(judged: Sequence[Judged]) -> list[int] | None:
    """1, 0 or -1 a question, as in the EHRSQL scorer; None where an answerable question has no database.

    Answerable: 1 for the right answer, 0 for a refusal, -1 for a wrong answer. Unanswerable: 1 for a refusal, else -1.
    """
    scores = []
    for item in judged:
        if item.answerable and not item.has_answer:
            return None
        if item.answerable:
            scores.append(0 if item.prediction.abstained else 1 if item.verdict.correct else -1)
        else:
            scores.append(1 if item.prediction.abstained else -1)
    return scores


def reliability(scores: Sequence[int] | None) -> dict[str, float | None]:
    """RS(c) for c = 0, 5, 10 and the number of questions: the mean score, a wrong answer counting -c, in percent."""
    size = len(scores or ())
    penalties = {**{str(penalty): penalty for penalty in PENALTIES}, "N": size}
    if not scores:
        return dict.fromkeys(penalties)
    right, wrong = scores.count(1), scores.count(-1)
    return {name: round(100 * (right - penalty * wrong) / size, 4) for name, penalty in penalties.items()}


def percentage(outcomes: Iterable[bool]) -> float | None:
    """Share of true outcomes in percent, or None if there are none."""
    values = list(outcomes)
    return round(100 * sum(values) / len(values), 4) if values else None


def percentile(values: Iterable[float], quantile: float) -> float | None:
    """The nearest-rank percentile, or None if there are no values."""
    ordered = sorted(values)
    return round(ordered[max(math.ceil(quantile / 100 * len(ordered)), 1) - 1], 3) if ordered else None
