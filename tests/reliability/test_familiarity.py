from __future__ import annotations

import json
import math
from typing import Any

import pytest

from fastsql.errors import ModelError
from fastsql.reliability.familiarity import Familiarity

KNOWN = Familiarity.from_questions(
    [
        "How many patients were prescribed aspirin?",
        "How many patients were admitted since 2100?",
        "When was patient 10004235 admitted?",
        "诊断为肺炎的患者有多少？",
    ]
)


def test_words_are_counted_once_a_question_without_case_and_plural() -> None:
    assert KNOWN.questions == 4
    assert KNOWN.words["patient"] == 3
    assert KNOWN.words["many"] == 2
    assert KNOWN.words["患"] == 1


def test_what_holds_a_digit_is_no_word() -> None:
    assert not [word for word in KNOWN.words if any(map(str.isdigit, word))]


def test_the_strangest_word_decides() -> None:
    assert KNOWN.strangeness("how many patients", ()) == pytest.approx(math.log(4 / 2.5))
    assert KNOWN.strangeness("how many precautions", ()) == pytest.approx(math.log(4 / 0.5))


@pytest.mark.parametrize("number", ["7", "10004235", "99999999"])
def test_a_patients_number_makes_no_question_strange(number: str) -> None:
    asked = "When was patient {} admitted?"
    assert KNOWN.strangeness(asked.format(number), ()) == KNOWN.strangeness(asked.format("1"), ())


def test_what_is_explained_is_not_strange() -> None:
    question = "how many patients were prescribed vancomycin"
    start = question.index("vancomycin")
    assert KNOWN.strangeness(question, [(start, len(question))]) == pytest.approx(math.log(4 / 1.5))
    assert KNOWN.strangeness("vancomycin", [(0, 10)]) == 0.0


def test_without_words_nothing_is_strange() -> None:
    assert Familiarity().strangeness("what is this?", ()) == 0.0
    assert KNOWN.strangeness("", ()) == KNOWN.strangeness("?! 12", ()) == 0.0


def test_a_word_of_every_question_is_never_less_than_not_strange() -> None:
    assert Familiarity.from_questions(["a", "a"]).strangeness("a", ()) == 0.0


def test_settings_give_the_same_words_back() -> None:
    settings = json.loads(json.dumps({"familiarity": KNOWN.to_settings()}))
    assert Familiarity.from_settings(settings) == KNOWN
    assert Familiarity.from_settings({}) == Familiarity()


@pytest.mark.parametrize(
    "found",
    [3, [], {}, {"questions": 1}, {"questions": -1, "words": {}}, {"questions": 1, "words": {"a": "many"}}],
)
def test_settings_of_another_form_are_named(found: Any) -> None:
    with pytest.raises(ModelError, match="familiarity"):
        Familiarity.from_settings({"familiarity": found})
