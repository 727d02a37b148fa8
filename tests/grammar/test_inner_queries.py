"""The queries inside a query, which stand by themselves."""

from __future__ import annotations

import pytest

from fastsql.grammar import sql_to_program
from fastsql.grammar.render import render, render_parts
from fastsql.verification.verify import verify

from ..worlds.toy_model import SCHEMA

LAST = "SELECT MAX(patients.dob) FROM patients WHERE patients.gender = 'f'"
THEIRS = f"SELECT patients.subject_id FROM patients WHERE patients.dob = ({LAST})"


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("SELECT COUNT(*) FROM patients", []),
        (
            "SELECT COUNT(*) FROM patients INNER JOIN admissions ON patients.subject_id = admissions.subject_id",
            [],
        ),
        (f"SELECT COUNT(*) FROM admissions WHERE admissions.subject_id IN ({THEIRS})", [THEIRS, LAST]),
        (f"SELECT ({LAST}) > ({LAST})", [LAST, LAST]),
        (
            f"{THEIRS} UNION SELECT admissions.subject_id FROM admissions",
            [THEIRS, LAST, "SELECT admissions.subject_id FROM admissions"],
        ),
        (f"SELECT COUNT(T1.subject_id) FROM ({THEIRS}) AS T1", [THEIRS, LAST]),
        (
            f"SELECT COUNT(*) FROM admissions INNER JOIN ({THEIRS}) AS T1 ON admissions.subject_id = T1.subject_id",
            [THEIRS, LAST],
        ),
    ],
)
def test_every_query_inside_another_is_found_the_outer_one_first(sql: str, parts: list[str]) -> None:
    program = sql_to_program(sql, SCHEMA)
    found = render_parts(program, SCHEMA)
    assert list(found) == [render(sql_to_program(part, SCHEMA), SCHEMA) for part in parts]
    for part in found:
        verify(part, SCHEMA)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "tsql"])
def test_inner_queries_are_written_in_the_dialect_of_the_whole(dialect: str) -> None:
    program = sql_to_program(
        f"SELECT COUNT(*) FROM admissions WHERE admissions.subject_id IN ({THEIRS})", SCHEMA
    )
    outer, inner = render_parts(program, SCHEMA, dialect=dialect)
    assert outer in render(program, SCHEMA, dialect=dialect)
    assert inner in outer
