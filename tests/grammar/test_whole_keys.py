"""A foreign key of several columns is one thing to a join: a program names the column that tells it, SQL has them all."""

from __future__ import annotations

import pytest

from fastsql import Schema
from fastsql.grammar import Production, render, sql_to_program, trace_program
from fastsql.grammar.space import ActionSpace

from ..schema.test_keys import NETWORK

SCHEMA = Schema.from_ddl(NETWORK)
WHOLE = "visits.hospital = labs.hospital AND visits.visit = labs.visit"
TO_PATIENTS = "patients.hospital = visits.hospital AND patients.patient = visits.patient"


def sql_of(sql: str, schema: Schema = SCHEMA) -> str:
    """The SQL of a query's program."""
    return render(sql_to_program(sql, schema), schema)


def names(sql: str, schema: Schema = SCHEMA) -> list[str]:
    return [item.name for item in sql_to_program(sql, schema) if isinstance(item, Production)]


@pytest.mark.parametrize(
    "on",
    [
        WHOLE,
        "labs.visit = visits.visit AND labs.hospital = visits.hospital",
        "visits.visit = labs.visit AND labs.hospital = visits.hospital",
    ],
)
def test_a_join_on_a_whole_key_is_a_way_along_it(on: str) -> None:
    sql = f"SELECT labs.value FROM visits JOIN labs ON {on}"
    assert names(sql)[:1] == ["along"]
    assert "on" not in names(sql)
    assert sql_of(sql) == f"SELECT labs.value FROM visits JOIN labs ON {WHOLE}"


def test_a_way_of_two_whole_keys_is_one_decision() -> None:
    sql = f"SELECT labs.value FROM patients JOIN visits ON {TO_PATIENTS} JOIN labs ON {WHOLE}"
    program = sql_to_program(sql, SCHEMA)
    assert [name for name in names(sql) if name in ("along", "join")] == ["along"]
    space = ActionSpace.for_question(SCHEMA, "values", (), ())
    trace = trace_program(program, space)
    decisions = [action for action, legal in zip(trace.actions, trace.legal, strict=True) if legal.sum() > 1]
    assert len(decisions) < 8, "the joins between follow by themselves"
    assert sql_of(sql) == sql


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
def test_a_join_on_what_tells_a_key_alone_stays_one(join: str) -> None:
    sql = f"SELECT labs.value FROM visits {join} labs ON visits.visit = labs.visit"
    assert sql_of(sql) == sql
    assert "along" not in names(sql)


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(
    "on",
    [
        "visits.hospital = labs.hospital",
        "visits.visit = labs.visit AND visits.hospital = labs.hospital AND visits.patient = labs.visit",
    ],
)
def test_other_conditions_stay_as_they_are(join: str, on: str) -> None:
    sql = f"SELECT labs.value FROM visits {join} labs ON {on}"
    assert sql_of(sql) == sql


def test_a_left_join_and_all_columns_name_the_key_once() -> None:
    for sql in (
        f"SELECT visits.visit FROM visits LEFT JOIN labs ON {WHOLE} WHERE labs.value IS NULL",
        f"SELECT * FROM visits JOIN labs ON {WHOLE}",
    ):
        assert "on" not in names(sql)
        assert WHOLE in sql_of(sql)


def test_a_left_join_keeps_further_conditions_beside_the_key() -> None:
    sql = f"SELECT visits.visit FROM visits LEFT JOIN labs ON {WHOLE} AND labs.value > 5"
    assert sql_of(sql) == sql


def test_a_table_that_is_there_twice_is_joined_to_the_one_that_is_meant() -> None:
    sql = (
        "SELECT COUNT(*) FROM visits AS one JOIN labs AS first ON one.hospital = first.hospital AND one.visit = first.visit "
        "JOIN labs AS other ON one.hospital = other.hospital AND one.visit = other.visit"
    )
    found = sql_of(sql)
    assert found.count("hospital") == 4
    assert sql_of(found) == found


def test_in_parts_every_column_is_named_as_it_always_was() -> None:
    parts = SCHEMA.in_parts
    sql = f"SELECT labs.value FROM visits JOIN labs ON {WHOLE}"
    assert "on" in names(sql, parts)
    assert sql_of(sql, parts) == sql
