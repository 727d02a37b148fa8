"""What puts a refused question right, and what is a question of its own."""

from __future__ import annotations

import pytest

from fastsql.refusal.corrections import LONGEST, confirmed, repaired
from fastsql.refusal.suggestions import (
    BestGuess,
    NearValue,
    SeveralReadings,
    Suggestion,
    UnknownValue,
    UnknownWords,
)

REFUSED = "How many patients take wonderpill?"
VALUE = UnknownValue("", "wonderpill", (23, 33), "drugs.name", (NearValue("Warfarin", ("drugs.name",)),))
WORDS = UnknownWords("", ("wonderpill",), ((23, 33),))


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("I meant heparin.", "heparin"),
        ("i mean heparin", "heparin"),
        ("No, I meant heparin", "heparin"),
        ("Sorry, heparin!", "heparin"),
        ("oops - heparin", "heparin"),
        ("heparin, I meant", "heparin"),
        ("Make that 'heparin sodium'.", "heparin sodium"),
        ("it should be heparin", "heparin"),
        ("warfarin", "warfarin"),
        ("我是说肝素", "肝素"),
        ("不对，应该是肝素。", "肝素"),
        ("抱歉，肝素", "肝素"),
    ],
)
@pytest.mark.parametrize("suggestion", [VALUE, WORDS])
def test_what_is_meant_stands_where_the_unknown_stood(
    question: str, meant: str, suggestion: Suggestion
) -> None:
    if question == "warfarin" and suggestion is WORDS:
        assert repaired(question, REFUSED, [suggestion]) is None  # nothing proposed it
    else:
        assert repaired(question, REFUSED, [suggestion]) == f"How many patients take {meant}?"


@pytest.mark.parametrize(
    "question",
    [
        *(
            "How many take heparin?",
            "heparin",
            "Nobody takes heparin",
            "",
            "?",
            "No",
            "I meant",
            "患者有多少？",
        ),
        *(
            "No, how many women are there?",
            "Sorry, show all patients",
            "I meant only the women",
            "我是说有多少女患者",
        ),
        "Sorry, " + "x" * (LONGEST + 1),
    ],
)
def test_a_question_of_its_own_puts_nothing_right(question: str) -> None:
    assert repaired(question, REFUSED, [VALUE]) is None


@pytest.mark.parametrize(
    "suggestions",
    [[], [BestGuess("", "the patients")], [UnknownWords("", ("a", "b"), ((0, 1), (4, 5)))]],
)
def test_nothing_is_put_right_where_it_is_not_known_what_was_wrong(suggestions: list[Suggestion]) -> None:
    assert repaired("I meant heparin", REFUSED, suggestions) is None


def test_a_long_text_is_read_at_once() -> None:
    assert repaired("no " * 30_000, REFUSED, [VALUE]) is None
    assert repaired("不对" * 30_000, REFUSED, [VALUE]) is None
    assert repaired("no" + " " * 60_000 + "i", REFUSED, [VALUE]) is None


GUESS = BestGuess("Did you mean: how many patients?", "how many patients")
READINGS = SeveralReadings("", ("how many patients", "how many stays"))


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "Yes!",
        "yes, please do",
        "ok",
        "That's right.",
        "that is what I meant",
        "right, yes",
        "是的",
        "对，没错。",
    ],
)
def test_a_guess_is_confirmed(text: str) -> None:
    assert confirmed(text, [GUESS]) == "how many patients"
    assert confirmed(text, [READINGS]) is None
    assert confirmed(text, []) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("the first", 0),
        ("1", 0),
        ("the second one", 1),
        ("Yes, the second", 1),
        ("option 2", 1),
        ("第二个", 1),
        ("选一", 0),
    ],
)
def test_a_reading_is_chosen_by_its_place(text: str, place: int) -> None:
    assert confirmed(text, [READINGS]) == READINGS.descriptions[place]
    assert confirmed(text, [GUESS]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "yesterday",
        "right ventricle",
        "not right",
        "3",
        "twelve",
        "yes? no",
        "ok then " * 20,
        "是不是",
        "对了多少",
    ],
)
def test_what_confirms_nothing_is_a_question(text: str) -> None:
    assert confirmed(text, [GUESS]) is None
    assert confirmed(text, [READINGS]) is None


def test_the_nearest_value_is_meant_where_the_guess_has_it() -> None:
    value = UnknownValue("", "warfrin", (17, 24), nearest=(NearValue("warfarin", ("t.drug",)),))
    assert repaired("yes", "How many were on warfrin?", [value, GUESS]) == "How many were on warfarin?"
    assert repaired("yes", "How many were on warfrin?", [value]) is None
