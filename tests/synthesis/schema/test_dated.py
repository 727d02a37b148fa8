"""Conditions on when something was, beside those of a template."""

from __future__ import annotations

import random

import pytest

from fastsql.execution import Executor
from fastsql.grammar import render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.dated import FORMS, dated
from fastsql.synthesis.schema.words import Words
from fastsql.verification.parse import parse_query

SEEDS = 30


def with_times(sql: str, schema: Schema, executor: Executor) -> list[str]:
    """What is made of a query, by the seed."""
    query = parse_query(render(sql_to_program(sql, schema), schema))
    words, contents = Words(schema), Contents(schema, executor)
    found = (dated(query.copy(), words, contents, random.Random(seed)) for seed in range(SEEDS))
    return [one.sql(dialect="sqlite") for one in found if one is not None]


def test_a_time_that_some_row_has_is_asked_for_beside_what_was(clinic: Schema, executor: Executor) -> None:
    made = with_times("SELECT COUNT(*) FROM visits WHERE reason = 'cough'", clinic, executor)
    assert len(made) == SEEDS
    assert {form for form in FORMS for sql in made if f"STRFTIME('{form}'," in sql} == set(FORMS)
    for sql in made:
        assert "reason = 'cough'" in sql.replace('"', "")
        moment = sql.partition("STRFTIME")[2]
        assert executor.run(f"SELECT 1 FROM visits WHERE STRFTIME{moment} LIMIT 1").rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM patients EXCEPT SELECT name FROM patients WHERE sex = 'F'",
        "SELECT reason FROM visits ORDER BY day DESC LIMIT 1",
        "SELECT COUNT(*) FROM visits WHERE day > '2020-01-01'",
        "SELECT name FROM patients WHERE patient_id IN (SELECT patient_id FROM visits)",
        "SELECT COUNT(*) FROM wards",
        "SELECT MAX(day) FROM visits",
        "SELECT day, COUNT(*) FROM visits GROUP BY day",
        "SELECT COUNT(v.visit_id) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.patient_id",
    ],
)
def test_no_time_goes_into(sql: str, clinic: Schema, executor: Executor) -> None:
    assert with_times(sql, clinic, executor) == []
