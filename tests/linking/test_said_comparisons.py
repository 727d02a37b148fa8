"""What a question says of a value, where that is plain."""

from __future__ import annotations

import pytest

from fastsql.linking.said_comparisons import said_of


def said(question: str, value: str, *, dated: bool = False) -> str | None:
    start = question.index(value)
    return said_of(question, (start, start + len(value)), dated=dated)


@pytest.mark.parametrize(
    ("question", "sign"),
    [
        ("weight above 80", "gt"),
        ("weight in  excess of 80", "gt"),
        ("Over 80?", "gt"),
        ("weight >80", "gt"),
        ("weight that exceeds 80 kg", "gt"),
        ("at least 80 of them", "ge"),
        ("weight >= 80", "ge"),
        ("weight ≥80", "ge"),
        ("no less than 80", "ge"),
        ("greater than or equal to 80", "ge"),
        ("80 or more", "ge"),
        ("80 kg or more", "ge"),
        ("patients of 80 and older", "ge"),
        ("fewer than 80", "lt"),
        ("lighter than 80 kg", "lt"),
        ("heavier than 80 kg", "gt"),
        ("cheaper than 80 euros", "lt"),
        ("weight<80", "lt"),
        ("does not exceed 80", "le"),
        ("not above 80", "le"),
        ("less than or equal to 80", "le"),
        ("80 years or younger", "le"),
        ("equal to 80", "eq"),
        ("weight = 80", "eq"),
        ("not equal to 80", "ne"),
        ("weight != 80", "ne"),
        ("weight <> 80", "ne"),
        ("is other than '80'", "ne"),
        ("differs from “80”", "ne"),
        ("neither 80 nor 90", "ne"),
        ("neither 70 nor 80", "ne"),
        ("neither of a weight of 70 nor of 80", "ne"),
        ("excluding 80", "ne"),
        ("except for 80", "ne"),
        ("apart from 80", "ne"),
        ("outside of 80", "ne"),
        ("体重大于80", "gt"),
        ("体重不低于80公斤", "ge"),
        ("体重大于等于80", "ge"),
        ("80岁及以上", "ge"),
        ("80岁以上", "ge"),
        ("80元以下", "le"),
        ("体重不足80", "lt"),
        ("结果不80的", "ne"),
        ("非80的", "ne"),
        ("年龄不满80岁", "lt"),
        ("未满80岁", "lt"),
        ("年满80岁的", "ge"),
        ("费用达到80元", "ge"),
        ("除80外", "ne"),
        ("除了80以外的", "ne"),
        ("除去80之外", "ne"),
        ("体重既不是70也不是80的", "ne"),
        ("体重不是70又不是80的", "ne"),
        ("体重是大于80的", "gt"),
        ("体重不超过80", "le"),
        ("80岁或以下", "le"),
        ("不是80", "ne"),
    ],
)
def test_what_stands_beside_a_value_is_read(question: str, sign: str) -> None:
    assert said(question, "80") == sign


@pytest.mark.parametrize(
    ("question", "sign"),
    [
        ("since 2018-02-03", "ge"),
        ("on or after 2018-02-03", "ge"),
        ("no later than 2018-02-03", "le"),
        ("Prior to 2018-02-03,", "lt"),
        ("later than 2018-02-03", "gt"),
        ("2018-02-03 or later", "ge"),
        ("from 2018-02-03 on", "ge"),
        ("from 2018-02-03 onwards", "ge"),
        ("by 2018-02-03", "le"),
        ("不晚于2018-02-03", "le"),
        ("2018-02-03之前", "lt"),
        ("2018-02-03以来", "ge"),
        ("2018-02-03起", "ge"),
        ("从2018-02-03开始", "ge"),
        ("2018-02-03至今", "ge"),
        ("2018-02-03后", "gt"),
        ("2018-02-03前", "lt"),
        ("2018-02-03底之前", "le"),
    ],
)
def test_days_are_earlier_and_later(question: str, sign: str) -> None:
    assert said(question, "2018-02-03", dated=True) == sign


@pytest.mark.parametrize("question", ["grown by 80", "from 80 on ward 3", "sorted by 80"])
def test_only_days_are_by_and_from(question: str) -> None:
    assert said(question, "80") is None


@pytest.mark.parametrize(
    ("question", "sign"),
    [("成立于80年以前", "lt"), ("80年之后", "gt"), ("80年及以后", "ge"), ("80年及以前", "le")],
)
def test_numbers_of_years_have(question: str, sign: str) -> None:
    assert said(question, "80") == sign


def test_what_is_older_than_a_day_was_before_it() -> None:
    assert said("older than 2018-02-03", "2018-02-03", dated=True) == "lt"
    assert said("older than 80", "80") == "gt"


def test_a_numeral_is_no_noun_of_the_value_before_it() -> None:
    assert said("was given to patient 80 two or more times", "80") is None
    assert said("given to patient 80 kg or more", "80") == "ge"


@pytest.mark.parametrize(
    "question", ["2018-02-03开始的用药", "2018-02-03前后", "2018-02-03前三个月", "2018-02-03后半年"]
)
def test_what_began_on_a_day_or_lies_around_it_is_no_order(question: str) -> None:
    assert said(question, "2018-02-03", dated=True) is None


@pytest.mark.parametrize("question", ["80起事故", "80前", "床80后", "患者80以前有什么疾病", "80之后"])
def test_numbers_have_no_time_behind_them(question: str) -> None:
    assert said(question, "80") is None


def test_what_is_sorted_by_a_day_is_not_compared() -> None:
    assert said("sorted by 2018-02-03", "2018-02-03", dated=True) is None


@pytest.mark.parametrize(
    "question",
    [
        "weight 80",
        "weight of 80",
        "who were never neither 80",
        "neither above 80",  # two denials of one
        "above the 80th",
        "makeover 80",
        "80 or more than that",
        "80 or above 90",
        "80 more",
        "80, or above all 90",
        "above 80 or less",  # says two things
        "who have not had more than 80",
        "isn't above 80",
        "haven't been here since 80",
        "without more than 80",
        "没有超过80",
        "是不是80",  # is it?
        "没有来过，也不是80",
        "80起",  # so many incidents
        "",
    ],
)
def test_what_is_not_plain_is_not_read(question: str) -> None:
    assert said(question or "80", "80") is None


def test_an_earlier_comparison_denies_nothing() -> None:
    assert said("not below 60 and not above 80", "80") == "le"
    assert said("体重不低于60且不高于80", "80") == "le"
