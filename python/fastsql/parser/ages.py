"""Ages as a question says them: 未成年, 90后, "in their 30s" of people of whom a day of birth is known.

No year is the year 65, so what compares one with an age means the age. Words for an age without a number ("under age") and
for those who were born in a decade are read where the program asks nothing else of the day of birth.
"""

from __future__ import annotations

import re

from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import ColumnRef, Literal, Production, Program
from fastsql.grammar.tree import is_program
from fastsql.linking.vocabulary import chinese
from fastsql.parser.outer_query import columns_of, tables_of, with_condition
from fastsql.schema import Column, Schema

_BIRTH = re.compile(r"birth|(?<![a-z])dob(?![a-z])|出生|生日", re.IGNORECASE)
_YEAR_OF, _AND = Production("year_of"), Production("and")
_COMPARES = frozenset(map(Production, ("eq", "ne", "lt", "le", "gt", "ge", "between", "not_between")))
_SIGNS = _COMPARES - {Production("between"), Production("not_between")}
_WITHIN = frozenset(map(Production, ("not", "or", "and")))
_OLDEST = 130
_OF_AGE = 18
_UNDER_AGE = re.compile("未成年")
_BORN_IN = re.compile(chinese.BORN_IN)
_SAYS_MORE = re.compile(
    rf"[不没未除非](?!成年)|占|比例|百分比|比率|{chinese.BORN_IN.replace('year', 'one')}.*{chinese.BORN_IN}"
)
"""What denies an age, asks for a share of all ages, or names two decades."""
_THIS_CENTURY = 50
"""Two digits of a year below which it is one of this century."""


def is_birth(column: Column) -> bool:
    """Whether a column's name says that it holds days of birth."""
    return _BIRTH.search(column.label) is not None or _BIRTH.search(column.name) is not None


def ages_as_said(program: Program, question: str, schema: Schema, grammar: Grammar) -> Program:
    """The program; a year of birth that is compared with an age is one, and what the question says of ages is in it."""
    program = _ages_of_years(program, schema)
    under_age, decade = _UNDER_AGE.search(question), _BORN_IN.search(question)
    if (under_age is None) == (decade is None) or _SAYS_MORE.search(question):
        return program
    births = [
        one
        for one in columns_of(tables_of(program, grammar), schema)
        if schema.columns[one.column].type == "time" and is_birth(schema.columns[one.column])
    ]
    if len(births) != 1:
        return program
    (birth,) = births
    if decade is not None:
        shorter = _without_number(program, decade.span())
        program = shorter if is_program(shorter, grammar) else program
    if any(isinstance(item, ColumnRef) and item.column == birth.column for item in program):
        return program
    if under_age is not None:
        number = Literal(_OF_AGE, "", "", "number", under_age.span())
        return with_condition(program, (Production("since_year"), birth, number), grammar)
    assert decade is not None
    return with_condition(program, _born_in(birth, decade), grammar)


def _ages_of_years(program: Program, schema: Schema) -> Program:
    """The program; a year that is compared with a number of so few digits is an age."""
    for place in range(len(program) - 3):
        sign, year, column, number = program[place : place + 4]
        if (
            sign in _COMPARES
            and year == _YEAR_OF
            and isinstance(column, ColumnRef)
            and is_birth(schema.columns[column.column])
            and isinstance(number, Literal)
            and isinstance(number.value, int)
            and number.value < _OLDEST
        ):
            age = (Production("years_between"), Production("now"), column)
            program = (*program[: place + 1], *age, *program[place + 3 :])
    return program


def _without_number(program: Program, said: tuple[int, int]) -> Program:
    """The program without the comparison of an age, or of anything, with the number of a decade: 90 of 90后."""
    for place, item in enumerate(program):
        if not isinstance(item, Literal) or item.span is None or not said[0] <= item.span[0] < said[1]:
            continue
        start = next((one for one in range(place - 1, -1, -1) if program[one] in _SIGNS), None)
        if start is not None and (start == 0 or program[start - 1] not in _WITHIN):
            return (*program[:start], *program[place + 1 :])
    return program


def _born_in(birth: ColumnRef, said: re.Match[str]) -> Program:
    """That a day of birth lies in a decade."""
    digits = int(said["year"])
    first = digits + (2000 if digits < _THIS_CENTURY else 1900)
    low, high = (Literal(str(year), "%Y", "", "date", said.span()) for year in (first, first + 9))
    return _AND, Production("date_ge"), birth, low, Production("date_le"), birth, high
