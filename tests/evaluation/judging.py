"""Judged questions made up for a test, without running anything."""

from __future__ import annotations

from typing import Any

from fastsql.datasets import Example
from fastsql.evaluation import Prediction
from fastsql.evaluation.judge import Verdict
from fastsql.evaluation.judged import Judged


def judged(
    name: str,
    *,
    gold: str | None = "SELECT 1",
    sql: str | None = "SELECT 1",
    confidence: float = 0.5,
    abstained: bool = False,
    question: str = "?",
    template: str | None = None,
    extra: dict[str, Any] | None = None,
    seen: bool | None = None,
    **verdict: Any,
) -> Judged:
    """One question: answerable where it has `gold`; `verdict` are the fields of its Verdict."""
    example = Example(name, "ward", question, gold, template=template, extra=extra or {})
    return Judged(example, Prediction(name, sql, confidence, abstained), Verdict(**verdict), seen)


def right(name: str, **fields: Any) -> Judged:
    """A right best hypothesis."""
    return judged(name, **{"correct": True, "runs": True, "em": True, "em_values": True, **fields})


def wrong(name: str, *differences: str, **fields: Any) -> Judged:
    """A wrong best hypothesis that differs from gold in these clauses."""
    return judged(name, **{"correct": False, "runs": True, "differences": differences, **fields})
