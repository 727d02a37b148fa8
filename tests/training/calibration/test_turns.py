"""Queries that refer to earlier turns have a probability of their own."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fastsql.reliability.assess import Reliability
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.judges import Elsewhere, Judge
from fastsql.reliability.regression import Regression
from fastsql.training.calibration.conversations import (
    FEWEST,
    TurnObservation,
    fit_rated,
    fit_sides,
    fit_turns,
    turn_figures,
    turn_lines,
)
from fastsql.training.calibration.questions import EVERYDAY, FOREIGN
from fastsql.training.corpus.conversations import MADE


def observed(count: int, seed: int = 3, part: str = FOREIGN, shift: float = 1) -> list[TurnObservation]:
    """Turns that are the likelier to be right, the surer the search was; the less likely, the greater the shift."""
    generator = random.Random(seed)
    found = []
    for _ in range(count):
        sequence = generator.uniform(-4, 4)
        right = generator.random() < 1 / (1 + 2.718 ** (shift - sequence))
        found.append(TurnObservation(Evidence(sequence=sequence, worst=sequence + 1), right, part))
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
    (part,) = turn_figures(found)
    figures = turn_figures(found)[part]
    assert part == FOREIGN
    assert (figures["count"], figures["right"]) == (1000, sum(one.right for one in found))
    assert 0 <= figures["ece"] < 0.06
    assert 0.8 < figures["auc"] < 1
    assert "ECE" in turn_lines({part: figures})[0]
    generator = random.Random(1)
    mixed = [TurnObservation(one.evidence, generator.random() < 0.5, one.part) for one in found]
    assert abs(turn_figures(mixed)[FOREIGN]["auc"] - 0.5) < 0.07


def test_turns_over_schemas_trained_on_are_fitted_by_themselves() -> None:
    found = [*observed(500), *observed(500, 4, MADE, -2), *observed(500, 5, EVERYDAY, 0)]
    known, others = fit_sides(found)
    assert known is not None
    assert others is not None
    evidence = Evidence(sequence=0.0, worst=1.0)
    assert others(evidence).confidence == pytest.approx(1 / (1 + 2.718), abs=0.06)
    assert 0.5 < known(evidence).confidence < 0.88, "between what either part tells"
    figures = turn_figures(found)
    assert list(figures) == [EVERYDAY, MADE, FOREIGN]
    assert figures[FOREIGN]["ece"] < 0.08


def test_what_people_write_counts_its_share_however_few_there_are() -> None:
    found = [*observed(500, 4, MADE, -2), *observed(60, 5, EVERYDAY, 2)]
    known, more = fit_turns(found), fit_turns([*found, *observed(1500, 6, MADE, -2)])
    assert known is not None
    assert more is not None
    evidence = Evidence(sequence=0.0, worst=1.0)
    assert known(evidence).confidence == pytest.approx(more(evidence).confidence, abs=0.05)


def test_where_one_side_is_too_small_all_turns_tell_of_both() -> None:
    found = [*observed(500), *observed(FEWEST, part=EVERYDAY)]
    assert fit_sides(found) == (fit_turns(found), fit_turns(found))


def test_where_a_reranker_was_asked_what_it_says_tells_as_well() -> None:
    generator = random.Random(3)
    rated = []
    for one in observed(800):
        told = (2.0 if one.right else -2.0) + generator.gauss(0, 1)
        rated.append(replace(one, evidence=replace(one.evidence, rating=told, rating_lead=told)))
    judge = fit_rated([*rated, *observed(200, 9)])
    assert judge is not None
    assert judge.right.weights["rating"] + judge.right.weights["rating_lead"] > 0
    assert judge(Evidence(rating=2.0, rating_lead=2.0)).confidence > 0.8
    assert judge(Evidence(rating=-2.0, rating_lead=-2.0)).confidence < 0.3
    assert turn_figures(rated)[FOREIGN]["auc"] > turn_figures(observed(800))[FOREIGN]["auc"] + 0.02
    assert fit_rated(observed(200)) is None, "nobody was asked"


@pytest.mark.parametrize("right", [True, False])
def test_nothing_is_fitted_on_too_few(right: bool) -> None:
    few = [TurnObservation(Evidence(), right, FOREIGN)] * 50 + [
        TurnObservation(Evidence(), not right, FOREIGN)
    ] * (FEWEST - 1)
    assert fit_turns(few) is None
    assert fit_turns([]) is None
    assert "too few" in turn_lines(turn_figures(few))[0]


def judge(intercept: float) -> Judge:
    return Judge(Regression(intercept, {"sequence": 1.0}))


def test_what_refers_is_judged_by_its_own_regressions() -> None:
    plain = Reliability(judge(0.0))
    talking = Reliability(judge(0.0), turns=judge(-1.0))
    evidence = Evidence(sequence=1.0)
    assert talking.assess(evidence) == plain.assess(evidence)
    assert talking.assess(evidence, refers=True) == judge(-1.0)(evidence)
    assert plain.assess(evidence, refers=True) == plain.assess(evidence)


def test_the_less_a_schema_is_known_the_more_the_others_tell() -> None:
    elsewhere = Elsewhere(judge(-5.0), None, frozenset({"ward.beds"}), turns=judge(-3.0))
    talking = Reliability(judge(0.0), elsewhere=elsewhere, turns=judge(-1.0))
    for known, expected in ((1.0, -1.0), (0.5, -2.0), (0.0, -3.0)):
        evidence = Evidence(sequence=1.0, known=known)
        assert talking.assess(evidence, refers=True) == judge(expected)(evidence)
    without = Reliability(judge(0.0), elsewhere=Elsewhere(judge(-5.0), None, frozenset()), turns=judge(-1.0))
    evidence = Evidence(sequence=1.0, known=0.0)
    assert without.assess(evidence, refers=True) == judge(-1.0)(evidence), "as in bundles from before"


def test_a_bundle_carries_the_regressions_of_turns() -> None:
    elsewhere = Elsewhere(judge(-5.0), None, frozenset({"ward.beds"}), turns=judge(-3.0))
    for talking in (
        Reliability(judge(0.0), turns=judge(-1.0)),
        Reliability(judge(0.0), elsewhere=elsewhere, turns=judge(-1.0)),
    ):
        assert Reliability.from_settings({"reliability": talking.to_settings()}, 16) == talking
