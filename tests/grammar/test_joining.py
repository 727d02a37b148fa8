"""Joins on keys: what a search passes over, and what it leaves alone."""

from __future__ import annotations

import pytest

from fastsql.grammar import State, sql_to_program, trace_program
from fastsql.grammar.actions import STEP, TABLE

from ..worlds.grammar_hospitals import CLINIC
from .grounding import space_for
from .steps import columns, decisions, state_after

SPACE = space_for(CLINIC, "how many")


def after(*steps: str) -> State:
    return state_after(SPACE, *steps)


@pytest.mark.parametrize("join", ["join", "left_join"])
def test_a_table_is_joined_on_a_key_that_both_have(join: str) -> None:
    state = after("labs", join, "stays")
    assert columns(state) == {"labs.patient", "labs.stay"}
    assert columns(state, all_legal=True) > {"labs.code"}
    assert columns(after("labs", join, "stays", "labs.stay")) == {"stays.id"}
    assert columns(after("labs", join, "stays", "labs.patient")) == {"stays.patient"}


def test_every_table_before_may_have_the_key() -> None:
    found = columns(after("labs", "join", "stays", "labs.stay", "stays.id", "join", "payers"))
    assert found == {"stays.payer"}


def tables(state: State) -> set[str]:
    """The tables that may be taken."""
    found = (SPACE.locate(int(action)) for action in state.legal()[state.takable()])
    return {CLINIC.tables[index].name for kind, index in found if kind == TABLE}


@pytest.mark.parametrize("join", ["join", "left_join"])
def test_tables_join_that_have_a_key_in_common_with_one_before(join: str) -> None:
    assert tables(after("payers", join)) == {"stays"}
    assert tables(after("payers", join, "stays", "payers.id", "stays.payer", join)) == {
        "payers",
        "patients",
        "stays",
        "labs",
    }


def test_any_table_joins_one_without_keys_and_any_may_stand_beside() -> None:
    assert len(tables(after("codes", "join"))) == len(CLINIC.tables)
    assert len(tables(after("payers", "cross_join"))) == len(CLINIC.tables)


def test_tables_without_a_common_key_are_joined_on_anything() -> None:
    found = columns(after("labs", "join", "codes"))
    assert found == {"labs.patient", "labs.stay", "labs.code", "labs.value"}
    assert columns(after("labs", "join", "codes", "labs.stay")) == {"codes.code", "codes.label"}


def test_further_comparisons_of_a_join_are_free() -> None:
    state = after("labs", "join", "stays", "labs.stay", "stays.id", "on")
    assert "labs.code" in columns(state)


def test_a_table_joins_itself_on_what_several_rows_may_share() -> None:
    assert columns(after("stays", "join", "stays")) == {"stays.id", "stays.patient", "stays.payer"}
    assert columns(after("stays", "join", "stays", "stays.patient")) == {"stays.patient"}
    assert columns(after("staff", "join", "staff", "staff.id")) == {"staff.boss"}
    assert "patients" not in tables(after("patients", "join"))


def test_no_legal_action_becomes_illegal() -> None:
    """What a search passes over can still be written: it is a matter of the search, not of the language."""
    sql = "SELECT labs.value FROM labs JOIN stays ON labs.code = stays.payer"
    assert len(trace_program(sql_to_program(sql, CLINIC), SPACE).actions) > 3


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT T.patient FROM (SELECT patient, value FROM labs) AS T JOIN patients ON T.patient = patients.id",
        "SELECT T.n FROM (SELECT COUNT(*) AS n FROM labs) AS T JOIN (SELECT value FROM labs) AS U ON T.n = U.value",
        "SELECT name FROM labs JOIN stays ON labs.stay = stays.id LEFT JOIN payers ON stays.payer = payers.id",
    ],
)
def test_queries_that_join_on_keys_or_join_subqueries_are_taken(sql: str) -> None:
    for state, action in decisions(SPACE, sql):
        assert action in state.legal()[state.takable()]


def test_an_item_of_a_derived_table_is_a_key_where_it_passes_one_on() -> None:
    sql = (
        "SELECT T.v FROM (SELECT patient AS p, value AS v FROM labs) AS T JOIN patients ON T.p = patients.id"
    )
    sides = [
        (state, action)
        for state, action in decisions(SPACE, sql)
        if SPACE.grammar.symbols[state.symbol] == "earlier"
    ]
    ((state, action),) = sides
    assert [SPACE.locate(int(one))[0] for one in state.legal()] == [STEP, STEP]
    assert state.legal()[state.takable()].tolist() == [action]
