"""From evidence to two numbers, and from these to a decision."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fastsql.errors import ModelError
from fastsql.reliability import Evidence, Judge, Reliability, pays, threshold
from fastsql.reliability.assess import SETTING
from fastsql.reliability.correspondence import Correspondence
from fastsql.reliability.judges import Doubted, Elsewhere, Second, SecondModels, Weights
from fastsql.reliability.regression import Probe, Regression, sigmoid

RIGHT = Regression(2.0, {"sequence": 1.0})
UNANSWERABLE = Regression(-1.0, {"strangeness": 1.0})
SURE = Evidence(sequence=3.0)
ELSEWHERE = Elsewhere(
    Judge(Regression(-1.0, {"sequence": 0.5, "unsaid": -1.0}), Regression(-3.0, {"unmet": 4.0})),
    Judge(Regression(-1.0, {"void": -2.0}), Regression(-3.0, {"unmet": 4.0})),
    frozenset({"patients.age"}),
    Second(
        SecondModels("a digest", "another"),
        Weights(0.25, 0.5),
        Judge(Regression(0.0, {"sequence": 0.5, "lead": 0.3}), Regression(-3.0, {"likelihood": -1.0})),
        Judge(Regression(0.0, {"void": -2.0, "rating": 1.0}), Regression(-3.0, {"unmet": 4.0})),
        Judge(Regression(0.5, {"sequence": 0.5, "rating_lead": 0.3})),
    ),
    turns=Judge(Regression(-0.5, {"sequence": 0.5})),
)

DOUBTED = Doubted(
    Judge(Regression(1.0, {"sequence": 0.5, "rating": 0.4}), Regression(-2.0, {"likelihood": -1.0})),
    Judge(Regression(1.0, {"void": -2.0, "rating_lead": 0.4}), Regression(-2.0, {"void": 3.0})),
)
RIGHT_ALONE = {"right": RIGHT.to_settings()}


def test_p_and_u_never_exceed_one_together() -> None:
    judge = Judge(RIGHT, UNANSWERABLE)
    for sequence in (-50.0, 0.0, 50.0):
        for strangeness in (-50.0, 0.0, 50.0):
            found = judge(Evidence(sequence=sequence, strangeness=strangeness))
            assert 0 <= found.confidence <= 1 - found.unanswerable <= 1


def test_a_stranger_question_is_likelier_to_have_no_answer_and_its_sql_less_likely_right() -> None:
    judge = Judge(RIGHT, UNANSWERABLE)
    plain, strange = judge(SURE), judge(Evidence(sequence=3.0, strangeness=5.0))
    assert strange.unanswerable > plain.unanswerable
    assert strange.confidence < plain.confidence


def test_without_settings_the_confidence_is_the_probability_of_the_sequence() -> None:
    found = Reliability.from_settings({}, 4).judge(Evidence(sequence=0.7, margin=9.0))
    assert (found.confidence, found.unanswerable) == (pytest.approx(sigmoid(0.7)), 0.0)


def test_a_bundle_from_before_keeps_its_confidence_and_knows_no_u() -> None:
    earlier = {
        "confidence": {"intercept": 0.5, "weights": {"sequence": 1.0, "strangeness": -1.0}, "figures": {}}
    }
    found = Reliability.from_settings(earlier, 4).judge(Evidence(sequence=1.0, strangeness=2.0))
    assert (found.confidence, found.unanswerable) == (pytest.approx(sigmoid(-0.5)), 0.0)
    with pytest.raises(ModelError, match="'void', which this fastsql does not know"):
        Reliability.from_settings({"confidence": {"weights": {"void": 1.0}}}, 4)


def test_settings_give_the_same_judges_back() -> None:
    whole = Reliability(
        Judge(RIGHT, UNANSWERABLE),
        Judge(Regression(1.0, {"void": -2.0}), UNANSWERABLE),
        probe=Probe(0.5, np.array([1.0, -2.0])),
        correspondence=Correspondence(0.1, {"shared": -1.0, "length": 0.5}, {"how many": -2.0}),
        elsewhere=ELSEWHERE,
        doubted=DOUBTED,
    )
    settings = json.loads(json.dumps({SETTING: whole.to_settings()}))
    again = Reliability.from_settings(settings, 2)
    assert again.to_settings() == whole.to_settings()
    assert again.judge == whole.judge
    assert again.elsewhere == ELSEWHERE
    assert again.doubted == DOUBTED
    assert Doubted.from_settings(Doubted(DOUBTED.judge, None).to_settings(), "here").inspected is None


@pytest.mark.parametrize(
    "setting",
    [
        3,
        {},
        {"right": RIGHT.to_settings(), "unanswerable": None},
        {"right": RIGHT.to_settings(), "unanswerable": {"weights": {"void": 1.0}}},
        {"right": RIGHT.to_settings(), "unanswerable": RIGHT.to_settings(), "probe": {"weights": [1.0]}},
        {"right": RIGHT.to_settings(), "unanswerable": RIGHT.to_settings(), "inspected": {}},
        {
            "right": RIGHT.to_settings(),
            "unanswerable": RIGHT.to_settings(),
            "correspondence": {"openings": {}},
        },
        *(
            {"right": RIGHT.to_settings(), "doubted": doubted}
            for doubted in (
                4,
                {"unanswerable": RIGHT.to_settings()},
                DOUBTED.to_settings() | {"inspected": 3},
                {"right": {"intercept": 0.0, "weights": {"void": 1.0}}},
            )
        ),
        *(
            {"right": RIGHT.to_settings(), "unanswerable": RIGHT.to_settings(), "elsewhere": elsewhere}
            for elsewhere in (
                4,
                {"known": []},
                {"right": RIGHT.to_settings(), "unanswerable": RIGHT.to_settings()},
                {"unanswerable": RIGHT.to_settings(), "known": []},
                ELSEWHERE.to_settings() | {"known": [3]},
                ELSEWHERE.to_settings() | {"inspected": {"right": 1}},
                ELSEWHERE.to_settings() | {"second": 3},
                ELSEWHERE.to_settings() | {"second": RIGHT_ALONE | {"weight": 0.25}},
                ELSEWHERE.to_settings() | {"second": RIGHT_ALONE | {"reverse": "x", "weight": "much"}},
                ELSEWHERE.to_settings() | {"second": RIGHT_ALONE | {"reverse": "x", "weight": -0.1}},
                ELSEWHERE.to_settings() | {"second": RIGHT_ALONE | {"reverse": "x", "weight": math.nan}},
                ELSEWHERE.to_settings() | {"second": RIGHT_ALONE | {"reverse": "x", "weight": True}},
                ELSEWHERE.to_settings()
                | {"second": RIGHT_ALONE | {"reverse": "x", "weight": 1, "reranker": 2}},
                ELSEWHERE.to_settings()
                | {"second": RIGHT_ALONE | {"reverse": "x", "weight": 1, "reranker": "y"}},
                ELSEWHERE.to_settings() | {"right": {"intercept": 0.0, "weights": {"lead": 1.0}}},
            )
        ),
    ],
)
def test_settings_of_another_form_are_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'reliability"):
        Reliability.from_settings({SETTING: setting}, 2)


# ---------------------------------------------------------------- schemas never seen


def test_a_schema_never_seen_has_its_own_judges() -> None:
    whole = Reliability(Judge(RIGHT, UNANSWERABLE), Judge(RIGHT, UNANSWERABLE), elsewhere=ELSEWHERE)
    found = Evidence(sequence=2.0, strangeness=3.0, unsaid=1.0, unmet=0.5, void=1.0, known=0.0)
    assert whole.assess(found) == ELSEWHERE.judge(found)
    assert whole.assess(found, inspected=True) == ELSEWHERE.inspected(found)  # type: ignore[misc]
    seen = Evidence(sequence=2.0, strangeness=3.0, unsaid=1.0, unmet=0.5, void=1.0, known=1.0)
    assert whole.assess(seen) == whole.judge(seen)


def test_who_was_given_a_second_opinion_is_judged_by_it() -> None:
    whole = Reliability(Judge(RIGHT, UNANSWERABLE), elsewhere=ELSEWHERE)
    second = ELSEWHERE.second
    assert second is not None
    found = Evidence(sequence=2.0, unmet=0.5, void=1.0, likelihood=-1.5, lead=4.0, known=0.0)
    assert whole.assess(found) == second.judge(found)
    assert whole.assess(found, inspected=True) == second.inspected(found)  # type: ignore[misc]
    seen = dataclasses.replace(found, known=1.0)
    assert whole.assess(seen) == whole.judge(seen)


def test_who_is_in_doubt_over_a_known_schema_is_judged_by_what_a_second_opinion_says() -> None:
    whole = Reliability(Judge(RIGHT, UNANSWERABLE), elsewhere=ELSEWHERE, doubted=DOUBTED)
    asked = Evidence(sequence=0.5, void=1.0, likelihood=-1.5, rating=0.3, rating_lead=2.0)
    assert whole.assess(asked) == DOUBTED.judge(asked)
    assert whole.assess(asked, inspected=True) == DOUBTED.inspected(asked)  # type: ignore[misc]
    assert replace(whole, doubted=Doubted(DOUBTED.judge, None)).assess(
        asked, inspected=True
    ) == DOUBTED.judge(asked)
    sure = replace(asked, likelihood=0.0, rating=0.0, rating_lead=0.0)
    assert whole.assess(sure) == whole.judge(sure)
    # Over a schema known in part, and over one never seen, all are asked about, sure or not.
    for known in (0.0, 0.7):
        elsewhere = replace(asked, known=known)
        assert whole.assess(elsewhere) == replace(whole, doubted=None).assess(elsewhere)


def test_a_turn_that_a_reranker_rated_is_judged_by_that() -> None:
    known = Judge(Regression(0.0, {"sequence": 1.0}))
    whole = Reliability(Judge(RIGHT), turns=known, elsewhere=ELSEWHERE)
    second = ELSEWHERE.second
    assert second is not None
    assert second.turns is not None
    rated = Evidence(sequence=2.0, rating=-0.5, rating_lead=4.0, known=0.0)
    assert whole.assess(rated, refers=True) == second.turns(rated)
    alone = Evidence(sequence=2.0, known=0.0)
    assert whole.assess(alone, refers=True) == ELSEWHERE.turns(alone)  # type: ignore[misc]
    assert whole.assess(replace(rated, known=1.0), refers=True) == known(rated)


def test_a_second_opinion_of_before_there_were_rerankers_asks_none() -> None:
    before = ELSEWHERE.to_settings()["second"]
    del before["reranker"], before["rating_weight"]
    found = Second.from_settings(before, "here")
    assert found.models == SecondModels("a digest", None)
    assert found.weights == Weights(0.25, None)
    assert found.weights.of_turns is None
    assert found.to_settings() == before


def test_a_schema_known_in_part_is_judged_between_a_known_and_a_new_one() -> None:
    whole = Reliability(Judge(RIGHT, UNANSWERABLE), elsewhere=ELSEWHERE)
    us = [
        whole.assess(Evidence(sequence=2.0, strangeness=4.0, unmet=0.1, known=share)).unanswerable
        for share in (0.0, 0.3, 0.7, 1.0)
    ]
    assert us == sorted(us)
    assert us[0] < us[1] < us[2] < us[3]


def test_a_bundle_without_judges_for_new_schemas_uses_those_it_has() -> None:
    whole = Reliability(Judge(RIGHT, UNANSWERABLE))
    assert whole.assess(Evidence(sequence=1.0, known=0.0)) == whole.judge(Evidence(sequence=1.0))
    assert whole.assess(SURE, inspected=True) == whole.judge(SURE)


def test_a_side_that_knows_no_u_takes_every_question_to_have_an_answer() -> None:
    knows, knows_not = Judge(RIGHT, UNANSWERABLE), Judge(RIGHT)
    for share in (0.0, 0.25, 1.0):
        found = knows_not.blended(knows, SURE, share)
        assert found.unanswerable == pytest.approx((1 - share) * sigmoid(-1.0))
        assert found.confidence == pytest.approx((1 - found.unanswerable) * sigmoid(5.0))
    assert knows_not(SURE).unanswerable == 0.0


@pytest.mark.parametrize(
    "elsewhere", [None, ELSEWHERE, Elsewhere(Judge(RIGHT), Judge(RIGHT), frozenset({"patients.age"}))]
)
def test_without_u_settings_give_the_same_judges_back(elsewhere: Elsewhere | None) -> None:
    whole = Reliability(Judge(RIGHT), Judge(RIGHT), elsewhere=elsewhere)
    again = Reliability.from_settings(json.loads(json.dumps({SETTING: whole.to_settings()})), 2)
    assert (again.judge, again.inspected, again.elsewhere) == (whole.judge, whole.inspected, elsewhere)
    assert again.calibrated
    assert "calibrated without unanswerable questions" in again.lacking


def test_a_bundle_that_was_never_calibrated_is_told_from_others() -> None:
    never = Reliability.from_settings({}, 4)
    assert not never.calibrated
    assert "never calibrated" in never.lacking
    assert "fastsql calibrate" in never.lacking
    assert Reliability(Judge(RIGHT, UNANSWERABLE)).lacking == ""


@pytest.mark.parametrize(("penalty", "needed"), [(0, 0), (1, 1 / 2), (10, 10 / 11), (1e9, 1)])
def test_without_doubt_about_the_question_right_must_outweigh_wrong(penalty: float, needed: float) -> None:
    assert threshold(penalty) == pytest.approx(needed)


@pytest.mark.parametrize("penalty", [0.0, 0.5, 5.0, 10.0])
@pytest.mark.parametrize("unanswerable", [0.0, 0.1, 0.6])
def test_a_question_is_answered_where_that_is_expected_to_score_more_than_refusing(
    penalty: float, unanswerable: float
) -> None:
    for confidence in np.linspace(0, 1 - unanswerable, 41):
        answering = confidence - penalty * (1 - confidence)
        if math.isclose(answering, unanswerable, abs_tol=1e-9):
            continue
        assert pays(float(confidence), unanswerable, penalty) == (answering > unanswerable)
