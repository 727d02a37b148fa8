"""Regressions as a bundle carries them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from fastsql.errors import ModelError
from fastsql.reliability.evidence import FEATURES, Evidence
from fastsql.reliability.regression import Probe, Regression, sigmoid

WEIGHTS = {"sequence": 1.0, "margin": 0.5}


def test_weights_are_read_by_name() -> None:
    regression = Regression.from_settings({"intercept": 0.25, "weights": WEIGHTS}, "it", FEATURES)
    assert regression(Evidence(sequence=-0.5, margin=1.0, decisions=9.0)) == pytest.approx(sigmoid(0.25))


@pytest.mark.parametrize("z", [-1e6, -50, 0, 50, 1e6])
def test_a_regression_gives_a_probability_however_far_the_figures_lie(z: float) -> None:
    regression = Regression(0.0, {"sequence": 1.0})
    one, other = regression(Evidence(sequence=z)), regression(Evidence(sequence=-z))
    assert 0 <= one <= 1
    assert one + other == pytest.approx(1)


def test_settings_give_the_same_regression_back() -> None:
    regression = Regression(0.5, WEIGHTS)
    settings = json.loads(json.dumps(regression.to_settings()))
    assert Regression.from_settings(settings, "it", FEATURES) == regression


@pytest.mark.parametrize(
    "setting",
    [
        None,
        [],
        "high",
        {},
        {"weights": []},
        {"weights": {"sequence": "1"}},
        {"weights": {"sequence": None}},
        {"weights": {"sequence": True}},
        {"weights": {"sequence": math.nan}},
        {"weights": WEIGHTS, "intercept": math.inf},
        {"weights": {"temperature": 1.0}},
    ],
)
def test_a_setting_of_another_form_is_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'it' of the model bundle"):
        Regression.from_settings(setting, "it", FEATURES)


def test_a_probe_is_bounded_however_far_a_state_lies() -> None:
    probe = Probe.from_settings({"intercept": 1.0, "weights": [2.0, -1.0]}, "probe", 2)
    assert probe.log_odds(np.array([0.5, 1.0])) == pytest.approx(1.0)
    assert probe.log_odds(np.array([1e9, 0.0])) == Probe.WIDEST
    assert probe.log_odds(np.array([-1e9, 0.0])) == -Probe.WIDEST
    assert Probe.from_settings(probe.to_settings(), "probe", 2).to_settings() == probe.to_settings()


@pytest.mark.parametrize(
    "setting",
    [
        None,
        {"intercept": 0.0, "weights": [1.0]},
        {"intercept": 0.0, "weights": {"a": 1.0, "b": 2.0}},
        {"intercept": 0.0, "weights": [1.0, math.nan]},
        {"intercept": "0", "weights": [1.0, 2.0]},
        {"weights": [1.0, 2.0]},
    ],
)
def test_a_probe_of_another_width_or_form_is_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'probe' of the model bundle"):
        Probe.from_settings(setting, "probe", 2)
