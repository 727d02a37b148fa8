"""Points in time and ages in the order that a question plainly says: the oldest come first, whatever a model thinks.

The oldest patient is the one with the earliest day of birth, and with the largest age: which of the two a column holds is
seldom learnt.
"""

from __future__ import annotations

import re

from fastsql.grammar.program import ColumnRef, Production, Program
from fastsql.linking.vocabulary import chinese, english
from fastsql.schema import Column, Schema

_ASCENDING, _DESCENDING, _LIMIT = Production("asc"), Production("desc"), Production("limit")
_FIRST, _LAST, _OLDEST, _YOUNGEST = (
    re.compile(rf"(?<![\w-])(?:{'|'.join(one)})(?![\w-])|{'|'.join(other)}", re.IGNORECASE)
    for one, other in (
        (english.EARLIEST_FIRST, chinese.EARLIEST_FIRST),
        (english.LATEST_FIRST, chinese.LATEST_FIRST),
        (english.OLDEST, chinese.OLDEST),
        (english.YOUNGEST, chinese.YOUNGEST),
    )
)
_AGES = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(english.AGES)})(?![^\W_])|{'|'.join(chinese.AGES)}", re.IGNORECASE
)


def ordered_as_said(program: Program, schema: Schema, question: str) -> Program:
    """The program; where it takes the first by a time or an age and sorts by nothing else, it takes those that are said."""
    keys = [place for place, item in enumerate(program) if item in (_ASCENDING, _DESCENDING)]
    if len(keys) != 1 or program[keys[0] + 2 : keys[0] + 3] != (_LIMIT,):
        return program
    column = program[keys[0] + 1]
    if not isinstance(column, ColumnRef):
        return program
    held = schema.columns[column.column]
    if held.type == "time":
        ascending, descending = _FIRST.search(question), _LAST.search(question)
    elif _holds_ages(held):
        ascending, descending = _YOUNGEST.search(question), _OLDEST.search(question)
    else:
        return program
    if (ascending is None) == (descending is None):
        return program
    order = _DESCENDING if ascending is None else _ASCENDING
    return (*program[: keys[0]], order, *program[keys[0] + 1 :])


def _holds_ages(column: Column) -> bool:
    """Whether a column of numbers is called an age."""
    return column.type == "number" and any(map(_AGES.search, (column.label, *column.synonyms)))
