"""Literals that exist: what a search may say where all values of a column are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import ActionSpace, State
from fastsql.grammar.actions import CANDIDATE, COLUMN, END, PRODUCTION, START
from fastsql.grammar.grounding import Grounds
from fastsql.linking import Candidate

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import space_for

TEXT = "who was on the icu ward 2 times"
#       0   1   2  3   4   5    6 7
WARD = HOSPITAL.column_index("admissions", "ward")
NAME = HOSPITAL.column_index("patients", "name")
TWO = Candidate(2, "number", (24, 25), "number")
ELSEWHERE = Candidate("icu", "text", (15, 18), "dictionary", (NAME,))


def space(grounds: Grounds) -> ActionSpace:
    """The question over the hospital, without values that stand with it."""
    bare = replace(space_for(HOSPITAL, TEXT, (TWO, ELSEWHERE)), grounds=grounds)
    return replace(bare, schema_values=())


def after(space: ActionSpace, *words: str | int) -> State:
    """The state after productions, by name, and columns, by number; tables come of themselves."""
    state = State.start(space)
    state = state.advance(space.flat(1, HOSPITAL.table_index("admissions")))
    for word in words:
        state = state.advance(
            space.flat(COLUMN, word) if isinstance(word, int) else space.grammar.productions.index(word)
        )
    return state


def takable(state: State) -> list[tuple[int, int]]:
    """Kinds and indices of what may be taken."""
    return [state.space.locate(int(a)) for a in state.legal()[state.takable()]]


def literals(state: State) -> set[tuple[int, int]]:
    """Those among them that say or begin a literal."""
    small = {state.space.grammar.productions.index(name) for name in ("zero", "one", "two", "months_as_days")}
    return {
        (kind, index)
        for kind, index in takable(state)
        if kind in (CANDIDATE, START, END) or (kind == PRODUCTION and index in small)
    }


def production(name: str) -> tuple[int, int]:
    return PRODUCTION, space(Grounds()).grammar.productions.index(name)


KNOWN = Grounds(frozenset({WARD}), spans=frozenset({(WARD, 4, 4), (WARD, 4, 5)}))


@pytest.mark.parametrize("comparison", ["eq", "ne", "in_list", "not_in_list"])
def test_equality_says_what_the_column_holds(comparison: str) -> None:
    state = after(space(KNOWN), comparison, WARD)
    assert literals(state) == {(START, 4)}
    begun = state.advance(state.space.flat(START, 4))
    assert literals(begun) == {(END, 4), (END, 5)}


@pytest.mark.parametrize("comparison", ["lt", "ge", "between", "like", "contains", "begins"])
def test_comparisons_other_than_equality_say_anything(comparison: str) -> None:
    found = literals(after(space(KNOWN), comparison, WARD))
    assert found == literals(after(space(Grounds()), comparison, WARD))
    assert len(found) > 5


def test_a_column_that_is_not_known_whole_is_compared_with_anything() -> None:
    found = literals(after(space(Grounds(frozenset({NAME}))), "eq", WARD))
    assert found == literals(after(space(Grounds()), "eq", WARD))
    assert len(found) > 5


def test_an_operand_that_is_no_literal_is_always_offered() -> None:
    state = after(space(Grounds(frozenset({WARD}))), "eq", WARD)
    assert not literals(state)
    assert {COLUMN} < {kind for kind, _ in takable(state)}


def test_a_number_is_said_where_the_column_holds_it_as_text() -> None:
    held = replace(KNOWN, candidates=frozenset({(WARD, 0)}), small=frozenset({(WARD, 1)}))
    assert literals(after(space(held), "eq", WARD)) == {(START, 4), (CANDIDATE, 0), production("one")}


def test_the_second_literal_of_a_list_is_one_that_the_column_holds() -> None:
    state = after(space(KNOWN), "in_list", WARD)
    state = state.advance(state.space.flat(START, 4))
    state = state.advance(state.space.flat(END, 5))
    state = state.advance(state.space.grammar.productions.index("also"))
    assert literals(state) == {(START, 4)}


def test_a_list_is_not_begun_for_a_column_without_a_literal() -> None:
    state = after(space(Grounds(frozenset({WARD}))), "in_list")
    assert (COLUMN, WARD) not in takable(state)
    assert (COLUMN, WARD) in takable(after(space(KNOWN), "in_list"))
    assert (COLUMN, WARD) in takable(after(space(Grounds(frozenset({WARD}))), "eq"))


def test_where_nothing_that_exists_can_be_said_anything_can() -> None:
    """A search never ends without a query."""
    state = after(space(Grounds(frozenset({WARD}))), "in_list", WARD)
    assert state.takable().all()


def test_a_part_of_a_value_is_no_value() -> None:
    state = after(space(KNOWN), "eq", "substring", WARD)
    while state.space.grammar.symbols[state.symbol] == "position":
        state = state.advance(state.space.grammar.productions.index("one"))
    assert state.takable().all()
