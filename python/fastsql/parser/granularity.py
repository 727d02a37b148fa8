"""Points in time are compared with a year, a month, a part of a year or a day as with what these are: spans of time.

A model that compares a day with '2018' has said which column and which year; a database would compare one text with another,
and find no noon at or before that same day. So each date is compared at its own granularity. "In the second half of 2021" is
read as a part of that year, 2022年3月上旬 as days of that month: the grammar has no such dates, and a model takes the whole.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeAlias

from fastsql.grammar.compared import PARTS_OF_TIMES
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal
from fastsql.linking.said_periods import part_of_year
from fastsql.linking.vocabulary import chinese, english
from fastsql.schema import Column, Schema

_SIGNS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_RANGES = {"between": ("and", "ge", "le"), "not_between": ("or", "lt", "gt")}
_LISTS = ("in_list", "not_in_list")
_MONTH, _DAY = "%Y-%m", "%Y-%m-%d"
_COARSE = ("%Y", _MONTH)
_PARTS_OF_MOMENTS = ("%m", "%d", "%m-%d", "%H:%M", "%H:%M:%S")
"""Formats that are no moments, but come again and again."""
_YEAR_OF = Production("year_of")
_WITH_TIME_OF_DAY = re.compile(r"TIMESTAMP|(?:SMALL)?DATETIME", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[89]|2\d)\d\d")
_PART = re.compile(r"[0-2]?\d(?:[-:]|$)")
"""How a column's values begin that are parts of moments themselves: times of day, days of a year."""
_IN_YEAR = Production("date_eq")
_PARTS = frozenset(map(Production, PARTS_OF_TIMES))
_ALSO = Production("also")
_PART_OF_MONTH = re.compile(rf"份?的?(?P<part>{'|'.join(chinese.PARTS_OF_MONTHS)})")
_LAST_DAY = 31
_DECADE = re.compile("(?:1[89]|2[01])\\d0['’]?s")
"""The 1990s: a model takes the first year of it."""
_MONTHS = {_MONTH: _DAY, "%m": "%m-%d"}
"""Formats of months, and of their days."""
_HALF_DAY = 12
_COMPARED = 3
"""Terminals of a comparison; a range has one more."""
_PART_OF_DAY = re.compile(
    rf"\s*(?:o'?clock\s*)?(?:p\.?m\.?|(?:in the|at) (?P<part>{'|'.join(english.HOURS_OF_PARTS)}))(?![A-Za-z])",
    re.IGNORECASE,
)


def at_its_granularity(program: Program, schema: Schema, question: str) -> Program:
    """The program; a time is compared with a year or a month as such, or with the part of it that the question says."""
    found: list[Terminal] = []
    place = 0
    while place < len(program):
        new, taken = _condition(program[place : place + _COMPARED + 2], schema, question)
        found += new
        place += taken
    return tuple(found)


def with_parts_as_text(program: Program, question: str) -> Program:
    """The program; what a part of a time is compared with has its digits: '08' for 8, '20' for "8 in the evening"."""
    found = list(program)
    for place, item in enumerate(program):
        if not isinstance(item, Production) or item not in _PARTS or not _is_compared(program, place):
            continue
        value = place + 2
        while value < len(program) and (program[value] == _ALSO or isinstance(program[value], Literal)):
            literal = program[value]
            if isinstance(literal, Literal) and isinstance(literal.value, int):
                number = literal.value
                if item.name == "hour_of" and literal.span is not None:
                    number = _hour(number, question, literal.span)
                found[value] = replace(literal, value=f"{number:0{PARTS_OF_TIMES[item.name]}}")
            value += 1
    return tuple(found)


def _is_compared(program: Program, place: int) -> bool:
    sign = program[place - 1] if place else None
    return isinstance(sign, Production) and (
        sign.name in _SIGNS or sign.name in _RANGES or sign.name in _LISTS
    )


def _hour(number: int, question: str, span: tuple[int, int]) -> int:
    """The hour of the day of an hour that the question says there, by the part of the day beside it."""
    behind = _PART_OF_DAY.match(question, span[1])
    if behind is not None and behind["part"]:
        # A letter that only folds to one of these ("mornıng") is of none of them.
        return english.HOURS_OF_PARTS.get(behind["part"].lower(), {}).get(number, number)
    is_afternoon = behind is not None or question[: span[0]].endswith(tuple(chinese.AFTERNOON))
    return number + _HALF_DAY if is_afternoon and number < _HALF_DAY else number


def is_coarser(date: Literal, column: Column) -> bool:
    """Whether a date is a span of what a column holds, or a part of it: a year of days, the hour of a moment."""
    if column.type != "time":
        return False
    if date.format == _DAY:
        return _WITH_TIME_OF_DAY.match(column.sql_type) is not None
    if date.format in _PARTS_OF_MOMENTS:
        return not any(_PART.match(str(value)) for value in column.values)
    return date.format in _COARSE and not any(_YEAR.fullmatch(str(value)) for value in column.values)


def _condition(items: Program, schema: Schema, question: str) -> tuple[Program, int]:
    """What stands in the place of the first items, and how many these are."""
    as_it_is = items[:1], 1
    if len(items) < _COMPARED:
        return as_it_is
    if _is_year_of_date(items):
        new, taken = _condition((items[0], *items[2:]), schema, question)
        return new, taken + 1
    sign, column, low = items[:_COMPARED]
    if not isinstance(sign, Production) or not isinstance(column, ColumnRef) or not isinstance(low, Literal):
        return as_it_is
    if sign == _IN_YEAR:
        return _part(column, low, question), _COMPARED
    known = schema.columns[column.column]
    if not is_coarser(low, known):
        return as_it_is
    if sign.name in _SIGNS:
        return _dated(sign.name, column, low), _COMPARED
    high = items[_COMPARED] if sign.name in _RANGES and len(items) > _COMPARED else None
    if not isinstance(high, Literal) or not is_coarser(high, known):
        return as_it_is
    both, first, second = _RANGES[sign.name]
    return (Production(both), *_dated(first, column, low), *_dated(second, column, high)), _COMPARED + 1


def _is_year_of_date(items: Program) -> bool:
    """Whether the year of a time is compared with a month or a day, which no year is."""
    if items[1] != _YEAR_OF or len(items) <= _COMPARED:
        return False
    sign, date = items[0], items[_COMPARED]
    if not isinstance(sign, Production) or not (sign.name in _SIGNS or sign.name in _RANGES):
        return False
    return isinstance(date, Literal) and date.format in (_MONTH, _DAY)


def _dated(sign: str, column: ColumnRef, value: Literal) -> Program:
    return Production(f"date_{sign}"), column, value


def _part(column: ColumnRef, date: Literal, question: str) -> Program:
    """That a time is in a year or a month, or in the part of it that the question says."""
    said = None if date.span is None else _said_part(date, date.span, question)
    if said is None:
        return _dated("eq", column, date)
    (low, high), span = said
    first, last = (Literal(value, form, "", date.provenance, span) for value, form in (low, high))
    return Production("and"), *_dated("ge", column, first), *_dated("le", column, last)


_End: TypeAlias = tuple[str, str]
"""A date and its format."""


def _said_part(
    date: Literal, span: tuple[int, int], question: str
) -> tuple[tuple[_End, _End], tuple[int, int]] | None:
    """The first and last year, month or day of what the question says, and where it does; None where that is the date."""
    if date.format == "%Y" and (part := part_of_year(question, span)) is not None:
        first, last = part.months
        return ((f"{date.value}-{first:02}", _MONTH), (f"{date.value}-{last:02}", _MONTH)), part.span
    if date.format == "%Y" and _DECADE.fullmatch(question, *span) is not None:
        first_year = int(question[span[0] : span[0] + 4])
        return ((str(first_year), "%Y"), (str(first_year + 9), "%Y")), span
    if date.format in _MONTHS and (said := _PART_OF_MONTH.match(question, span[1])) is not None:
        first, last = chinese.PARTS_OF_MONTHS[said["part"]]
        day = _MONTHS[date.format]
        end = (f"{date.value}", date.format) if last == _LAST_DAY else (f"{date.value}-{last:02}", day)
        return ((f"{date.value}-{first:02}", day), end), (span[0], said.end())
    return None
