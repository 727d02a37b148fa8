"""Forms of queries that take more than a clause: arithmetic, outer joins, groups of groups, the first row of each group."""

from __future__ import annotations

import random

import pytest

from fastsql.grammar import sql_to_program
from fastsql.grammar.render import render_tree
from fastsql.schema import Schema
from fastsql.synthesis.schema.links import Links, identifying_columns
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.words import UnsayableError, Words
from fastsql.verification.parse import parse_query

_DDL = """
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, name TEXT, sex TEXT, ward_id INTEGER REFERENCES wards(ward_id));
CREATE TABLE visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(patient_id), reason TEXT,
    total_cost REAL, paid_cost REAL, age REAL, day DATE
);
CREATE TABLE drugs (drug_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits(visit_id), drug TEXT);
"""
_FIRST = (
    "SELECT T.reason FROM (SELECT reason, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day DESC) AS r FROM visits) T "
    "WHERE T.r = 1"
)


@pytest.fixture(autouse=True)
def every_part_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are asked for by what names them, and not as such."""
    monkeypatch.setattr("fastsql.synthesis.schema.questions.NAMELESS", 0.0)


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.from_ddl(_DDL)


def asked(sql: str, schema: Schema, seed: int) -> str:
    tree = render_tree(sql_to_program(sql, schema), schema)
    return ask(parse_query(tree.sql("sqlite")), Words(schema), random.Random(seed)).lower()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT MAX(total_cost) - MIN(total_cost) FROM visits", ["difference between the", "total cost"]),
        (
            "SELECT CAST(SUM(CASE WHEN reason = 'flu' THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM visits",
            ["percent", "visits whose reason is flu"],
        ),
        (
            (
                "SELECT CAST(SUM(CASE WHEN reason = 'flu' THEN 1 ELSE 0 END) AS REAL) / "
                "SUM(CASE WHEN reason = 'fall' THEN 1 ELSE 0 END) FROM visits"
            ),
            [
                "ratio of the number of visits whose reason is flu to the number of visits whose reason is fall"
            ],
        ),
        (
            "SELECT SUM(CASE WHEN reason = 'flu' THEN 1 ELSE 0 END) FROM visits",
            ["number of visits whose reason is flu"],
        ),
        (
            "SELECT AVG(T.c) FROM (SELECT COUNT(*) AS c FROM visits GROUP BY patient_id) T",
            ["number of visits per patient"],
        ),
        (
            "SELECT AVG(T.c) FROM (SELECT COUNT(*) AS c FROM visits WHERE reason = 'flu' GROUP BY patient_id) T",
            ["number of visits whose reason is flu per patient"],
        ),
        (_FIRST, ["reason of the visit with the", "day for each patient"]),
        (
            (
                "SELECT patients.name, COUNT(visits.visit_id) FROM patients LEFT JOIN visits "
                "ON patients.patient_id = visits.patient_id GROUP BY patients.patient_id"
            ),
            ["names", "number of visits", "including those"],
        ),
        (
            (
                "SELECT patients.name FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id "
                "WHERE visits.visit_id IS NULL"
            ),
            ["names", "patients that", "visits"],
        ),
        (
            "SELECT patients.name, visits.reason FROM patients JOIN visits ON patients.patient_id = visits.patient_id",
            ["that have", "visits"],
        ),
        (
            (
                "SELECT patients.name FROM patients JOIN visits ON patients.patient_id = visits.patient_id "
                "ORDER BY visits.total_cost DESC LIMIT 1"
            ),
            ["patient name of the visit with the", "total cost"],
        ),
        ("SELECT COUNT(DISTINCT patient_id) FROM visits", ["different patients"]),
        (
            (
                "SELECT visits.reason FROM visits JOIN patients ON visits.patient_id = patients.patient_id "
                "WHERE visits.total_cost > 5 OR patients.sex = 'F'"
            ),
            ["total cost is", "5 or that are of a patient whose sex is f"],
        ),
        (
            "SELECT strftime('%Y', day), COUNT(*) FROM visits GROUP BY strftime('%Y', day)",
            ["year of the day"],
        ),
        ("SELECT reason FROM visits WHERE day = (SELECT MAX(day) FROM visits)", ["day is the"]),
    ],
)
def test_more_than_a_clause_is_said(sql: str, said: list[str], schema: Schema) -> None:
    for seed in range(6):
        question = asked(sql, schema, seed).replace("distinct", "different")
        for part in said:
            assert part in question


@pytest.mark.parametrize(
    "sql",
    [
        # LIMIT comes after SUM: all visits are put together.
        "SELECT SUM(total_cost) FROM visits ORDER BY day DESC LIMIT 3",
        "SELECT total_cost - age FROM visits",
        "SELECT SUM(CASE WHEN reason = 'flu' THEN 1 ELSE 0 END) / COUNT(*) FROM visits",
        "SELECT MAX(total_cost) - MIN(age) FROM visits",
        "SELECT AVG(T.c) FROM (SELECT AVG(total_cost) AS c FROM visits GROUP BY patient_id) T",
        _FIRST.replace("T.r = 1", "T.r = 2"),
        (
            "SELECT COUNT(*) FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id "
            "GROUP BY patients.patient_id"
        ),
        (
            "SELECT patients.name FROM patients JOIN visits ON visits.patient_id = patients.patient_id "
            "WHERE visits.total_cost > 5 OR patients.sex = 'F'"
        ),
        "SELECT reason FROM visits WHERE total_cost BETWEEN 9 AND 3",
        # Only the visits for flu are counted, which "the patients that have a visit for flu" does not say.
        (
            "SELECT wards.name, COUNT(*) FROM wards JOIN patients ON wards.ward_id = patients.ward_id JOIN visits "
            "ON patients.patient_id = visits.patient_id WHERE visits.reason = 'flu' GROUP BY wards.ward_id"
        ),
        (
            "SELECT visits.reason FROM visits JOIN patients ON visits.patient_id = patients.patient_id "
            "GROUP BY visits.visit_id HAVING COUNT(*) >= 1"
        ),
    ],
)
def test_what_would_be_said_wrongly_is_not_said(sql: str, schema: Schema) -> None:
    with pytest.raises(UnsayableError):
        asked(sql, schema, 0)


def test_conditions_tell_of_which_rows_they_are(schema: Schema) -> None:
    joined = (
        "SELECT wards.name FROM wards JOIN patients ON wards.ward_id = patients.ward_id "
        "JOIN visits ON patients.patient_id = visits.patient_id WHERE patients.sex = 'F' AND visits.reason = 'flu'"
    )
    both = (
        "SELECT visits.reason FROM visits JOIN patients ON visits.patient_id = patients.patient_id "
        "JOIN drugs ON visits.visit_id = drugs.visit_id WHERE patients.sex = 'F' AND drugs.drug = 'aspirin'"
    )
    for seed in range(6):
        assert "a patient whose sex is f and that has a visit whose reason is flu" in asked(
            joined, schema, seed
        )
        question = asked(both, schema, seed)
        assert "that are of a patient whose sex is f" in question
        assert "that have a drug whose" in question


def test_conditions_on_other_rows_come_last(schema: Schema) -> None:
    sql = (
        "SELECT reason FROM visits WHERE total_cost > (SELECT AVG(total_cost) FROM visits WHERE reason = 'flu') "
        "AND patient_id = 5"
    )
    for seed in range(6):
        question = asked(sql, schema, seed)
        assert question.index(" 5") < question.index("flu")


def test_references_are_declared_or_told_by_names(schema: Schema) -> None:
    links = Links(schema)
    number = {schema.qualified_name(column): column for column in range(len(schema.columns))}
    assert links.joins(number["visits.patient_id"], number["patients.patient_id"])
    assert not links.joins(number["visits.visit_id"], number["patients.patient_id"])
    assert links.distance([0], 2) == 2
    assert links.distance([3], 0) == 3


def test_tables_that_share_a_key_are_no_reference() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE a (p_id INTEGER REFERENCES p(id));"
        "CREATE TABLE b (p_id INTEGER REFERENCES p(id));"
    )
    assert Links(schema).distance([1], 2) == 2
    assert schema.key_distances[1][2] == 1


def test_what_is_referred_to_tells_rows_apart() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE stays (row_id INTEGER PRIMARY KEY, stay INTEGER UNIQUE, note TEXT);"
        "CREATE TABLE labs (lab INTEGER PRIMARY KEY, stay INTEGER REFERENCES stays(stay));"
    )
    names = {schema.qualified_name(column) for column in identifying_columns(schema)}
    assert names == {"stays.row_id", "stays.stay", "labs.lab"}


_VISITED = "patients p JOIN visits v ON p.patient_id = v.patient_id"


@pytest.mark.parametrize("operator", ["INTERSECT", "EXCEPT", "UNION"])
@pytest.mark.parametrize(
    ("other", "counts"),
    [
        ("SELECT name FROM patients WHERE ward_id = 3", {0, 2}),
        (
            f"SELECT p.name FROM {_VISITED} GROUP BY p.patient_id HAVING COUNT(*) > 2",
            {2},
        ),
    ],
)
def test_both_sides_of_a_set_operation_are_rows_or_both_are_names(
    schema: Schema, monkeypatch: pytest.MonkeyPatch, operator: str, other: str, counts: set[int]
) -> None:
    monkeypatch.setattr("fastsql.synthesis.schema.questions.NAMELESS", 0.5)
    sql = f"SELECT name FROM patients WHERE sex = 'f' {operator} {other}"
    said = [asked(sql, schema, seed) for seed in range(40)]
    assert {question.count("names of") for question in said} == counts
    assert not any(text in question for question in said for text in ("the all", "the the"))
