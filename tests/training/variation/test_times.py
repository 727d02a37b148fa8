from __future__ import annotations

import random

import pytest

from fastsql.linking import find_candidates
from fastsql.schema import Schema
from fastsql.training.variation.time_wordings import Condition
from fastsql.training.variation.times import draw_time_phrase, find_time_phrases
from fastsql.training.variation.times_chinese import KINDS

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
        ("in the last 30 days", [("since_day", 30, "")]),
        ("over the past two weeks", [("since_day", 14, "")]),
        ("within the last three months", [("since_month", 3, "")]),
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
    ("wording", "conditions"),
    [
        ("今年", [("in_year", 0, "")]),
        ("上个月", [("in_month", 1, "")]),
        ("昨天", [("in_day", 1, "")]),
        ("近三个月", [("since_month", 3, "")]),
        ("最近30天内", [("since_day", 30, "")]),
        ("过去两周", [("since_day", 14, "")]),
        ("近半年", [("since_month", 6, "")]),
        ("去年7月", [("date_eq", "07", "%m"), ("in_year", 1, "")]),
        ("2022年", [("date_eq", "2022", YEAR)]),
        ("2022年3月以来", [("date_ge", "2022-03", MONTH)]),
        ("自2022年3月8日起", [("date_ge", "2022-03-08", DAY)]),
        ("本年度", [("in_year", 0, "")]),
        ("本月内", [("in_month", 0, "")]),
        ("近三年来", [("since_year", 3, "")]),
        ("2022年全年", [("date_eq", "2022", YEAR)]),
        ("在2022年3月份", [("date_eq", "2022-03", MONTH)]),
        ("近十二天", [("since_day", 12, "")]),
    ],
)
def test_a_chinese_wording_is_read_and_others_of_its_kind_are_drawn(
    wording: str, conditions: list[Condition]
) -> None:
    (phrase,) = find_time_phrases(f"{wording}住院的病人")
    assert phrase.span == (0, len(wording))
    assert list(phrase.conditions) == conditions
    for seed in range(20):
        drawn, new = draw_time_phrase(phrase.kind, random.Random(seed), in_chinese=True)
        (found,) = find_time_phrases(f"{drawn}住院的病人")
        assert (found.kind, found.conditions, found.span) == (phrase.kind, new, (0, len(drawn)))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_drawn_in_chinese_stands_in_the_question_for_linking_to_find(kind: str) -> None:
    schema = Schema.from_ddl("CREATE TABLE 住院 (入院日期 DATE)")
    for seed in range(30):
        drawn, conditions = draw_time_phrase(kind, random.Random(seed), in_chinese=True)
        offered = {(one.value, one.format) for one in find_candidates(f"{drawn}住院的病人", schema)}
        said = {(value, form) for name, value, form in conditions if not name.startswith("in_")}
        assert said <= offered


@pytest.mark.parametrize("in_chinese", [False, True])
def test_whole_weeks_are_drawn_as_weeks_and_are_days_to_sql(in_chinese: bool) -> None:
    drawn = [draw_time_phrase("ago_day", random.Random(seed), in_chinese=in_chinese) for seed in range(100)]
    weeks = [
        (text, conditions) for text, conditions in drawn if "week" in text or "周" in text or "星期" in text
    ]
    assert len(weeks) >= 5
    schema = Schema.from_ddl("CREATE TABLE 住院 (入院日期 DATE)")
    for text, conditions in weeks:
        (phrase,) = find_time_phrases(f"住院 {text}" if in_chinese else text)
        assert phrase.conditions == conditions
        days = conditions[0][1]
        assert isinstance(days, int)
        assert days % 7 == 0
        assert days in {one.value for one in find_candidates(text, schema)}


@pytest.mark.parametrize(
    "question",
    [
        *(
            "去年之前的病人",
            "本月底出院的",
            "2022年1月到6月",
            "2022年上半年",
            "一年级",
            "每天",
            "2022年3月份之前",
            "去年3月份和4月份",
        ),
        *(
            "2022年底",
            "2022年三月",
            "2022年3月上旬",
            "今年一季度",
            "上上个月",
            "如今天气",
            "最近30天前",
            "以上月份",
            "去年以来",
        ),
        *("近两三年", "近三五年", "近一两个月"),
    ],
)
def test_chinese_words_that_say_another_time_are_left_alone(question: str) -> None:
    assert find_time_phrases(question) == []


@pytest.mark.parametrize(
    "question", ["How many patients?", "the last drug", "at 12/05/2100 13:00", "in 21007", "patient 10021007"]
)
def test_words_that_say_no_time_are_left_alone(question: str) -> None:
    assert find_time_phrases(question) == []


def test_several_filters_are_found_in_order() -> None:
    found = find_time_phrases("Since 2100, what changed today compared to yesterday?")
    assert [phrase.kind for phrase in found] == ["since_year", "day_0", "day_1"]
