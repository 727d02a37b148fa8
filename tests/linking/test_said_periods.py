"""Periods that a question tells from now."""

from __future__ import annotations

import pytest

from fastsql.linking.said_periods import said_periods


def told(question: str) -> list[tuple[str, int]]:
    return [(one.production, one.count) for one in said_periods(question)]


@pytest.mark.parametrize(
    ("wording", "production", "count"),
    [
        ("近三个月", "since_month", 3),
        ("最近3个月", "since_month", 3),
        ("过去的十二个月", "since_month", 12),
        ("近半年", "since_month", 6),
        ("最近半个月", "since_day", 15),
        ("最近两周", "since_day", 14),
        ("近2个星期", "since_day", 14),
        ("近一个礼拜", "since_day", 7),
        ("近7日", "since_day", 7),
        ("过去三十天", "since_day", 30),
        ("过去24小时", "since_hour", 24),
        ("近五年", "since_year", 5),
        ("前年", "in_year", 2),
        ("大前年", "in_year", 3),
        ("去年", "in_year", 1),
        ("上年度", "in_year", 1),
        ("今年", "in_year", 0),
        ("本年", "in_year", 0),
        ("上个月", "in_month", 1),
        ("上月", "in_month", 1),
        ("上上个月", "in_month", 2),
        ("本月", "in_month", 0),
        ("这个月", "in_month", 0),
        ("今日", "in_day", 0),
        ("昨天", "in_day", 1),
        ("前天", "in_day", 2),
        ("大前天", "in_day", 3),
        ("上周", "in_week", 1),
        ("上个星期", "in_week", 1),
        ("上上周", "in_week", 2),
        ("本周", "in_week", 0),
        ("这个礼拜", "in_week", 0),
        ("上季度", "in_quarter", 1),
        ("本季度", "in_quarter", 0),
    ],
)
def test_chinese_wordings(wording: str, production: str, count: int) -> None:
    (found,) = said_periods(f"内科{wording}的病人")
    assert (found.production, found.count) == (production, count)
    assert f"内科{wording}的病人"[slice(*found.span)].startswith(wording[:2])


@pytest.mark.parametrize(
    ("wording", "production", "count"),
    [
        ("in the last three months", "since_month", 3),
        ("over the past 2 weeks", "since_day", 14),
        ("in the previous 10 days", "since_day", 10),
        ("within the last 48 hours", "since_hour", 48),
        ("Past five years", "since_year", 5),
        ("in the last 48h", "since_hour", 48),
        ("in the past 12 hrs", "since_hour", 12),
        ("in the past year", "since_year", 1),
        ("over the past week", "since_day", 7),
        ("in the last week", "since_day", 7),
        ("in the last couple of weeks", "since_day", 14),
        ("in the past couple of months", "since_month", 2),
        ("the day before yesterday", "in_day", 2),
        ("last year", "in_year", 1),
        ("last week", "in_week", 1),
        ("this week", "in_week", 0),
        ("last quarter", "in_quarter", 1),
        ("this quarter", "in_quarter", 0),
        ("this year", "in_year", 0),
    ],
)
def test_english_wordings(wording: str, production: str, count: int) -> None:
    assert told(f"patients seen {wording}") == [(production, count)]


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("今年上半年", (1, 6)),
        ("去年的下半年", (7, 12)),
        ("前年第三季度", (7, 9)),
        ("今年一季度", (1, 3)),
        ("去年Q4入院", (10, 12)),
        ("in the first half of this year", (1, 6)),
        ("Q2 last year", (4, 6)),
    ],
)
def test_parts_of_such_years(question: str, months: tuple[int, int]) -> None:
    (found,) = said_periods(question)
    assert found.part is not None
    assert found.part.months == months
    assert found.part.span[1] - found.part.span[0] > found.span[1] - found.span[0]


@pytest.mark.parametrize(
    "question",
    [
        *(
            "目前年龄大于60",
            "入院前年龄",
            "3年前年龄",
            "术前天数",
            "如今年轻的病人",
            "现今年长的",
            "成本月报",
            "以上月份",
        ),
        *(
            "近两三年",
            *(
                "今年之前",
                "去年以来",
                "上个月以来",
                "去年底",
                "昨天以前",
                "去年同期",
                "比去年高",
                "上周末",
                "上周之前",
            ),
            *(
                "标本周转时间",
                "本周期的费用",
                "上个周期",
                "线上月均",
                "年龄近2周岁",
                "距今天数",
                "过去年份",
                "将近三个月",
            ),
            *(
                "before this year",
                "since last year",
                "more than last year",
                "last year of residency",
                "last year's sales",
            ),
            *("past 30 days overdue", "in his last week", "the fırst half of 2020"),
            "近三个月前",
            "近一年半",
            "最近一次",
            "附近3天",
            "三个月前",
            "每天",
            "本年龄段",
            "上周三",
            "本周日",
        ),
        *(
            "the last three months of 2020",
            "in the last 2 days before discharge",
            "the last 3 visits",
            "blast year",
        ),
    ],
)
def test_what_says_no_period_from_now(question: str) -> None:
    assert told(question) == []


def test_several_come_in_their_order() -> None:
    assert told("今年与去年相比") == [("in_year", 0), ("in_year", 1)]


def test_a_question_of_nothing_but_periods_is_read_in_no_time() -> None:
    for words in ("去年", "this year, ", "近3天", "in the last two weeks "):
        assert len(said_periods(words * (100_000 // len(words)))) <= 16
