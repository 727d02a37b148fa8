from __future__ import annotations

import random

import pytest

from fastsql.training.variation.times import Condition, draw_time_phrase, find_time_phrases

YEAR, MONTH, DAY = "%Y", "%Y-%m", "%Y-%m-%d"


@pytest.mark.parametrize(
    ("wording", "conditions"),
    [
        ("since 2100", [("date_ge", "2100", YEAR)]),
        ("in 2100", [("date_eq", "2100", YEAR)]),
        ("since 08/2100", [("date_ge", "2100-08", MONTH)]),
        ("on 12/05/2100", [("date_eq", "2100-12-05", DAY)]),
        ("in 07/this year", [("date_eq", "07", "%m"), ("in_year", 0, "")]),
        ("on 06/14/last year", [("date_eq", "06-14", "%m-%d"), ("in_year", 1, "")]),
        ("on this month/23", [("date_eq", "23", "%d"), ("in_month", 0, "")]),
        ("since 1 year ago", [("since_year", 1, "")]),
        ("since 22 days ago", [("since_day", 22, "")]),
        ("throughout this year", [("in_year", 0, "")]),
        ("in the last month", [("in_month", 1, "")]),
        ("yesterday", [("in_day", 1, "")]),
    ],
)
def test_a_wording_is_read(wording: str, conditions: list[Condition]) -> None:
    question = f"What was given {wording}?"
    (phrase,) = find_time_phrases(question)
    assert question[slice(*phrase.span)] == wording
    assert list(phrase.conditions) == conditions
    for seed in range(20):
        drawn, new = draw_time_phrase(phrase.kind, random.Random(seed))
        (found,) = find_time_phrases(f"What was given {drawn}?")
        assert (found.kind, found.conditions) == (phrase.kind, new)


@pytest.mark.parametrize(
    "question", ["How many patients?", "the last drug", "at 12/05/2100 13:00", "in 21007", "patient 10021007"]
)
def test_words_that_say_no_time_are_left_alone(question: str) -> None:
    assert find_time_phrases(question) == []


def test_several_filters_are_found_in_order() -> None:
    found = find_time_phrases("Since 2100, what changed today compared to yesterday?")
    assert [phrase.kind for phrase in found] == ["since_year", "day_0", "day_1"]
