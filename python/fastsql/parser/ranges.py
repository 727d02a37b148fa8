"""From one end to another is all that lies between: 2022年3-5月, "from 2021 to 2022", 大于20小于40, 60岁以上80岁以下.

A model that compares a thing with one end of a range has said which thing; that there is another end, words leave no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import ColumnRef, Literal, Production, Program
from fastsql.grammar.tree import is_program
from fastsql.linking.candidate import Candidate
from fastsql.linking.said_comparisons import said_of
from fastsql.linking.vocabulary import chinese, english

_AND, _NOT = Production("and"), Production("not")
_AT, _FROM, _UNTIL, _EQUAL = map(Production, ("date_eq", "date_ge", "date_le", "eq"))
_MOMENTS = ("%Y", "%Y-%m", "%Y-%m-%d")
_TO = re.compile(
    rf"\s*(?:(?<![A-Za-z])(?:{'|'.join(english.RANGE_TO)})(?![A-Za-z])|{'|'.join(chinese.TO)})\s*",
    re.IGNORECASE,
)
_COMPARED = 3
"""Terminals of a comparison."""
_ABOVE = ("gt", "ge")
_SIGNS = frozenset(map(Production, ("eq", "lt", "le", "gt", "ge")))
_LONGEST = 5
"""Terminals from a sign to what it compares an age with."""
_UNITS = (*chinese.COUNTED, "岁", "周岁", "个月", "周", "块钱")
_BOUNDS = "|".join(map(re.escape, chinese.BOUNDS))
_BESIDE = re.compile(
    rf"(?:{'|'.join(_UNITS)})?(?:以[上下])?(?:[且并但而又]|并且|而且|[,，、])?(?:{_BOUNDS})?"
)
"""Between two bounds: a unit, and words that compare."""


def with_ranges(program: Program, question: str, candidates: Sequence[Candidate]) -> Program:
    """The program; where it has one end of a range that the question says, it has both."""
    for low, high in _ranges(question, candidates):
        used = [
            number
            for number, item in enumerate(program)
            if isinstance(item, Literal) and item.span in (low.span, high.span)
        ]
        if len(used) != 1 or used[0] < 2 or program[used[0] - _COMPARED : used[0] - 2] == (_NOT,):
            continue
        start = used[0] - 2
        sign, column, date = program[start : start + _COMPARED]
        assert isinstance(date, Literal)
        own = low if date.span == low.span else high
        if (
            isinstance(column, ColumnRef)
            and date.format == own.format
            and sign in (_AT, _EQUAL, _FROM, _UNTIL)
        ):
            if sign == (_UNTIL if own is low else _FROM):
                continue  # until the first, or from the last on: another range is meant
            ends = (_FROM, column, _literal(low), _UNTIL, column, _literal(high))
            program = (*program[:start], _AND, *ends, *program[start + _COMPARED :])
    return program


def with_bounds(
    program: Program, question: str, candidates: Sequence[Candidate], grammar: Grammar
) -> Program:
    """The program; where it compares an amount with one of two bounds that the question sets side by side, it has both."""
    numbers = sorted((one for one in candidates if one.kind == "number"), key=lambda one: one.span)
    for low, high in pairwise(numbers):
        if low.span[1] > high.span[0] or not _BESIDE.fullmatch(question, low.span[1], high.span[0]):
            continue
        first, second = said_of(question, low.span), said_of(question, high.span)
        used = [
            number
            for number, item in enumerate(program)
            if isinstance(item, Literal) and item.span in (low.span, high.span)
        ]
        if len(used) != 1 or first is None or second is None or (first in _ABOVE) == (second in _ABOVE):
            continue
        start = _sign_before(program, used[0])
        if start is None:
            continue
        amount = program[start + 1 : used[0]]
        bounds = (Production(first), *amount, _literal(low), Production(second), *amount, _literal(high))
        changed = (*program[:start], _AND, *bounds, *program[used[0] + 1 :])
        program = changed if is_program(changed, grammar) else program
    return program


def _sign_before(program: Program, literal: int) -> int | None:
    """Where the comparison of an amount with a literal begins: a column, its aggregate, or an age."""
    for place in range(literal - 2, max(literal - _LONGEST, -1), -1):
        if program[place] in _SIGNS:
            return place
    return None


def _ranges(question: str, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Dates of one format with a word between them that makes a range of them, the earlier one first."""
    dates = [one for one in candidates if one.kind == "date" and one.format in _MOMENTS]
    dates.sort(key=lambda one: (one.span, -len(one.format)))
    for one, other in pairwise(dates):
        in_order = one.span[1] <= other.span[0] and str(one.value) < str(other.value)
        if in_order and one.format == other.format and _TO.fullmatch(question, one.span[1], other.span[0]):
            yield one, other


def _literal(one: Candidate) -> Literal:
    return Literal(one.value, one.format, "", one.source, one.span)
