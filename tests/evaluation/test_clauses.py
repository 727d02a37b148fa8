"""Clauses that differ are told, and no others."""

from __future__ import annotations

import pytest

from fastsql.evaluation.canonical import FORM_NODES, Reading, read_query
from fastsql.evaluation.clauses import CLAUSES, clauses_of, differences
from fastsql.schema import Schema

from .fixtures import rows
from .test_canonical import SAME

ROWS = rows("clauses.tsv")


def read(sql: str, schema: Schema) -> Reading:
    reading = read_query(sql, schema)
    assert reading is not None
    return reading


def between(gold: str, predicted: str, schema: Schema) -> tuple[str, ...]:
    return differences(clauses_of(read(gold, schema)), clauses_of(read(predicted, schema)))


@pytest.mark.parametrize(("gold", "predicted", "expected"), ROWS)
def test_the_clauses_that_differ_are_named(schema: Schema, gold: str, predicted: str, expected: str) -> None:
    assert ", ".join(between(gold, predicted, schema)) == expected


@pytest.mark.parametrize(("gold", "predicted", "expected"), ROWS)
def test_differences_have_no_direction(schema: Schema, gold: str, predicted: str, expected: str) -> None:
    assert ", ".join(between(predicted, gold, schema)) == expected


@pytest.mark.parametrize(("one", "other"), SAME)
def test_queries_of_one_form_have_equal_clauses(schema: Schema, one: str, other: str) -> None:
    assert clauses_of(read(one, schema)) == clauses_of(read(other, schema))


def test_every_kind_of_difference_has_a_case() -> None:
    assert {kind for row in ROWS for kind in row[2].split(", ")} == set(CLAUSES)


def test_a_query_of_many_parts_is_taken_apart_within_the_bound(schema: Schema) -> None:
    sql = "SELECT age FROM admissions WHERE " + " AND ".join(f"age <> {n}" for n in range(FORM_NODES // 10))
    assert sum(clauses_of(read(sql, schema)).with_values["filters"].values()) == FORM_NODES // 10
