"""Words that should name something and do not are missing, and no others."""

from __future__ import annotations

import pytest

from fastsql.refusal.texts import CHINESE, ENGLISH
from fastsql.refusal.words import missing_words, unknown_words
from fastsql.reliability.familiarity import Familiarity

NAMES = frozenset(("patient", "admission", "drug", "dob"))
FAMILIARITY = Familiarity(
    1000,
    {
        **dict.fromkeys(
            ["how", "many", "which", "of", "the", "is", "for", "did", "who", "was", "see", "patient"], 900
        ),
        "nurse": 50,
        "manufacturer": 40,
        "operating": 30,
        "system": 60,
        "required": 20,
        "birth": 30,
        "drug": 300,
        "common": 200,
        "city": 4,
    },
    {"nurse": 49, "manufacturer": 39, "operating": 19, "system": 58, "required": 11, "birth": 29, "city": 3},
)


def missing(question: str, *explained: tuple[int, int]) -> list[str]:
    return [one.words for one in missing_words(question, explained, NAMES, FAMILIARITY)]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many nurses did the patient see?", ["nurses"]),
        ("Which manufacturer of the drug is common?", ["manufacturer"]),
        ("Which operating systems is for the patient?", ["operating systems"]),
        ("Which systems required the patient?", ["systems"]),
        ("Which is the nurse of the nurse?", ["nurse"]),
        ("How many patients is the drug for?", []),
        ("Nurse of the patient?", []),  # the first word of a question is a command or a question word
        ("What is the date of birth of the patient?", []),  # a column is called dob
        ("Which is the birth of the patient?", ["birth"]),
        ("Which night was the patient for?", []),
        ("Which x1z of the patient is r?", []),
    ],
)
def test_what_names_nothing_here_and_mostly_does_elsewhere_is_missing(
    question: str, words: list[str]
) -> None:
    assert missing(question) == words


def test_what_is_explained_is_not_missing() -> None:
    question = "Which nurse of the patient is a manufacturer?"
    assert missing(question) == ["nurse", "manufacturer"]
    assert missing(question, (6, 11)) == ["manufacturer"]


def test_where_most_words_are_strange_none_says_anything() -> None:
    assert missing("Wie viele Krankenschwestern hatte nurse heute?") == []
    assert missing("护士 nurse 有多少位") == []


def test_a_model_that_knows_no_words_misses_none() -> None:
    assert missing_words("Which nurse was the patient for?", (), NAMES, Familiarity()) == ()


def test_at_most_three_are_told_in_order_of_the_question() -> None:
    question = "Which city of the nurse is the system of the manufacturer for the patient?"
    found = missing_words(question, (), NAMES, FAMILIARITY)
    told = unknown_words(found, ENGLISH)
    assert told is not None
    assert told.words == ("nurse", "system", "manufacturer")
    assert [question[slice(*span)] for span in told.spans] == list(told.words)
    assert told.text == "Nothing in this schema is called 'nurse', 'system' or 'manufacturer'."
    assert (
        unknown_words(found, CHINESE).text == "此数据库结构中没有叫“nurse”、“system”或“manufacturer”的内容。"
    )  # type: ignore[union-attr]
    assert unknown_words((), ENGLISH) is None
