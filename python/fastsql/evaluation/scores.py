"""The scores of a set of judged questions: shares of them, and reliability."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from fastsql.evaluation.judged import Judged
from fastsql.evaluation.shares import Share

PENALTIES = (0, 5, 10)


def execution_accuracy(judged: Iterable[Judged]) -> Share:
    """Best hypotheses with gold's result, before refusal, of the questions that have one."""
    return Share.of(bool(item.verdict.correct) for item in judged if item.has_answer)


def exact_match(judged: Iterable[Judged], *, values: bool) -> Share:
    """Best hypotheses of gold's canonical form, of the answerable questions."""
    return Share.of(
        item.verdict.em_values if values else item.verdict.em for item in judged if item.answerable
    )


def refused_unanswerable(judged: Iterable[Judged]) -> Share:
    """Se: the questions without an answer that are refused."""
    return Share.of(item.prediction.abstained for item in judged if not item.answerable)


def answered_answerable(judged: Iterable[Judged]) -> Share:
    """Sp: the questions with an answer that are answered, rightly or wrongly."""
    return Share.of(not item.prediction.abstained for item in judged if item.answerable)


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


def percentile(values: Iterable[float], quantile: float) -> float | None:
    """The nearest-rank percentile, or None if there are no values."""
    ordered = sorted(values)
    return round(ordered[max(math.ceil(quantile / 100 * len(ordered)), 1) - 1], 3) if ordered else None
