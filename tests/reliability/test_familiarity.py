from __future__ import annotations

import json
import math
from typing import Any

import pytest

from fastsql.errors import ModelError
from fastsql.reliability.familiarity import Familiarity, TrainingQuestion

KNOWN = Familiarity.from_questions(
    [
        "How many patients were prescribed aspirin?",
        "How many patients were admitted since 2100?",
        "When was patient 10004235 admitted?",
        "诊断为肺炎的患者有多少？",
    ]
)

NAMES = frozenset({"singer", "age", "歌", "手"})
MET = Familiarity.from_questions(
    [
        TrainingQuestion("How many singers are there?", NAMES),
        TrainingQuestion("What is the age of each singer from Mali?", NAMES, ("mali", "Peru")),
        TrainingQuestion("How old is each singer?", NAMES),
        TrainingQuestion("有多少歌手？", NAMES),
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


def test_what_is_left_out_is_what_words_name_and_numbers() -> None:
    question = "How many singers from Mali are over 40 since 2100-12?"
    everything = MET.left_out(question, ())
    singer, number = question.index("singers"), question.index("40")
    assert MET.left_out(question, [(singer, singer + 7)]) == pytest.approx(everything - MET.names("singer"))
    assert MET.left_out(question, [(number, number + 2)]) == pytest.approx(everything - 1)
    date = question.index("2100-12")
    assert MET.left_out(question, [(date, date + 4)]) == pytest.approx(everything - 1), "a date is one thing"
    assert MET.left_out(question, [(0, len(question))]) == 0.0
    assert MET.left_out("有多少歌手？", ()) > MET.left_out("有多少歌手？", [(3, 5)])


def test_nothing_is_left_out_where_nobody_knows_what_words_name() -> None:
    assert KNOWN.left_out("How many patients are over 40?", ()) == 0.0
    assert Familiarity().left_out("How many patients are over 40?", ()) == 0.0


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


# ---------------------------------------------------------------- what should have named something


def test_words_that_name_something_are_counted() -> None:
    assert MET.named == {"singer": 3, "age": 1, "mali": 1, "歌": 1, "手": 1}
    assert MET.names("singer") > MET.names("age") > MET.names("how")
    assert MET.names("how") < 0.3


def test_a_word_that_was_never_met_is_taken_for_a_rare_one() -> None:
    once = [word for word, count in MET.words.items() if count == 1]
    share = sum(word in MET.named for word in once) / len(once)
    assert MET.names("zebra") == pytest.approx(share)
    assert MET.names("singer") == pytest.approx((3 + 2 * share) / (3 + 2))


def test_what_the_schema_lacks_is_not_met_though_it_is_familiar() -> None:
    clinic = frozenset({"patient", "age"})
    asked = "How many singers are there?"
    assert MET.unmet(asked, (), clinic) == pytest.approx(MET.names("singer"))
    assert MET.unmet(asked, (), NAMES) == max(map(MET.names, ("how", "many", "are", "there")))
    assert MET.unmet("有多少歌手？", (), clinic) == max(MET.names("歌"), MET.names("手"))


def test_what_is_explained_is_met() -> None:
    asked = "How many singers are there?"
    place = asked.index("singers")
    assert MET.unmet(asked, [(place, place + 7)], frozenset()) == max(
        map(MET.names, ("how", "many", "are", "there"))
    )
    assert MET.unmet("singer 12", [(0, 6)], frozenset()) == 0.0


def test_a_word_that_only_questions_over_other_schemas_hold_is_not_met_at_home() -> None:
    known = Familiarity.from_questions(
        [
            TrainingQuestion("How many singers are there?", NAMES),
            TrainingQuestion("How many patients are there?", frozenset({"patient"}), at_home=True),
        ]
    )
    assert known.home == {"how", "many", "patient", "are", "there"}
    assert known.unmet("How many patients?", (), frozenset()) > 0
    assert known.unmet_at_home("How many patients?", (), frozenset()) == 0.0
    assert known.unmet_at_home("How many singers?", (), frozenset()) == known.names("singer")
    assert known.unmet_at_home("How many singers?", (), NAMES) == 0.0
    assert known.unmet_at_home("How many dancers?", (), frozenset()) == known.names("dancer")
    assert MET.unmet_at_home("How many singers?", (), frozenset()) == 0.0
    assert Familiarity.from_settings({"familiarity": known.to_settings()}) == known


def test_a_bundle_that_does_not_know_what_words_name_misses_none() -> None:
    assert KNOWN.named == {}
    assert KNOWN.unmet("how many zebras", (), frozenset()) == 0.0
    earlier = {"questions": 4, "words": dict(KNOWN.words)}
    assert Familiarity.from_settings({"familiarity": earlier}) == KNOWN


@pytest.mark.parametrize("known", [KNOWN, MET])
def test_settings_give_the_same_words_back(known: Familiarity) -> None:
    settings = json.loads(json.dumps({"familiarity": known.to_settings()}))
    assert Familiarity.from_settings(settings) == known
    assert Familiarity.from_settings({}) == Familiarity()


@pytest.mark.parametrize(
    "found",
    [
        3,
        [],
        {},
        {"questions": 1},
        {"questions": -1, "words": {}},
        {"questions": 1, "words": {}, "home": "patient"},
        {"questions": 1, "words": {}, "home": [1]},
        {"questions": 1, "words": {"a": "many"}},
        {"questions": 1, "words": {}, "named": 3},
    ],
)
def test_settings_of_another_form_are_named(found: Any) -> None:
    with pytest.raises(ModelError, match="familiarity"):
        Familiarity.from_settings({"familiarity": found})
