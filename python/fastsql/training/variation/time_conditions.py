"""Time conditions in a program: cut out, put in, and in the converter's order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal
from fastsql.training.variation.time_wordings import Condition

FIXED_OPERANDS = frozenset({"or", "and", "not", "case"})
"""Productions that take a fixed number of conditions, where none may be added or left out."""


_TIME_CONDITION = re.compile(
    r"(?P<three>within_\w+)|(?:in|since|until|same)_(?:year|month|day|hour|time)|date_(?:eq|ne|lt|le|gt|ge)"
)

Places = tuple[tuple[int, Terminal], ...]
"""Where time filters go: positions in the program without them, and the column that each is about."""


def cut_time(program: Program, conditions: Sequence[Condition]) -> tuple[Program, Places] | None:
    """The program without a time filter, and the places where that was; None if it stands nowhere.

    A filter is one or two conditions on one column, next to each other. Programs with FIXED_OPERANDS are left alone.
    """
    if any(isinstance(item, Production) and item.name in FIXED_OPERANDS for item in program):
        return None
    bare: list[Terminal] = []
    places: list[tuple[int, Terminal]] = []
    position = 0
    while position < len(program):
        column = _match_filter(program, position, conditions)
        if column is None:
            bare.append(program[position])
            position += 1
        else:
            places.append((len(bare), column))
            position += 3 * len(conditions)
    return (tuple(bare), tuple(places)) if places else None


def paste_time(program: Program, places: Places, conditions: Sequence[Condition]) -> Program:
    """The inverse of `cut_time`, for any conditions."""
    result: list[Terminal] = []
    position = 0
    for place, column in places:
        result += program[position:place]
        for name, value, form in conditions:
            result += [Production(name), column, Literal(value, form)]
        position = place
    return sort_times((*result, *program[position:]))


def _match_filter(program: Program, position: int, conditions: Sequence[Condition]) -> Terminal | None:
    """The column that the conditions at `position` are about, if they are `conditions`."""
    column: Terminal | None = None
    for number, (name, value, form) in enumerate(conditions):
        three = program[position + 3 * number : position + 3 * number + 3]
        if len(three) < 3 or three[0] != Production(name):
            return None
        literal = three[2]
        if not isinstance(literal, Literal) or literal.value != value or (form and literal.format != form):
            return None
        if column is not None and three[1] != column:
            return None
        column = three[1]
    return column


def sort_times(program: Program) -> Program:
    """Neighbouring time conditions in the converter's canonical order: by column, then by what they say."""
    result: list[Terminal] = []
    run: list[Program] = []
    position = 0
    while position < len(program):
        length = _time_length(program[position])
        if length:
            run.append(program[position : position + length])
            position += length
            continue
        for condition in sorted(run, key=_order):
            result += condition
        run = []
        result.append(program[position])
        position += 1
    return tuple(result)


def _time_length(item: Terminal) -> int:
    """Terminals of the time condition that `item` begins, 0 if it begins none."""
    if not isinstance(item, Production):
        return 0
    match = _TIME_CONDITION.fullmatch(item.name)
    return 0 if match is None else 4 if match["three"] else 3


def _order(condition: Program) -> str:
    columns = " ".join(f"{item.column:05d}" for item in condition[:3] if isinstance(item, ColumnRef))
    return columns + " ".join("literal" if isinstance(item, Literal) else repr(item) for item in condition)
