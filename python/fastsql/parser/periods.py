"""Periods that are told from now are those that the question says: 近三个月 is the last three months, 前年 two years back.

A model that compares a time with the calendar has said which time it is; of how many units, and whether that period or what
came since, it mistakes where its training said so seldom. "In the first half of this year" is read as that part of the year:
the grammar has no such periods, and a model takes the whole year.
"""

from __future__ import annotations

from fastsql.grammar.compared import CALENDAR, YEARLY
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal
from fastsql.linking.said_periods import SaidPeriod, said_periods

_CALENDAR = frozenset(map(Production, CALENDAR))
_AND, _IN_TIME = Production("and"), Production("date_eq")
_SMALL = {Production(name): number for number, name in enumerate(("zero", "one", "two"))}
_CONDITION = 3
"""Terminals of a comparison with the calendar."""


def periods_as_said(program: Program, question: str) -> Program:
    """The program; its one period that is told from now is the one that the question says.

    Where the question or the program has several, nobody knows which is which: they stay. A month or a day that the program
    takes of any year is one of the year that the question names in front of it.
    """
    said = said_periods(question)
    if len({(one.production, one.count, one.part and one.part.months) for one in said}) != 1:
        return program
    (period, *_) = said
    places = [place for place in range(len(program) - 2) if _is_period(program, place)]
    if not places:
        return _of_that_year(program, question, period)
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
    # What is said by "three months" is not left out; "last year" is no number that stands in the question.
    said = (provenance, period.span) if provenance else ("", None)
    whole = Production(period.production), column, Literal(period.count, "", "", *said)
    if period.part is None:
        return whole
    first, last = (Literal(f"{month:02}", "%m", "", "date", period.part.span) for month in period.part.months)
    within = (_AND, Production("date_ge"), column, first, Production("date_le"), column, last)
    return _AND, *whole, *within


def _of_that_year(program: Program, question: str, period: SaidPeriod) -> Program:
    """The program; a month that the question names behind the period, a year, is a month of that year."""
    if period.production != "in_year" or period.part is not None:
        return program
    for place in range(len(program) - 2):
        sign, column, date = program[place : place + _CONDITION]
        if (
            sign == _IN_TIME
            and isinstance(column, ColumnRef)
            and isinstance(date, Literal)
            and date.format in YEARLY
            and date.span is not None
            and _stand_together(question, period.span, date.span)
        ):
            condition = (_AND, sign, column, date, *_written(period, column))
            return (*program[:place], *condition, *program[place + _CONDITION :])
    return program


def _stand_together(question: str, year: tuple[int, int], date: tuple[int, int]) -> bool:
    """Whether a date is said as one of a year: 前年十二月, "January of last year"."""
    first, second = sorted((year, date))
    between = question[first[1] : second[0]].strip()
    return first[1] <= second[0] and between in (("", "的") if first == year else ("", "of", ","))
