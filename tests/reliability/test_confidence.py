"""Confidence: from a beam's figures to a probability, and from that to a decision."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest

from fastsql.decode import Hypothesis, Search
from fastsql.errors import ModelError
from fastsql.grammar import State
from fastsql.reliability import FEATURES, Confidence, evidence
from fastsql.reliability.confidence import threshold

WEIGHTS = {"sequence": 1.0, "margin": 0.5}


def hypothesis(*gains: float) -> Hypothesis:
    return Hypothesis(tuple(range(len(gains))), gains, cast("State", None))


BEST, NEXT = hypothesis(-0.1, -0.2, -0.1, -0.1), hypothesis(-1.0, -0.5)


def vector(other: float = 0.0, **figures: float) -> tuple[float, ...]:
    """Figures in the order of the features; `other` for those that are not given."""
    return tuple(figures.get(name, other) for name in FEATURES)


def odds(log_probability: float) -> float:
    p = math.exp(log_probability)
    return math.log(p / (1 - p))


def figures(search: Search, chosen: int = 0) -> dict[str, float]:
    return dict(zip(FEATURES, evidence(search, chosen, 0.25), strict=True))


def test_evidence_is_what_the_features_say() -> None:
    found = figures(Search((BEST, NEXT), -math.inf))
    wanted = {
        "sequence": odds(-0.5),
        "worst": odds(-0.2),
        "margin": 1.0,
        "decisions": 2.0,
        "strangeness": 0.25,
    }
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)


def test_a_worse_hypothesis_has_a_negative_margin() -> None:
    assert figures(Search((BEST, NEXT), -math.inf), 1)["margin"] == pytest.approx(-1.0)


def test_an_unfinished_hypothesis_is_a_rival() -> None:
    assert figures(Search((BEST, NEXT), -0.7))["margin"] == pytest.approx(0.2)
    assert figures(Search((BEST,), -0.7))["margin"] == pytest.approx(0.2)


def test_without_rivals_the_margin_is_as_wide_as_it_may_be() -> None:
    assert figures(Search((BEST,), -math.inf))["margin"] == 10
    assert figures(Search((BEST,), -500.0))["margin"] == 10


def test_a_query_without_decisions_is_certain() -> None:
    found = figures(Search((hypothesis(),), -math.inf))
    assert (found["sequence"], found["worst"], found["decisions"]) == (10, 10, 0)


def test_evidence_tells_near_certainty_from_nearer_certainty() -> None:
    nine, more = (figures(Search((hypothesis(math.log(p)),), -math.inf)) for p in (0.99, 0.999))
    assert more["sequence"] - nine["sequence"] == pytest.approx(math.log(999 / 99))


@pytest.mark.parametrize("gain", [1e-9, 0.0, -1e-12, -1e4])
def test_evidence_is_bounded(gain: float) -> None:
    found = figures(Search((hypothesis(gain),), -math.inf))
    assert abs(found["sequence"]) <= 10


def test_without_weights_it_is_the_probability_of_the_sequence() -> None:
    confidence = Confidence.from_settings({})
    assert confidence(vector(3, sequence=odds(-0.5))) == pytest.approx(math.exp(-0.5))
    assert confidence(evidence(Search((BEST,), -math.inf), 0, 9.0)) == pytest.approx(math.exp(-0.5))


def test_weights_are_read_by_name() -> None:
    confidence = Confidence.from_settings({"confidence": {"intercept": 0.25, "weights": WEIGHTS}})
    assert confidence.weights == vector(**WEIGHTS)
    assert confidence(vector(9, sequence=-0.5, margin=1.0)) == pytest.approx(1 / (1 + math.exp(-0.25)))


@pytest.mark.parametrize("z", [-1e6, -50, 0, 50, 1e6])
def test_it_is_a_probability_however_far_the_figures_lie(z: float) -> None:
    confidence = Confidence(0.0, vector(sequence=1.0))
    assert 0 <= confidence(vector(sequence=z)) <= 1
    assert confidence(vector(sequence=z)) + confidence(vector(sequence=-z)) == pytest.approx(1)


@pytest.mark.parametrize(
    "setting",
    [
        [],
        "high",
        {},
        {"weights": []},
        {"weights": {"sequence": "1"}},
        {"weights": {"sequence": None}},
        {"weights": {"sequence": math.nan}},
        {"weights": WEIGHTS, "intercept": math.inf},
        {"weights": {"temperature": 1.0}},
    ],
)
def test_a_setting_of_another_form_is_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'confidence' of the model bundle"):
        Confidence.from_settings({"confidence": setting})


@pytest.mark.parametrize(("penalty", "needed"), [(0, 0), (1, 1 / 2), (10, 10 / 11), (1e9, 1)])
def test_answering_pays_from_where_right_outweighs_wrong(penalty: float, needed: float) -> None:
    assert threshold(penalty) == pytest.approx(needed)
    p = threshold(penalty)
    assert p - penalty * (1 - p) == pytest.approx(0, abs=1e-6)
