"""Periods that are told from now are those that the question says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import load_grammar, render, sql_to_program
from fastsql.grammar.program import Literal, Production
from fastsql.linking.said_periods import said_periods
from fastsql.parser.periods import periods_as_said
from fastsql.schema import Schema

from ..worlds.stays_in_time import STAYS

NOW = "2024-08-15 10:00:00"
GRAMMAR = load_grammar()


def asked(condition: str, question: str) -> str:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS)
    return render(
        periods_as_said(program, question, said_periods(question), STAYS, GRAMMAR), STAYS, now=NOW
    ).partition(" WHERE ")[2]


def since(count: int, unit: str) -> str:
    return f"DATETIME(stays.begun) >= DATETIME('{NOW}', '-{count} {unit}')"


def within(count: int, unit: str) -> str:
    of = f"'start of {unit}'"
    return f"DATETIME(stays.begun, {of}) = DATETIME('{NOW}', {of}, '-{count} {unit}')"


IN_MONTH = "datetime(begun, 'start of month') = datetime('now', 'start of month', '-{} month')"
IN_YEAR = "datetime(begun, 'start of year') = datetime('now', 'start of year', '-{} year')"
SINCE = "datetime(begun) >= datetime('now', '-{} {}')"
WEEK = "DATE({}, 'weekday 0', '-6 days')"
QUARTER = "DATE({0}, 'start of month', '-' || ((STRFTIME('%m', {0}) - 1) % 3) || ' months'{1}"
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
    ("question", "of_time", "of_now"),
    [
        ("上周的住院", WEEK.format("stays.begun"), f"DATE('{NOW}', 'weekday 0', '-6 days', '-7 days')"),
        ("stays of this week", WEEK.format("stays.begun"), WEEK.format(f"'{NOW}'")),
        ("本季度的住院", QUARTER.format("stays.begun", ")"), QUARTER.format(f"'{NOW}'", ")")),
        (
            "stays of last quarter",
            QUARTER.format("stays.begun", ")"),
            QUARTER.format(f"'{NOW}'", ", '-3 months')"),
        ),
    ],
)
def test_weeks_begin_on_mondays_and_quarters_with_their_first_day(
    question: str, of_time: str, of_now: str
) -> None:
    assert asked(IN_MONTH.format(1), question) == f"{of_time} = {of_now}"


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


VISITS = Schema.from_ddl(
    """CREATE TABLE 病人 (编号 INTEGER PRIMARY KEY, 出生日期 DATE, 姓名 TEXT);
    CREATE TABLE 住院 (
        住院号 INTEGER PRIMARY KEY, 病人 INTEGER REFERENCES 病人(编号), 入院日期 DATE, 出院日期 DATE
    );
    CREATE TABLE 费用 (
        编号 INTEGER PRIMARY KEY, 住院 INTEGER REFERENCES 住院(住院号), 金额 REAL, 缴费时间 DATE, 有效期至 DATE
    );"""
)
FEES = "SELECT SUM(金额) FROM 费用"


def over_visits(sql: str, question: str) -> str:
    program = sql_to_program(sql, VISITS)
    return render(
        periods_as_said(program, question, said_periods(question), VISITS, GRAMMAR), VISITS, now=NOW
    )


@pytest.mark.parametrize(
    ("sql", "question", "column"),
    [
        (FEES, "去年的费用总和", "缴费时间"),
        (f"{FEES} WHERE 金额 > 3", "近三个月超过3元的费用总和", "缴费时间"),
        ("SELECT COUNT(*) FROM 住院", "上个月入院的有几次", "入院日期"),
        (
            "SELECT COUNT(*) FROM 病人 JOIN 住院 ON 病人.编号 = 住院.病人",
            "今年出院的病人",
            "出院日期",
        ),
    ],
)
def test_a_period_that_is_left_out_is_put_in_where_one_time_can_be_meant(
    sql: str, question: str, column: str
) -> None:
    assert over_visits(sql, question).count(f'"{column}"') == 1
    assert over_visits(sql, "").count(f'"{column}"') == 0


@pytest.mark.parametrize(
    ("sql", "question"),
    [
        ("SELECT COUNT(*) FROM 住院", "去年住院几次"),  # admitted, or discharged?
        (FEES, "去年没有缴的费用"),
        (FEES, "今年和去年的费用"),
        (FEES, "费用总和"),
        ("SELECT COUNT(*) FROM 病人", "今年的病人"),
        (f"{FEES} WHERE 住院 IN (SELECT 住院号 FROM 住院)", "去年的费用"),
        (f"{FEES} WHERE 缴费时间 > '2020-01-01'", "去年的费用"),
        (f"{FEES} WHERE 有效期至 < DATE('now')", "到今天过期的费用"),
    ],
)
def test_none_is_put_in_where_another_may_be_meant(sql: str, question: str) -> None:
    assert over_visits(sql, question) == over_visits(sql, "")


@pytest.mark.parametrize(
    ("found", "question", "whole"),
    [
        ("STRFTIME('%m', begun) >= '03' AND STRFTIME('%m', begun) <= '05'", "今年03到05", "year"),
        ("STRFTIME('%m', begun) > '03'", "今年03以后", "year"),
        ("STRFTIME('%m', begun) < '10'", "去年10之前", "year"),
        ("STRFTIME('%d', begun) = '05'", "上个月05号", "month"),
    ],
)
def test_months_and_days_beside_a_period_are_of_it(found: str, question: str, whole: str) -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE ({found})", STAYS)

    def said(item: Literal) -> Literal:
        place = question.index(str(item.value))
        return replace(item, span=(place, place + 2))

    grounded = tuple(said(item) if isinstance(item, Literal) else item for item in program)
    condition = render(
        periods_as_said(grounded, question, said_periods(question), STAYS, GRAMMAR), STAYS, now=NOW
    )
    assert f"'start of {whole}'" in condition
    assert found.partition(" ")[0] in condition.replace("stays.", "")


def test_what_came_after_a_month_of_last_year_is_not_of_that_year_alone() -> None:
    program = sql_to_program("SELECT COUNT(*) FROM stays WHERE STRFTIME('%m', begun) >= '03'", STAYS)
    grounded = tuple(replace(item, span=(2, 4)) if isinstance(item, Literal) else item for item in program)
    assert periods_as_said(grounded, "去年03以来", said_periods("去年03以来"), STAYS, GRAMMAR) == grounded


def test_a_month_behind_a_year_is_one_of_that_year() -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {IN_JULY}", STAYS)
    question = "前年七月的住院"
    grounded = tuple(
        Literal("07", "%m", "", "date", (2, 4)) if isinstance(item, Literal) else item for item in program
    )
    assert Production("in_year") in periods_as_said(
        grounded, question, said_periods(question), STAYS, GRAMMAR
    )
    assert periods_as_said(grounded, "七月的住院", said_periods("七月的住院"), STAYS, GRAMMAR) == grounded
    apart = tuple(
        Literal("07", "%m", "", "date", (9, 11)) if isinstance(item, Literal) else item for item in program
    )
    assert (
        periods_as_said(
            apart, "前年住院的病人里七月的", said_periods("前年住院的病人里七月的"), STAYS, GRAMMAR
        )
        == apart
    )


def test_the_words_of_a_period_are_said_by_its_number() -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {IN_MONTH.format(3)}", STAYS)
    grounded = tuple(
        Literal(3, "", "", "number", (1, 2)) if isinstance(item, Literal) else item for item in program
    )
    (number,) = (
        item
        for item in periods_as_said(
            grounded, "近三个月的住院", said_periods("近三个月的住院"), STAYS, GRAMMAR
        )
        if isinstance(item, Literal)
    )
    assert (number.provenance, number.span) == ("number", (0, 4))
