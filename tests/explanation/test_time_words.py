"""The words that say a period are found in English and Chinese; other words are not taken for them."""

from __future__ import annotations

import pytest

from fastsql.explanation.time_words import find_time_words


@pytest.mark.parametrize(
    ("question", "relation", "unit", "count", "words"),
    [
        ("Who came this year?", "in", "year", 0, "this year"),
        ("Who came in the current month?", "in", "month", 0, "the current month"),
        ("Who came today?", "in", "day", 0, "today"),
        ("Who came yesterday?", "in", "day", 1, "yesterday"),
        ("Who came Last Month?", "in", "month", 1, "Last Month"),
        ("Who came 3 years ago?", "in", "year", 3, "3 years ago"),
        ("Who came since 1 year ago?", "since", "year", 1, "since 1 year ago"),
        ("Who came in the last two months?", "since", "month", 2, "in the last two months"),
        ("Who came over the past 24 hours?", "since", "hour", 24, "over the past 24 hours"),
        ("Who came since last month?", "since", "month", 1, "since last month"),
        ("Who came until 2 days ago?", "until", "day", 2, "until 2 days ago"),
        ("Who came back within 2 months?", "within", "month", 2, "within 2 months"),
        ("Who came back within the same month?", "within", "month", 0, "within the same month"),
        ("What else was given on the same day?", "same", "day", None, "the same day"),
        ("What else was given at the same time?", "same", "time", None, "the same time"),
        ("今年有多少病人？", "in", "year", 0, "今年"),
        ("上个月入院的病人", "in", "month", 1, "上个月"),
        ("昨天的化验", "in", "day", 1, "昨天"),
        ("最近三个月的处方", "since", "month", 3, "最近三个月"),
        ("过去7天的处方", "since", "day", 7, "过去7天"),
        ("同一天的处方", "same", "day", None, "同一天"),
    ],
)
def test_the_words_of_a_period_are_found(
    question: str, relation: str, unit: str, count: int | None, words: str
) -> None:
    span = find_time_words(question, relation, unit, count)
    assert span is not None
    assert question[slice(*span)] == words


@pytest.mark.parametrize(
    ("question", "relation", "unit", "count"),
    [
        ("Who came this yearning?", "in", "year", 0),
        ("Who came this month?", "in", "year", 0),
        ("Who came 13 years ago?", "in", "year", 3),
        ("Who came this year?", "in", "year", 1),
        ("Who came today?", "in", "day", 1),
        ("Who came?", "since", "month", 1),
        ("Who came this year?", "around", "year", 0),
        ("Who came this week?", "in", "week", 0),
    ],
)
def test_words_that_say_another_period_or_none_are_not_found(
    question: str, relation: str, unit: str, count: int
) -> None:
    assert find_time_words(question, relation, unit, count) is None


def test_any_count_is_looked_for() -> None:
    for count in (-1, 0, 12, 13, 10**9):
        for relation in ("in", "since", "until", "within"):
            assert find_time_words("", relation, "day", count) is None
