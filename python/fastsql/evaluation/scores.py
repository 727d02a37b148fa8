"""The scores of a set of judged questions. All rates are percentages, 0 to 100."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from fastsql.evaluation.judged import Judged

PENALTIES = (0, 5, 10)


def execution_accuracy(judged: Iterable[Judged]) -> float | None:
    """Share of best hypotheses with gold's result, before refusal, over questions that have one; None if there are none."""
    return percentage(bool(item.verdict.correct) for item in judged if item.has_answer)


def exact_match(judged: Iterable[Judged], *, values: bool) -> float | None:
    """Share of best hypotheses of gold's canonical form, over answerable questions; None if there are none."""
    return percentage(
        item.verdict.em_values if values else item.verdict.em for item in judged if item.answerable
    )


def refused_unanswerable(judged: Iterable[Judged]) -> float | None:
    """Se: share of the questions without an answer that are refused; None if there are none."""
    return percentage(item.prediction.abstained for item in judged if not item.answerable)


def answered_answerable(judged: Iterable[Judged]) -> float | None:
    """Sp: share of the questions with an answer that are answered, rightly or wrongly; None if there are none."""
    return percentage(not item.prediction.abstained for item in judged if item.answerable)


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
    penalties = penalties_of(size)
    if not scores:
        return dict.fromkeys(penalties)
    right, wrong = scores.count(1), scores.count(-1)
    return {name: round(100 * (right - penalty * wrong) / size, 4) for name, penalty in penalties.items()}


def penalties_of(size: int) -> dict[str, int]:
    """The penalties of the reliability scores of `size` questions, by name."""
    return {**{str(penalty): penalty for penalty in PENALTIES}, "N": size}


def percentage(outcomes: Iterable[bool]) -> float | None:
    """Share of true outcomes in percent, or None if there are none."""
    values = list(outcomes)
    return round(100 * sum(values) / len(values), 4) if values else None


def percentile(values: Iterable[float], quantile: float) -> float | None:
    """The nearest-rank percentile, or None if there are no values."""
    ordered = sorted(values)
    return round(ordered[max(math.ceil(quantile / 100 * len(ordered)), 1) - 1], 3) if ordered else None
