"""SQL that shows what it takes from earlier turns, by EHR-SeqSQL's tokens."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.grammar.inlining import say_groups, write_out
from fastsql.grammar.render.references import render_references
from fastsql.schema import Schema
from fastsql.synthesis.interactions.referring import Referrer

SCHEMA = Schema.from_ddl(
    "CREATE TABLE patients (id INT PRIMARY KEY, sex TEXT, born DATE);"
    "CREATE TABLE visits (id INT PRIMARY KEY, patient INT REFERENCES patients(id), ward TEXT, cost REAL);"
)
WOMEN = "SELECT patients.id FROM patients WHERE patients.sex = 'f'"
PAID = "SELECT DISTINCT visits.ward, visits.cost FROM visits"
WARDS = "SELECT visits.ward, COUNT(*) FROM visits GROUP BY visits.ward"
SAID = {
    "a condition more": (
        WOMEN,
        WOMEN + " AND patients.born > '1990-01-01'",
        "PREV_QUERY4 WHERE patients.born > '1990-01-01'",
    ),
    "other items": (
        WOMEN,
        "SELECT COUNT(*) FROM patients WHERE patients.sex = 'f'",
        "SELECT COUNT(*) FROM PREV_QUERY4",
    ),
    "other conditions": (
        WOMEN,
        "SELECT patients.id FROM patients WHERE patients.sex = 'm'",
        "PREV_QUERY4 REPLACING WHERE patients.sex = 'm'",
    ),
    "no conditions": (WOMEN, "SELECT patients.id FROM patients", "PREV_QUERY4 WITHOUT WHERE"),
    "an order": (WOMEN, WOMEN + " ORDER BY patients.born ASC", "PREV_QUERY4 ORDER BY patients.born ASC"),
    "groups that have something": (
        WARDS,
        WARDS + " HAVING COUNT(*) > 5",
        "PREV_QUERY4 HAVING COUNT(*) > 5",
    ),
    "a table more": (
        WOMEN,
        "SELECT visits.cost FROM patients JOIN visits ON patients.id = visits.patient WHERE patients.sex = 'f'",
        "SELECT visits.cost FROM PREV_QUERY4 JOIN visits ON patients.id = visits.patient",
    ),
    "what it returned": (
        WOMEN,
        f"SELECT visits.ward FROM visits WHERE visits.patient IN ({WOMEN})",
        "SELECT visits.ward FROM visits WHERE visits.patient IN (PREV_RESULT4)",
    ),
    "its one value": (
        "SELECT AVG(visits.cost) FROM visits",
        "SELECT visits.id FROM visits WHERE visits.cost > (SELECT AVG(visits.cost) FROM visits)",
        "SELECT visits.id FROM visits WHERE visits.cost > (PREV_RESULT4)",
    ),
    "its rows": (
        PAID,
        f"SELECT T1.ward, SUM(T1.cost) FROM ({PAID}) AS T1 GROUP BY T1.ward",
        "SELECT T1.ward, SUM(T1.cost) FROM (PREV_RESULT4) AS T1 GROUP BY T1.ward",
    ),
}


def said(before: str, after: str, dialect: str = "sqlite") -> str:
    grammar = load_grammar()
    earlier, program = say_groups(sql_to_program(before, SCHEMA), grammar), sql_to_program(after, SCHEMA)
    referrer = Referrer(grammar)
    referrer.add(earlier)
    way, own = referrer.ways(program)[0]
    assert way != "independent"
    written = write_out(own, {0: earlier}, SCHEMA, grammar)
    return render_references(own, written, [earlier], [4], SCHEMA, dialect=dialect)


@pytest.mark.parametrize("name", SAID)
def test_a_query_says_what_it_takes(name: str) -> None:
    before, after, expected = SAID[name]
    assert said(before, after) == expected


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "tsql"])
def test_a_query_says_what_it_takes_in_other_dialects_too(dialect: str) -> None:
    assert "IN (PREV_RESULT4)" in said(*SAID["what it returned"][:2], dialect)
    assert said(*SAID["an order"][:2], dialect).startswith("PREV_QUERY4 ORDER BY")
