"""Periods that are told from now are those that the question says: 近三个月 is the last three months, 前年 two years back.

A model that compares a time with the calendar has said which time it is; of how many units, and whether that period or what
came since, it mistakes where its training said so seldom, or it leaves the period out. "In the first half of this year" is
read as that part of the year: the grammar has no such periods, and a model takes the whole year.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastsql.grammar.compared import CALENDAR, STARTS, TIMES, YEARLY
from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal
from fastsql.linking.said_periods import SaidPeriod
from fastsql.linking.vocabulary import english
from fastsql.parser.ages import is_birth
from fastsql.parser.outer_query import columns_of, tables_of, with_condition
from fastsql.schema import Column, Schema

_CALENDAR = frozenset(map(Production, CALENDAR))
_AND = Production("and")
_DATED = ("date_eq", "date_ge", "date_gt", "date_le", "date_lt")
_LATER = ("date_ge", "date_gt")
_REPEATED = {"in_year": YEARLY, "in_month": ("%d",)}
"""Formats of dates that come in every such period."""
_OTHER_ROWS = frozenset(
    map(
        Production,
        (
            *("in", "not_in", "exists", "not_exists", "scalar", "derived", "union", "intersect", "except"),
            *("now", "day_back", "month_back", "year_back", "month_start_back", "year_start_back"),
            *(name for names in STARTS.values() for name in names),
        ),
    )
)
_DENIES = re.compile(rf"{'|'.join(english.DENIALS)}|[不没未除]", re.IGNORECASE)
_OF_PERIODS = re.compile(r"year|month|年(?![龄纪])|月", re.IGNORECASE)
_TIME_OF_DAY = re.compile(r"TIME\b", re.IGNORECASE)
_NO_EVENT = re.compile(
    r"until|valid|due|expir|modif|updat|hire|join|found|establish|open|creat|sched|plan"
    r"|有效|到期|截止|失效|更新|修改|计划|预约|入职|成立|建立|注册|建档|开业|开诊|营业",
    re.IGNORECASE,
)
"""In the names of times that tell of no event of a row, or of one that is to come."""
_TIME_BEHIND = re.compile("(?:时间|日期|时刻|日|时)$")
_SMALL = {Production(name): number for number, name in enumerate(("zero", "one", "two"))}
_CONDITION = 3
"""Terminals of a comparison with the calendar."""


def periods_as_said(
    program: Program, question: str, said: Sequence[SaidPeriod], schema: Schema, grammar: Grammar
) -> Program:
    """The program; its one period that is told from now is the one that the question says; `said` are all that it says.

    Where the question or the program has several, nobody knows which is which: they stay. Months and days that the program
    takes of any year are those of the year that the question names beside them, and days of any month those of the month. A
    program without any time gets the period that is said, where one time of its rows can be meant.
    """
    if len({(one.production, one.count, one.part and one.part.months) for one in said}) != 1:
        return program
    (period, *_) = said
    places = [place for place in range(len(program) - 2) if _is_period(program, place)]
    if not places:
        found = _of_that_period(program, question, period)
        return found if found != program else _with_period(program, question, period, schema, grammar)
    if len({(program[place], _count(program[place + 2])) for place in places}) != 1:
        return program
    for place in reversed(places):
        column, number = program[place + 1 : place + _CONDITION]
        assert isinstance(column, ColumnRef)
        is_said = program[place] == Production(period.production) and _count(number) == period.count
        if period.part is not None or not is_said:
            provenance = number.provenance if isinstance(number, Literal) else ""
            condition = _written(period, column, provenance)
            program = (*program[:place], *condition, *program[place + _CONDITION :])
    return program


def _is_period(program: Program, place: int) -> bool:
    item, column, number = program[place : place + _CONDITION]
    return item in _CALENDAR and isinstance(column, ColumnRef) and _count(number) is not None


def _count(number: Terminal) -> int | None:
    if isinstance(number, Literal) and isinstance(number.value, int):
        return number.value
    return _SMALL.get(number) if isinstance(number, Production) else None


def _written(period: SaidPeriod, column: ColumnRef, provenance: str = "") -> Program:
    """The condition that says a period, and the part of a year that it means."""
    if period.production in STARTS:
        return _begun_with(period, column)
    # What is said by "three months" is not left out; "last year" is no number that stands in the question.
    said = (provenance, period.span) if provenance else ("", None)
    whole = Production(period.production), column, Literal(period.count, "", "", *said)
    if period.part is None:
        return whole
    first, last = (Literal(f"{month:02}", "%m", "", "date", period.part.span) for month in period.part.months)
    within = (_AND, Production("date_ge"), column, first, Production("date_le"), column, last)
    return _AND, *whole, *within


def _begun_with(period: SaidPeriod, column: ColumnRef) -> Program:
    """The condition that says a week or a quarter: its first day is that of the time's."""
    of_time, of_now = STARTS[period.production]
    return Production("eq"), Production(of_time), column, Production(of_now), Literal(period.count)


def _of_that_period(program: Program, question: str, period: SaidPeriod) -> Program:
    """The program; a month or a day that the question names beside the period is one of that year, or month."""
    forms = _REPEATED.get(period.production, ())
    if period.part is not None:
        return program
    for place in range(len(program) - 2):
        sign, column, date = program[place : place + _CONDITION]
        if not (
            isinstance(sign, Production)
            and sign.name in _DATED
            and isinstance(column, ColumnRef)
            and isinstance(date, Literal)
            and date.format in forms
            and date.span is not None
            and _stand_together(question, period.span, date.span)
        ):
            continue
        if sign.name in _LATER and period.count:
            return program  # what came after a month of last year came this year, too
        both = place and program[place - 1] == _AND and _is_until(program, place + _CONDITION, column, date)
        start, end = (place - 1, place + 2 * _CONDITION) if both else (place, place + _CONDITION)
        condition = (_AND, *_written(period, column), *program[start:end])
        return (*program[:start], *condition, *program[end:])
    return program


def _is_until(program: Program, place: int, column: ColumnRef, begun: Literal) -> bool:
    """Whether a range of dates of one format, begun before, ends here."""
    sign, same, date = program[place : place + _CONDITION]
    return (
        sign == Production("date_le")
        and same == column
        and isinstance(date, Literal)
        and date.format == begun.format
        and str(date.value) >= str(begun.value)
    )


def _stand_together(question: str, year: tuple[int, int], date: tuple[int, int]) -> bool:
    """Whether a date is said as one of a year: 前年十二月, "January of last year"."""
    first, second = sorted((year, date))
    between = question[first[1] : second[0]].strip()
    return first[1] <= second[0] and between in (("", "的") if first == year else ("", "of", ","))


def _with_period(
    program: Program, question: str, period: SaidPeriod, schema: Schema, grammar: Grammar
) -> Program:
    """The program with the period that it leaves out, on the time of its rows that alone can be meant.

    That is the one time of the tables of FROM that is no day of birth, or the one whose name the question says. Nothing is
    put in where the program has other rows in mind, counts from now or reads a column of years, or where what is said may be
    denied.
    """
    if _DENIES.search(question) or not _OTHER_ROWS.isdisjoint(program) or _has_time(program):
        return program
    used = {item.column for item in program if isinstance(item, ColumnRef)}
    if any(_OF_PERIODS.search(schema.qualified_name(column)) for column in used):
        return program
    times = [
        one
        for one in columns_of(tables_of(program, grammar), schema)
        if schema.columns[one.column].type == "time" and _tells_when(schema.columns[one.column])
    ]
    if len(times) > 1:
        times = [one for one in times if _is_named(schema.columns[one.column], question)]
    if len(times) != 1 or times[0].column in used:
        return program
    return with_condition(program, _written(period, times[0]), grammar)


def _tells_when(column: Column) -> bool:
    """Whether a time is when something happened: no day of birth, nor one until which something holds."""
    names = f"{column.name} {column.label}"
    return not (is_birth(column) or _TIME_OF_DAY.match(column.sql_type) or _NO_EVENT.search(names))


def _has_time(program: Program) -> bool:
    return any(
        (isinstance(item, Literal) and item.format) or (isinstance(item, Production) and item.name in TIMES)
        for item in program
    )


def _is_named(column: Column, question: str) -> bool:
    """Whether a question says what happened at a time: 入院 of 入院时间."""
    deed = _TIME_BEHIND.sub("", column.label)
    return bool(deed) and deed != column.label and deed in question
