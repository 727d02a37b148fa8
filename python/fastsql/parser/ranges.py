"""From one date to another is all that lies between: 2022年3-5月, 2021到2022年, "from 2021 to 2022".

A model that compares a time with one end of a range has said which time; that there is another end, words leave no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fastsql.grammar.program import ColumnRef, Literal, Production, Program
from fastsql.linking.candidate import Candidate
from fastsql.linking.vocabulary import chinese, english

_AND, _NOT = Production("and"), Production("not")
_AT, _FROM, _UNTIL = map(Production, ("date_eq", "date_ge", "date_le"))
_MOMENTS = ("%Y", "%Y-%m", "%Y-%m-%d")
_TO = re.compile(
    rf"\s*(?:(?<![A-Za-z])(?:{'|'.join(english.RANGE_TO)})(?![A-Za-z])|{'|'.join(chinese.TO)})\s*",
    re.IGNORECASE,
)
_COMPARED = 3
"""Terminals of a comparison."""


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
        if isinstance(column, ColumnRef) and date.format == own.format and sign in (_AT, _FROM, _UNTIL):
            if sign == (_UNTIL if own is low else _FROM):
                continue  # until the first, or from the last on: another range is meant
            ends = (_FROM, column, _literal(low), _UNTIL, column, _literal(high))
            program = (*program[:start], _AND, *ends, *program[start + _COMPARED :])
    return program


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
