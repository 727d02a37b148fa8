"""Patterns that match: which a search may say to LIKE where all values of a column are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import ActionSpace, State
from fastsql.grammar.actions import CANDIDATE, COLUMN, END, START
from fastsql.grammar.grounding import Grounds
from fastsql.grammar.matching import ANYWHERE, EVERY, LIKE, Patterns

from .test_grounding import ELSEWHERE, NAME, TWO, WARD, after, production, space, takable

#  0   1   2  3   4   5    6 7
# "who was on the icu ward 2 times"
NOTHING = Patterns()


def known(patterns: Patterns | None, spans: frozenset[tuple[int, int, int]] = frozenset()) -> ActionSpace:
    """The question, where the values of the ward's column are known."""
    return space(Grounds(frozenset({WARD}), spans=spans, patterns=patterns))


def starts(state: State) -> set[int]:
    return {index for kind, index in takable(state) if kind == START}


def ends(state: State) -> set[int]:
    return {index for kind, index in takable(state) if kind == END}


def begun(state: State, first: int) -> State:
    return state.advance(state.space.flat(START, first))


def offered(state: State) -> set[int]:
    return {index for kind, index in takable(state) if kind == CANDIDATE}


@pytest.mark.parametrize("negated", ["", "not_"])
def test_a_part_is_one_of_a_value(negated: str) -> None:
    state = after(known(Patterns(within=frozenset({(WARD, 3, 3), (WARD, 5, 7)}))), f"{negated}contains", WARD)
    assert starts(state) == {3, 5}
    assert ends(begun(state, 3)) == {3}
    assert ends(begun(state, 5)) == {5, 6, 7}


@pytest.mark.parametrize("negated", ["", "not_"])
def test_a_beginning_is_that_of_a_value(negated: str) -> None:
    patterns = Patterns(within=frozenset({(WARD, 3, 7)}), begun=frozenset({(WARD, 5, 6)}))
    state = after(known(patterns), f"{negated}begins", WARD)
    assert starts(state) == {5}
    assert ends(begun(state, 5)) == {5, 6}


@pytest.mark.parametrize("negated", ["", "not_"])
def test_an_end_is_that_of_a_value(negated: str) -> None:
    state = after(known(Patterns(ended=frozenset({(WARD, 3, 2), (WARD, 7, 6)}))), f"{negated}ends", WARD)
    assert starts(state) == {2, 3, 6, 7}
    assert ends(begun(state, 2)) == {3}
    assert ends(begun(state, 7)) == {7}


@pytest.mark.parametrize("negated", ["", "not_"])
def test_what_is_like_a_value_is_one(negated: str) -> None:
    patterns = Patterns(within=frozenset({(WARD, 0, 7)}))
    state = after(known(patterns, frozenset({(WARD, 5, 6)})), f"{negated}like", WARD)
    assert starts(state) == {5}
    assert ends(begun(state, 5)) == {6}


def test_what_could_not_be_looked_up_is_taken_to_be_everywhere() -> None:
    patterns = Patterns(within=frozenset({(EVERY, 1, 2), (WARD, 1, 5)}), ended=frozenset({(EVERY, 2, 1)}))
    for name, furthest in (("contains", {1, 2, 3, 5}), ("begins", {1, 2})):
        state = after(known(patterns), name, WARD)
        assert starts(state) == {1}
        assert ends(begun(state, 1)) & {1, 2, 3, 5, 7} == furthest
    assert starts(after(known(patterns), "ends", WARD)) == {1, 2}


@pytest.mark.parametrize("name", ["contains", "begins", "ends", "like"])
def test_candidates_match_as_they_were_found_to(name: str) -> None:
    """A number, and a value of another column."""
    way = ["contains", "begins", "ends", "like"].index(name)
    spelled = Patterns(
        within=frozenset({(WARD, 1, 1)}), ended=frozenset({(WARD, 1, 1)}), begun=frozenset({(WARD, 1, 1)})
    )
    spans = frozenset({(WARD, 1, 1)})
    matched = replace(spelled, candidates=frozenset({(WARD, 1, 1 << way)}))
    assert offered(after(known(spelled, spans), name, WARD)) == set()
    assert offered(after(known(matched, spans), name, WARD)) == {1}
    unknown = replace(spelled, candidates=frozenset({(EVERY, 1, ANYWHERE | LIKE)}))
    assert offered(after(known(unknown, spans), name, WARD)) == {1}


def test_a_value_of_the_column_matches_it() -> None:
    held = replace(ELSEWHERE, columns=(WARD,))
    asked = replace(known(Patterns(within=frozenset({(WARD, 1, 1)}))), candidates=(TWO, held))
    assert offered(after(asked, "contains", WARD)) == {1}


@pytest.mark.parametrize("name", ["contains", "not_begins", "ends", "like"])
def test_a_pattern_is_not_begun_for_a_column_without_a_match(name: str) -> None:
    columns = {index for kind, index in takable(after(known(NOTHING), name)) if kind == COLUMN}
    assert WARD not in columns
    assert columns
    every = Patterns(within=frozenset({(EVERY, 0, 7)}), ended=frozenset({(EVERY, 7, 0)}))
    said = after(known(every, frozenset({(WARD, 5, 6)})), name)
    assert WARD in {index for kind, index in takable(said) if kind == COLUMN}


def test_where_nothing_matches_anything_can_be_said() -> None:
    """A search never ends without a query."""
    assert after(known(NOTHING), "contains", WARD).takable().all()


@pytest.mark.parametrize("name", ["contains", "begins", "ends", "like"])
def test_what_was_not_looked_up_is_not_bound(name: str) -> None:
    assert after(known(None), name).takable().all()
    assert after(known(None), name, WARD).takable().all()


def test_columns_not_known_whole_and_comparisons_without_a_pattern_are_free() -> None:
    free = space(Grounds(frozenset({NAME}), patterns=NOTHING))
    assert after(free, "contains", WARD).takable().all()
    assert starts(after(known(NOTHING), "lt", WARD)) == starts(after(known(None), "lt", WARD))
    assert production("contains") in takable(after(known(NOTHING)))
