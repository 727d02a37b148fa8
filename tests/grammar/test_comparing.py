"""Comparisons that make sense: what a search passes over, and that it never runs out of actions."""

from __future__ import annotations

import pytest

from fastsql.grammar import State
from fastsql.grammar.comparing import meets

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import space_for
from .steps import columns, decisions, productions, state_after

SPACE = space_for(HOSPITAL, "how many")


def after(*steps: str) -> State:
    return state_after(SPACE, *steps)


@pytest.mark.parametrize("comparison", ["eq", "ne", "lt", "ge", "between"])
def test_a_column_is_not_compared_with_itself(comparison: str) -> None:
    found = columns(after("admissions", comparison, "admissions.hadm_id"))
    assert "admissions.subject_id" in found
    assert "admissions.hadm_id" not in found


def test_one_of_two_sources_of_a_table_may_be_compared_with_the_other() -> None:
    state = after("cost", "cross_join", "cost", "eq", "cost.hadm_id")
    state = state.advance(int(state.legal()[0]))  # which of the two
    assert "cost.hadm_id" in columns(state)


def test_a_time_meets_no_number_and_text_meets_both() -> None:
    assert "admissions.age" not in columns(after("admissions", "lt", "admissions.admittime"))
    assert "admissions.dischtime" not in columns(after("admissions", "eq", "admissions.age"))
    found = columns(after("admissions", "eq", "admissions.ward"))
    assert {"admissions.age", "admissions.admittime"} <= found
    assert meets("number", "text")
    assert meets("other", "time")
    assert not meets("number", "time")
    assert not meets("time", "boolean")


def test_a_time_meets_no_number_that_the_grammar_says() -> None:
    said = {"zero", "one", "two", "months_as_days"}
    assert not said & productions(after("admissions", "lt", "admissions.admittime"))
    assert said <= productions(after("admissions", "lt", "admissions.age"))
    assert said <= productions(after("admissions", "eq", "admissions.ward"))


def test_tables_are_not_joined_on_a_time_and_a_number() -> None:
    found = columns(after("admissions", "join", "labevents", "admissions.admittime"))
    assert found == {"labevents.charttime"}
    assert "labevents.charttime" not in columns(
        after("admissions", "join", "labevents", "admissions.hadm_id")
    )


def test_where_no_column_makes_sense_any_can_be_taken() -> None:
    state = after("admissions", "join", "d_items", "admissions.admittime")
    assert columns(state) == {"d_items.label", "d_items.unit"}
    state = after("patients", "join", "cost", "patients.dob")
    assert columns(state) == {"cost.event"}


def test_what_is_selected_or_grouped_is_not_compared() -> None:
    after_condition = after("admissions", "is_null", "admissions.admittime")
    assert "admissions.admittime" in columns(after_condition)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward FROM admissions GROUP BY ward HAVING MIN(age) = age",
        "SELECT a.ward FROM admissions AS a JOIN admissions AS b ON a.subject_id = b.subject_id WHERE a.age < b.age",
        "SELECT ward FROM admissions WHERE admittime < dischtime AND ward = age",
        "SELECT age FROM admissions WHERE age = (SELECT MIN(age) FROM admissions)",
    ],
)
def test_what_makes_sense_is_taken(sql: str) -> None:
    for state, action in decisions(SPACE, sql):
        assert action in state.legal()[state.takable()]
