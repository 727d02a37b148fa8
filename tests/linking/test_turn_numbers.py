"""Earlier turns that a question calls by their numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.linking.turn_numbers import turn_numbers

from ..worlds.toy_conversation import earlier_turns
from ..worlds.toy_model import SCHEMA, WORDPIECE


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("How many of A3 are women?", {3}),
        ("the same as in a12, but in 2021", {12}),
        ("Q2 and q4 together", {2, 4}),
        ("of the patients in answer 7, the oldest", {7}),
        ("Result 2's drugs", {2}),
        ("go back to question no. 5", {5}),
        ("what about #3?", {3}),
        ("the third answer", {3}),
        ("my first question", {1}),
        ("the 2nd result and the twenty-first query", {2, 21}),
        ("把A3里的女性列出来", {3}),
        ("结果三中的患者", {3}),
        ("第3个问题的答案", {3}),
        ("第二问", {2}),
        ("回答十二里的药", {12}),
        ("答案0", set()),
    ],
)
def test_turns_are_called_by_their_numbers(question: str, numbers: set[int]) -> None:
    assert turn_numbers(question) == numbers


@pytest.mark.parametrize(
    "question",
    [
        "",
        "patients with an HbA1c over 7",
        "morphine q4 hours",
        "A3 hours later",
        "lab result 3 days after admission",
        "查询三个月内的患者",
        "查询5名患者",
        "检查结果三天后",
        "查询两个科室",
        "who gets it q3h or q12h?",
        "give me 3 results",
        "the third patient of ward 5",
        "list 5 patients",
        "B12 below 200",
        "A3243G carriers",
        "第三次住院的患者",
        "问题很多的患者",
    ],
)
def test_other_numbers_call_nobody(question: str) -> None:
    assert turn_numbers(question) == frozenset()


def test_what_a_column_holds_calls_nobody() -> None:
    question = "total jackson pratt #1 output on ward A2, as in A3"
    held = [
        (question.index(words), question.index(words) + len(words)) for words in ("jackson pratt #1", "A2")
    ]
    assert turn_numbers(question) == {1, 2, 3}
    assert turn_numbers(question, held) == {3}


def test_an_ordinal_may_count_something_else() -> None:
    for question in ("the first result of her creatinine", "the 2nd answer"):
        assert turn_numbers(question)
        assert not turn_numbers(question, ordinals=False)
    assert turn_numbers("answer 2", ordinals=False) == {2}


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(number > 0 for number in turn_numbers(text))


def test_a_turn_is_marked_where_its_number_is_said() -> None:
    links, turns = SchemaLinks(SCHEMA), earlier_turns(4)
    assert [turn.named for turn in prepare("only those of A2", links, WORDPIECE, turns=turns).turns] == [
        False,
        True,
        False,
    ]
    marked = prepare("only those of A2", links, WORDPIECE, turns=turns).turns
    assert not any(turn.named for turn in prepare("and of those?", links, WORDPIECE, turns=marked).turns)


def test_numbers_are_those_of_the_conversation_where_it_is_longer_than_what_is_given() -> None:
    links = SchemaLinks(SCHEMA)
    turns = [replace(turn, number=number) for turn, number in zip(earlier_turns(4), (5, 6, 9), strict=True)]
    assert [turn.named for turn in prepare("those of A6", links, WORDPIECE, turns=turns).turns] == [
        False,
        True,
        False,
    ]
