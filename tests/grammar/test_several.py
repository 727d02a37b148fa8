"""What matches a pattern may be several rows, so that nothing is equal to them."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, render, sql_to_program
from fastsql.grammar.several import among_several
from fastsql.schema import Schema

SCHEMA = Schema.from_ddl(
    "CREATE TABLE titles (code TEXT PRIMARY KEY, title TEXT, version INT);"
    "CREATE TABLE diagnoses (row_id INT PRIMARY KEY, code TEXT REFERENCES titles (code), patient INT);"
)
LIKE = "titles.title LIKE '%pneu%'"


def changed(sql: str) -> str:
    return render(among_several(sql_to_program(sql, SCHEMA), load_grammar()), SCHEMA)


@pytest.mark.parametrize(
    ("query", "behind"),
    [
        (f"SELECT titles.code FROM titles WHERE {LIKE}", ""),
        (
            f"SELECT titles.code FROM titles WHERE {LIKE} AND titles.version = 10",
            " AND diagnoses.patient = 5",
        ),
        (
            "SELECT titles.code FROM titles WHERE titles.title LIKE '%itis'",
            " ORDER BY diagnoses.patient ASC LIMIT 3",
        ),
    ],
)
def test_what_equals_the_rows_of_a_pattern_is_among_them(query: str, behind: str) -> None:
    sql = "SELECT DISTINCT diagnoses.patient FROM diagnoses WHERE diagnoses.code {} ({}){}"
    assert changed(sql.format("=", query, behind)) == sql.format("IN", query, behind)
    assert changed(sql.format("IN", query, behind)) == sql.format("IN", query, behind)


def test_an_inner_query_is_changed_too() -> None:
    sql = (
        "SELECT COUNT(*) FROM diagnoses WHERE diagnoses.patient IN "
        "(SELECT diagnoses.patient FROM diagnoses WHERE diagnoses.code {} (SELECT titles.code FROM titles WHERE {}))"
    )
    assert changed(sql.format("=", LIKE)) == sql.format("IN", LIKE)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT titles.code FROM titles WHERE titles.title = 'pneumonia'",
        f"SELECT MAX(titles.code) FROM titles WHERE {LIKE}",
        f"SELECT titles.code FROM titles WHERE {LIKE} ORDER BY titles.version DESC LIMIT 1",
    ],
)
def test_one_value_stays_one(query: str) -> None:
    sql = f"SELECT COUNT(*) FROM diagnoses WHERE diagnoses.code = ({query})"
    assert changed(sql) == sql
