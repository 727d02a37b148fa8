"""Periods that are told from now are those that the question says."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, render, sql_to_program
from fastsql.grammar.program import Literal, Production
from fastsql.parser.periods import periods_as_said

from ..worlds.stays_in_time import STAYS

NOW = "2024-08-15 10:00:00"
GRAMMAR = load_grammar()


def asked(condition: str, question: str) -> str:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS)
    return render(periods_as_said(program, question, STAYS, GRAMMAR), STAYS, now=NOW).partition(" WHERE ")[2]


def since(count: int, unit: str) -> str:
    return f"DATETIME(stays.begun) >= DATETIME('{NOW}', '-{count} {unit}')"


def within(count: int, unit: str) -> str:
    of = f"'start of {unit}'"
    return f"DATETIME(stays.begun, {of}) = DATETIME('{NOW}', {of}, '-{count} {unit}')"


IN_MONTH = "datetime(begun, 'start of month') = datetime('now', 'start of month', '-{} month')"
IN_YEAR = "datetime(begun, 'start of year') = datetime('now', 'start of year', '-{} year')"
SINCE = "datetime(begun) >= datetime('now', '-{} {}')"
IN_JULY = "STRFTIME('%m', begun) = '07'"


@pytest.mark.parametrize(
    ("found", "question", "right"),
    [
        (IN_MONTH.format(3), "近三个月的住院", since(3, "month")),
        (IN_YEAR.format(6), "近半年的住院", since(6, "month")),
        (SINCE.format(14, "month"), "stays in the last two weeks", since(14, "day")),
        (SINCE.format(2, "day"), "stays over the past two weeks", since(14, "day")),
        (IN_YEAR.format(1), "前年的住院", within(2, "year")),
        (IN_MONTH.format(1), "本月的住院", within(0, "month")),
        (
            f"days > 3 AND {IN_MONTH.format(3)}",
            "近三个月超过3天的住院",
            f"stays.days > 3 AND {since(3, 'month')}",
        ),
    ],
)
def test_a_model_s_period_is_the_one_that_is_said(found: str, question: str, right: str) -> None:
    assert asked(found, question) == right


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("今年上半年", "01", "06"),
        ("今年第四季度", "10", "12"),
        ("in the second half of this year", "07", "12"),
    ],
)
def test_a_part_of_a_year_from_now_is_no_whole_one(question: str, first: str, last: str) -> None:
    months = f"(STRFTIME('%m', stays.begun) >= '{first}' AND STRFTIME('%m', stays.begun) <= '{last}')"
    assert asked(IN_YEAR.format(0), question) == f"({within(0, 'year')} AND {months})"


@pytest.mark.parametrize(
    ("found", "question"),
    [
        (IN_YEAR.format(1), "去年的住院"),
        (SINCE.format(3, "month"), "近三个月的住院"),
        (IN_YEAR.format(0), "今年比去年多的住院"),
        (IN_YEAR.format(0), "三年前的住院"),
        (f"({IN_YEAR.format(0)} OR {IN_YEAR.format(1)})", "近三个月的住院"),
        ("days > 3", "近三个月的住院"),
    ],
)
def test_it_stays_where_it_is_said_or_nobody_knows_which_is_meant(found: str, question: str) -> None:
    assert asked(found, question) == asked(found, "")


def test_a_month_behind_a_year_is_one_of_that_year() -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {IN_JULY}", STAYS)
    question = "前年七月的住院"
    grounded = tuple(
        Literal("07", "%m", "", "date", (2, 4)) if isinstance(item, Literal) else item for item in program
    )
    assert Production("in_year") in periods_as_said(grounded, question, STAYS, GRAMMAR)
    assert periods_as_said(grounded, "七月的住院", STAYS, GRAMMAR) == grounded
    apart = tuple(
        Literal("07", "%m", "", "date", (9, 11)) if isinstance(item, Literal) else item for item in program
    )
    assert periods_as_said(apart, "前年住院的病人里七月的", STAYS, GRAMMAR) == apart


def test_the_words_of_a_period_are_said_by_its_number() -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {IN_MONTH.format(3)}", STAYS)
    grounded = tuple(
        Literal(3, "", "", "number", (1, 2)) if isinstance(item, Literal) else item for item in program
    )
    (number,) = (
        item
        for item in periods_as_said(grounded, "近三个月的住院", STAYS, GRAMMAR)
        if isinstance(item, Literal)
    )
    assert (number.provenance, number.span) == ("number", (0, 4))
