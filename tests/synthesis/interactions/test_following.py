"""Turns that go on behind the answer of a single question."""

from __future__ import annotations

import random

import pytest

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.grammar.inlining import write_out
from fastsql.grammar.render import render
from fastsql.synthesis.interactions.following import follow, known_values

from ...worlds.clinic import clinic_schema

SCHEMA = clinic_schema()
GRAMMAR = load_grammar()
WOMEN = "SELECT patients.patient_id FROM patients WHERE patients.sex = 'f'"
OTHERS = (
    "SELECT patients.born FROM patients WHERE patients.sex = 'm'",
    "SELECT COUNT(*) FROM patients WHERE patients.name = 'm'",
)


def followed(sql: str, times: int = 40) -> set[tuple[str, ...]]:
    """The queries behind a single question's, over many draws."""
    programs = [sql_to_program(one, SCHEMA) for one in (sql, *OTHERS)]
    values = known_values(programs, GRAMMAR)
    found = set()
    for seed in range(times):
        steps = follow((programs[0],), values, SCHEMA, GRAMMAR, random.Random(seed))
        written: list = []
        for step in steps:
            written.append(write_out(step, dict(enumerate(written)), SCHEMA, GRAMMAR))
        found.add(tuple(render(one, SCHEMA) for one in written[1:]))
    return found


def test_another_value_of_the_same_column_is_asked_for_and_rows_are_counted() -> None:
    men = "SELECT patients.patient_id FROM patients WHERE patients.sex = 'm'"
    count = "SELECT COUNT(*) FROM patients WHERE patients.sex = '{}'"
    assert followed(WOMEN) == {(), (men,), (count.format("f"),), (men, count.format("m"))}


def test_what_is_shown_once_is_counted_once() -> None:
    distinct = "SELECT DISTINCT patients.sex FROM patients"
    assert followed(distinct) == {(), ("SELECT COUNT(DISTINCT patients.sex) FROM patients",)}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM patients",
        "SELECT DISTINCT patients.sex, patients.name FROM patients",
        "SELECT patients.patient_id FROM patients WHERE patients.name > 'a' ORDER BY patients.born LIMIT 1",
        "SELECT patients.sex, COUNT(*) FROM patients GROUP BY patients.sex",
    ],
)
def test_nothing_follows_where_it_would_mean_something_else(sql: str) -> None:
    assert followed(sql) == {()}
