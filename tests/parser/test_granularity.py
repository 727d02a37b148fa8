"""Dates are compared at their own granularity."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.grammar.program import Literal, Program
from fastsql.parser.granularity import at_its_granularity, with_parts_as_text

from ..worlds.stays_in_time import STAYS

FORMATS = {4: "%Y", 7: "%Y-%m", 10: "%Y-%m-%d"}
YEAR = "STRFTIME('%Y', stays.begun)"
MONTH = "STRFTIME('%Y-%m', stays.begun)"


def dated(program: Program, question: str) -> Program:
    """The program with its literals as the dates that a search makes of them, where the question says them."""

    def grounded(item: Literal) -> Literal:
        place = question.find(str(item.value))
        span = (place, place + len(str(item.value))) if place >= 0 else None
        return replace(item, format=item.format or FORMATS.get(len(str(item.value)), ""), span=span)

    return tuple(grounded(item) if isinstance(item, Literal) else item for item in program)


def given(condition: str, question: str = "") -> str:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS)
    return render(at_its_granularity(dated(program, question), STAYS, question), STAYS).partition(" WHERE ")[
        2
    ]


@pytest.mark.parametrize(
    ("found", "right"),
    [
        ("begun > '2018'", f"{YEAR} > '2018'"),
        ("begun = '2018-03'", f"{MONTH} = '2018-03'"),
        ("days > 3 AND begun <> '2018'", f"stays.days > 3 AND {YEAR} <> '2018'"),
        ("begun BETWEEN '2016' AND '2018'", f"({YEAR} >= '2016' AND {YEAR} <= '2018')"),
        ("begun BETWEEN '2016-05' AND '2018'", f"({MONTH} >= '2016-05' AND {YEAR} <= '2018')"),
        ("begun NOT BETWEEN '2016' AND '2018'", f"({YEAR} < '2016' OR {YEAR} > '2018')"),
        ("ended <= '2018-03-05'", "STRFTIME('%Y-%m-%d', stays.ended) <= '2018-03-05'"),
        (
            "ended BETWEEN '2018-03' AND '2018-06-05'",
            "(STRFTIME('%Y-%m', stays.ended) >= '2018-03' AND STRFTIME('%Y-%m-%d', stays.ended) <= '2018-06-05')",
        ),
        ("strftime('%Y', begun) = '2018-03'", f"{MONTH} = '2018-03'"),
        (
            "strftime('%Y', begun) BETWEEN '2018-03' AND '2018-05'",
            f"({MONTH} >= '2018-03' AND {MONTH} <= '2018-05')",
        ),
        ("strftime('%Y', begun) BETWEEN '2016' AND '2018'", f"{YEAR} BETWEEN '2016' AND '2018'"),
        ("(days > 3 OR begun < '2018')", f"(stays.days > 3 OR {YEAR} < '2018')"),
        (
            "days IN (SELECT days FROM stays WHERE begun BETWEEN '2016' AND '2018')",
            f"stays.days IN (SELECT stays.days FROM stays WHERE ({YEAR} >= '2016' AND {YEAR} <= '2018'))",
        ),
    ],
)
def test_a_day_is_compared_with_a_year_as_such(found: str, right: str) -> None:
    assert given(found) == right


@pytest.mark.parametrize(
    "condition",
    [
        "stays.begun > '2018-01-01'",
        "stays.begun BETWEEN '2016-01-01' AND '2018-01-01'",
        "stays.ended > '2018-01-01 10:00:00'",
        "stays.season > '2018'",  # its values are years
        "stays.code = '2018'",
        "stays.days > 2018",
        "stays.begun BETWEEN '2016' AND '2018-01-01'",  # which of the two is meant is not told
        f"{YEAR} = '2018'",
    ],
)
def test_what_is_comparable_stays(condition: str) -> None:
    assert given(condition) == condition


@pytest.mark.parametrize(
    ("part", "form", "sign"),
    [("05-01", "%m-%d", ">="), ("05", "%m", "<"), ("15:00", "%H:%M", ">"), ("15:00:00", "%H:%M:%S", "=")],
)
def test_a_part_of_a_moment_is_compared_with_that_part(part: str, form: str, sign: str) -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE ended {sign} '{part}'", STAYS)
    dated = tuple(replace(item, format=form) if isinstance(item, Literal) else item for item in program)
    condition = render(at_its_granularity(dated, STAYS, ""), STAYS).partition(" WHERE ")[2]
    assert condition == f"STRFTIME('{form}', stays.ended) {sign} '{part}'"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("2021-03上旬", "2021-03-01", "2021-03-10"),
        ("2021-03的中旬", "2021-03-11", "2021-03-20"),
    ],
)
def test_a_part_of_a_month_is_so_many_days(question: str, first: str, last: str) -> None:
    day = "STRFTIME('%Y-%m-%d', stays.begun)"
    assert given(f"{MONTH} = '2021-03'", question) == f"({day} >= '{first}' AND {day} <= '{last}')"


def test_a_decade_is_ten_years() -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {YEAR} = '1990'", STAYS)
    question = "stays of the 1990s"
    said = tuple(replace(item, span=(13, 18)) if isinstance(item, Literal) else item for item in program)
    condition = render(at_its_granularity(said, STAYS, question), STAYS).partition(" WHERE ")[2]
    assert condition == f"({YEAR} >= '1990' AND {YEAR} <= '1999')"


def test_the_last_part_of_a_month_ends_with_it() -> None:
    day = "STRFTIME('%Y-%m-%d', stays.begun)"
    right = f"({day} >= '2021-02-21' AND {MONTH} <= '2021-02')"
    assert given(f"{MONTH} = '2021-02'", "2021-02下旬") == right


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("in the first half of 2021", "01", "06"),
        ("in the second half of the year 2021", "07", "12"),
        ("in the last half of 2021", "07", "12"),
        ("in the 3rd quarter of 2021", "07", "09"),
        ("the last quarter of 2021", "10", "12"),
        ("in Q2 2021", "04", "06"),
        ("in Q2 of 2021", "04", "06"),
        ("2021 Q1", "01", "03"),
        ("2021Q4?", "10", "12"),
        ("2021年上半年", "01", "06"),
        ("2021年的下半年", "07", "12"),
        ("2021年第三季度", "07", "09"),
        ("2021年四季度", "10", "12"),
    ],
)
def test_a_part_of_a_year_is_the_part_that_is_said(question: str, first: str, last: str) -> None:
    part = f"({MONTH} >= '2021-{first}' AND {MONTH} <= '2021-{last}')"
    assert given(f"{YEAR} = '2021'", question) == part
    assert (
        given("begun = '2021'", question) != part
    )  # the model has meant the text, and not a time in that year


@pytest.mark.parametrize(
    "question",
    [
        "in 2021",
        "the third half of 2021",
        "half of those of 2021",
        "a quarter of 2021 patients",
        "FAQ2 2021",
        "2021年",
    ],
)
def test_a_year_is_whole_where_no_part_is_said(question: str) -> None:
    assert given(f"{YEAR} = '2021'", question) == f"{YEAR} = '2021'"


@pytest.mark.parametrize(
    ("condition", "question", "right"),
    [
        ("strftime('%H', ended) >= 8", "after 8 o'clock", "STRFTIME('%H', stays.ended) >= '08'"),
        ("strftime('%H', ended) >= 8", "from 8 in the evening on", "STRFTIME('%H', stays.ended) >= '20'"),
        ("strftime('%H', ended) < 8", "before 8 p.m.", "STRFTIME('%H', stays.ended) < '20'"),
        ("strftime('%H', ended) >= 2", "from 2 at night on", "STRFTIME('%H', stays.ended) >= '02'"),
        ("strftime('%H', ended) >= 10", "from 10 At Night on", "STRFTIME('%H', stays.ended) >= '22'"),
        ("strftime('%H', ended) < 8", "晚上8点以前", "STRFTIME('%H', stays.ended) < '20'"),
        (
            "strftime('%H', ended) BETWEEN 8 AND 12",
            "between 8 and 12 hours",
            "STRFTIME('%H', stays.ended) BETWEEN '08' AND '12'",
        ),
        ("strftime('%m', ended) IN (3, 4)", "in month 3 or 4", "STRFTIME('%m', stays.ended) IN ('03', '04')"),
        (
            "strftime('%Y', ended) = 2021 AND days > 3",
            "2021",
            "stays.days > 3 AND STRFTIME('%Y', stays.ended) = '2021'",
        ),
        (
            "strftime('%Y', ended) - strftime('%Y', begun) > 60",
            "more than 60",
            "(STRFTIME('%Y', stays.ended) - STRFTIME('%Y', stays.begun)) > 60",
        ),
        ("strftime('%m', ended) = '03'", "in March", "STRFTIME('%m', stays.ended) = '03'"),
    ],
)
def test_parts_of_times_are_compared_with_text(condition: str, question: str, right: str) -> None:
    program = dated(sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS), question)
    assert render(with_parts_as_text(program, question), STAYS).partition(" WHERE ")[2] == right
