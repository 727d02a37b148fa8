"""From evidence to two numbers, and from these to a decision."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from fastsql.errors import ModelError
from fastsql.reliability import Evidence, Judge, Reliability, pays, threshold
from fastsql.reliability.assess import SETTING, question_state
from fastsql.reliability.correspondence import Correspondence
from fastsql.reliability.regression import Probe, Regression, sigmoid

RIGHT = Regression(2.0, {"sequence": 1.0})
UNANSWERABLE = Regression(-1.0, {"strangeness": 1.0})
SURE = Evidence(sequence=3.0)


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


def test_without_settings_it_is_the_probability_of_the_sequence() -> None:
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
    )
    settings = json.loads(json.dumps({SETTING: whole.to_settings()}))
    again = Reliability.from_settings(settings, 2)
    assert again.to_settings() == whole.to_settings()
    assert again.judge == whole.judge


@pytest.mark.parametrize(
    "setting",
    [
        3,
        {},
        {"right": RIGHT.to_settings()},
        {"right": RIGHT.to_settings(), "unanswerable": {"weights": {"void": 1.0}}},
        {"right": RIGHT.to_settings(), "unanswerable": RIGHT.to_settings(), "probe": {"weights": [1.0]}},
        {"right": RIGHT.to_settings(), "unanswerable": RIGHT.to_settings(), "inspected": {}},
        {
            "right": RIGHT.to_settings(),
            "unanswerable": RIGHT.to_settings(),
            "correspondence": {"openings": {}},
        },
    ],
)
def test_settings_of_another_form_are_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'reliability"):
        Reliability.from_settings({SETTING: setting}, 2)


def test_a_questions_state_is_the_mean_of_its_tokens() -> None:
    assert question_state(np.array([[1.0, 2.0], [3.0, 6.0]])).tolist() == [2.0, 4.0]
    assert question_state(np.zeros((0, 2))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("penalty", "needed"), [(0, 0), (1, 1 / 2), (10, 10 / 11), (1e9, 1)])
def test_without_doubt_about_the_question_right_must_outweigh_wrong(penalty: float, needed: float) -> None:
    assert threshold(penalty) == pytest.approx(needed)


@pytest.mark.parametrize("penalty", [0.0, 0.5, 5.0, 10.0])
@pytest.mark.parametrize("unanswerable", [0.0, 0.1, 0.6])
def test_it_answers_where_that_is_expected_to_score_more_than_refusing(
    penalty: float, unanswerable: float
) -> None:
    for confidence in np.linspace(0, 1 - unanswerable, 41):
        answering = confidence - penalty * (1 - confidence)
        if math.isclose(answering, unanswerable, abs_tol=1e-9):
            continue
        assert pays(float(confidence), unanswerable, penalty) == (answering > unanswerable)
