"""Queries that refer to earlier turns have a probability of their own."""

from __future__ import annotations

import random

import pytest

from fastsql.reliability.assess import Judge, Reliability
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.regression import Regression
from fastsql.training.calibration.conversations import (
    FEWEST,
    TurnObservation,
    fit_turns,
    turn_figures,
    turn_line,
)


def observed(count: int, seed: int = 3) -> list[TurnObservation]:
    """Turns that are the likelier to be right, the surer the search was."""
    generator = random.Random(seed)
    found = []
    for _ in range(count):
        sequence = generator.uniform(-4, 4)
        right = generator.random() < 1 / (1 + 2.718 ** (1 - sequence))
        found.append(TurnObservation(Evidence(sequence=sequence, worst=sequence + 1), right))
    return found


def test_the_probability_follows_what_was_observed() -> None:
    judge = fit_turns(observed(2000))
    assert judge is not None
    low, high = (judge(Evidence(sequence=s, worst=s + 1)) for s in (-3.0, 3.0))
    assert low.confidence == pytest.approx(1 / (1 + 2.718**4), abs=0.03)
    assert high.confidence == pytest.approx(1 / (1 + 2.718**-2), abs=0.05)
    assert low.unanswerable == 0


def test_figures_are_of_turns_that_had_no_part_in_the_fit() -> None:
    found = observed(1000)
    figures = turn_figures(found)
    assert (figures["count"], figures["right"]) == (1000, sum(one.right for one in found))
    assert 0 <= figures["ece"] < 0.06
    assert 0.8 < figures["auc"] < 1
    assert "ECE" in turn_line(figures)
    generator = random.Random(1)
    mixed = [TurnObservation(one.evidence, generator.random() < 0.5) for one in found]
    assert abs(turn_figures(mixed)["auc"] - 0.5) < 0.07


@pytest.mark.parametrize("right", [True, False])
def test_nothing_is_fitted_on_too_few(right: bool) -> None:
    few = [TurnObservation(Evidence(), right)] * 50 + [TurnObservation(Evidence(), not right)] * (FEWEST - 1)
    assert fit_turns(few) is None
    assert fit_turns([]) is None
    assert "too few" in turn_line(turn_figures(few))


def judge(intercept: float) -> Judge:
    return Judge(Regression(intercept, {"sequence": 1.0}))


def test_what_refers_is_judged_by_its_own_regressions() -> None:
    plain = Reliability(judge(0.0))
    talking = Reliability(judge(0.0), turns=judge(-1.0))
    evidence = Evidence(sequence=1.0)
    assert talking.assess(evidence) == plain.assess(evidence)
    assert talking.assess(evidence, refers=True) == judge(-1.0)(evidence)
    assert plain.assess(evidence, refers=True) == plain.assess(evidence)


def test_a_bundle_carries_the_regressions_of_turns() -> None:
    talking = Reliability(judge(0.0), turns=judge(-1.0))
    read = Reliability.from_settings({"reliability": talking.to_settings()}, 16)
    assert read == talking
