"""The fitted choice of `benchmarks/hypotheses.py`, on hypotheses of which one feature tells the right one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ..test_benchmarks import module

pytest.importorskip("scipy", reason="pip install '.[train]' runs this")


@pytest.fixture(scope="module")
def measured() -> Any:
    return module("hypotheses")


def choices(measured: Any, told_by: str) -> list[Any]:
    """Of 120 questions over 12 databases the likeliest of three hypotheses is right in one of three."""
    rng = np.random.default_rng(3)
    found = []
    for number in range(120):
        right = np.zeros(3, dtype=bool)
        right[number % 3] = True
        score = np.array([-1.0, -2.0, -3.0]) + rng.normal(0, 0.1, 3)
        sign = np.where(right, 1.0, 0.0) + rng.normal(0, 0.1, 3)
        nothing = rng.normal(0, 1, 3)
        plain = np.stack([score, sign if told_by == "evidence" else nothing], axis=1)
        looked = (sign if told_by == "answers" else nothing)[:, None]
        found.append(measured.Choice(f"database {number % 12}", plain, looked, right))
    return found


def test_evidence_that_tells_is_learnt_from_other_databases(measured: Any) -> None:
    told = choices(measured, "evidence")
    assert measured.cross_fitted(told, inspected=False) >= 118
    assert measured.fitted(told, inspected=False)[1] > 0


def test_what_answers_tell_counts_only_where_they_were_looked_at(measured: Any) -> None:
    told = choices(measured, "answers")
    assert measured.cross_fitted(told, inspected=True) >= 118
    assert measured.cross_fitted(told, inspected=False) < 60


def test_questions_that_all_hypotheses_answer_alike_tell_nothing(measured: Any) -> None:
    told = choices(measured, "evidence")
    same = [
        measured.Choice("other", one.plain[:, ::-1].copy(), one.looked, np.full(3, number % 2 == 0))
        for number, one in enumerate(told)
    ]
    weights = measured.fitted(told, inspected=False)
    assert np.allclose(measured.fitted([*told, *same], inspected=False), weights)
