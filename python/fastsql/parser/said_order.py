"""Points in time in the order that a question plainly says: the oldest come first, whatever a model thinks.

The oldest patient is the one with the earliest day of birth: that "most" is least in the column is seldom learnt.
"""

from __future__ import annotations

import re

from fastsql.grammar.program import ColumnRef, Production, Program
from fastsql.linking.vocabulary import chinese, english
from fastsql.schema import Schema

_ASCENDING, _DESCENDING, _LIMIT = Production("asc"), Production("desc"), Production("limit")
_FIRST, _LAST = (
    re.compile(rf"(?<![\w-])(?:{'|'.join(one)})(?![\w-])|{'|'.join(other)}", re.IGNORECASE)
    for one, other in (
        (english.EARLIEST_FIRST, chinese.EARLIEST_FIRST),
        (english.LATEST_FIRST, chinese.LATEST_FIRST),
    )
)


def ordered_as_said(program: Program, schema: Schema, question: str) -> Program:
    """The program; where it takes the first by a point in time, and nothing else is sorted, it takes those that are said."""
    keys = [place for place, item in enumerate(program) if item in (_ASCENDING, _DESCENDING)]
    if len(keys) != 1 or program[keys[0] + 2 : keys[0] + 3] != (_LIMIT,):
        return program
    column = program[keys[0] + 1]
    if not isinstance(column, ColumnRef) or schema.columns[column.column].type != "time":
        return program
    first, last = _FIRST.search(question), _LAST.search(question)
    if (first is None) == (last is None):
        return program
    order = _ASCENDING if last is None else _DESCENDING
    return (*program[: keys[0]], order, *program[keys[0] + 1 :])
