"""Durations are told in the unit that a question names: days, hours or minutes.

A model that takes the time between two moments has said which ones; the unit it often leaves at days, which its training
has most of, and the grammar has no minutes. So where a question names one unit of durations, that one is taken.
"""

from __future__ import annotations

import re

from fastsql.grammar.compared import DURATIONS
from fastsql.grammar.program import Literal, Production, Program, Terminal
from fastsql.linking.vocabulary import chinese, english

_DAYS, _HOURS = map(Production, DURATIONS)
_FACTORS = frozenset(map(Production, ("times", "divide")))
_PER_HOUR = 60
_SAID = re.compile(
    "|".join(
        rf"(?P<{unit}>(?<![A-Za-z])(?:{spaced})(?![A-Za-z])|{chinese.UNITS_OF_DURATIONS[unit]})"
        for unit, spaced in english.UNITS_OF_DURATIONS.items()
    ),
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(english.BEFORE_RELATIVE_TIMES)})\s+(?:the\s+)?(?:[\w-]+\s+)?$"
    rf"|(?:{'|'.join(chinese.BEFORE_RELATIVE_TIMES)})\s*\w{{0,3}}个?$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    rf"\s+(?:{'|'.join(english.BEHIND_RELATIVE_TIMES)})(?![A-Za-z])|(?:{'|'.join(chinese.BEHIND_RELATIVE_TIMES)})",
    re.IGNORECASE,
)


def in_said_unit(program: Program, question: str) -> Program:
    """The program, its durations in the unit that the question names; as it is where it names none or several."""
    unit = _said_unit(question)
    if unit is None:
        return program
    found: list[Terminal] = []
    for place, item in enumerate(program):
        if item not in (_DAYS, _HOURS) or _is_converted(program, place):
            found.append(item)
        elif unit == "minute":
            found += [Production("times"), Literal(_PER_HOUR), _HOURS]
        else:
            found.append(_DAYS if unit == "day" else _HOURS)
    return tuple(found)


def _is_converted(program: Program, place: int) -> bool:
    """Whether a duration is multiplied or divided: the model has thought of its unit."""
    before = program[max(0, place - 2) : place]
    return bool(before) and (
        before[-1] in _FACTORS or (before[0] in _FACTORS and isinstance(before[-1], Literal))
    )


def _said_unit(question: str) -> str | None:
    """The unit of durations that is named, unless several are; those that tell a point in time are not counted."""
    units = {
        said.lastgroup
        for said in _SAID.finditer(question)
        if not _BEFORE.search(question[: said.start()]) and not _BEHIND.match(question, said.end())
    }
    return units.pop() if len(units) == 1 else None
