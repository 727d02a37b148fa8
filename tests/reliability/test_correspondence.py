"""AIRI's question correspondence model: words, opening and length."""

from __future__ import annotations

from typing import Any

import pytest

from fastsql.errors import ModelError
from fastsql.reliability.correspondence import (
    WIDEST,
    Correspondence,
    common_openings,
    correspondence_figures,
    openings_of,
)
from fastsql.reliability.names import schema_names

from ..worlds.ward import ward_schema

SCHEMA = ward_schema("patients")
MODEL = Correspondence(0.5, {"shared": -4.0, "length": 1.0}, {"how": 0.25, "how many": -2.0})


def test_names_are_told_by_their_words() -> None:
    assert {"patient", "subject", "id", "gender"} <= schema_names(SCHEMA).words


def test_what_the_schema_shares_makes_a_question_answerable() -> None:
    names = schema_names(SCHEMA).words
    assert correspondence_figures("gender of patients?", names)["shared"] == pytest.approx(2 / 3)
    assert MODEL.log_odds("gender of patients?", names) < MODEL.log_odds("meaning of dreams?", names)
    assert MODEL.log_odds("gender of patients?", names) < MODEL.log_odds("gender of patients?", frozenset())


def test_openings_are_the_first_words_in_any_script() -> None:
    assert openings_of("How many patients?") == ("how", "how many")
    assert openings_of("查询患者") == ("查", "查 询")
    assert openings_of("?") == ()
    assert common_openings(["how many a", "how many b", "how old"], least=2) == ("how", "how many")


def test_weights_add_up_and_are_bounded() -> None:
    assert MODEL.log_odds("how many cats", frozenset()) == pytest.approx(0.5 + 0.13 + 0.25 - 2.0)
    assert MODEL.log_odds("x" * 4_000, frozenset()) == WIDEST
    assert Correspondence.from_settings(MODEL.to_settings(), "it") == MODEL


@pytest.mark.parametrize(
    "setting",
    [
        None,
        {"intercept": 0.0, "figures": {}, "openings": {}},
        {"intercept": 0.0, "figures": {"shared": 1.0, "length": "1"}, "openings": {}},
        {"intercept": 0.0, "figures": {"shared": 1.0, "length": 1.0}, "openings": ["how"]},
        {"figures": {"shared": 1.0, "length": 1.0}, "openings": {}},
    ],
)
def test_a_setting_of_another_form_is_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'it' of the model bundle"):
        Correspondence.from_settings(setting, "it")
