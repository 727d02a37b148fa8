"""A turn that changes the conditions of an answer changes those of its latest form."""

from __future__ import annotations

from typing import Any, cast

import pytest

from fastsql.grammar import load_grammar
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, TableRef, TurnRef
from fastsql.parser.latest import of_latest
from fastsql.session.turn import Turn, TurnState

EXTEND, KEEP, END = map(Production, ("extend", "keep", "end"))
LIST: Program = (TableRef(0), ColumnRef(1, 0), END)
UNDER: Program = (Production("lt"), ColumnRef(2, 0), Literal(2000))
JOIN: Program = (Production("along"), TableRef(1), TableRef(1), ColumnRef(0, 0), ColumnRef(5, 1))


def turn(number: int, written: Program, *, sql: str | None = "SELECT 1") -> Turn:
    """A turn by its number whose query, with references by number, is `written`."""
    state = TurnState(cast("Any", None), written, "", "")
    return Turn("?", sql, 0.9, abstained=sql is None, number=number, state=state)


def of(number: int) -> Program:
    """A query that shows another column of the turn of this number."""
    return (EXTEND, TurnRef(number), ColumnRef(3, 0), END)


@pytest.mark.parametrize(
    ("written", "pointed", "latest"),
    [
        ([LIST, of(3)], 0, 1),
        ([LIST, of(3), of(4)], 0, 2),
        ([LIST, of(3), of(4)], 1, 2),
        ([LIST, (Production("extend_from"), TurnRef(3), *UNDER, KEEP)], 0, 1),
        ([LIST], 0, 0),
        ([LIST, LIST], 0, 0),  # the latest is about something else
        ([LIST, LIST, of(4)], 0, 0),
        ([LIST, (Production("previous"), TurnRef(3), Production("count_all"), END)], 0, 0),
    ],
)
@pytest.mark.parametrize("name", ["extend", "extend_from"])
def test_conditions_are_changed_where_they_came_to(
    name: str, written: list[Program], pointed: int, latest: int
) -> None:
    turns = [turn(3 + place, one) for place, one in enumerate(written)]
    own: Program = (Production(name), TurnRef(pointed), *UNDER, KEEP)
    assert of_latest(own, turns, load_grammar()) == (own[0], TurnRef(latest), *own[2:])


@pytest.mark.parametrize(
    "own",
    [
        LIST,
        (EXTEND, TurnRef(0), ColumnRef(4, 0), END),  # other columns of the same rows
        (EXTEND, TurnRef(0), *JOIN, *UNDER, KEEP),  # sources are counted from those of the turn
        (),
    ],
)
def test_what_is_more_than_a_condition_is_left_as_it_is(own: Program) -> None:
    assert of_latest(own, [turn(1, LIST), turn(2, of(1))], load_grammar()) == own


def test_a_turn_that_was_refused_is_not_the_latest() -> None:
    turns = [turn(1, LIST), turn(2, of(1)), turn(3, of(2), sql=None)]
    own: Program = (EXTEND, TurnRef(0), *UNDER, KEEP)
    assert of_latest(own, turns, load_grammar())[1] == TurnRef(1)


def test_turns_that_go_on_from_each_other_are_none_that_one_goes_on_from() -> None:
    """No session writes such, but a record could."""
    turns = [turn(1, LIST), turn(2, of(3)), turn(3, of(2))]
    own: Program = (EXTEND, TurnRef(0), *UNDER, KEEP)
    assert of_latest(own, turns, load_grammar()) == own
