"""SQL that shows what it takes from earlier turns, by EHR-SeqSQL's tokens."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.grammar.inlining import say_groups, write_out
from fastsql.grammar.render.references import render_references
from fastsql.synthesis.interactions.referring import Referrer

from ..worlds.clinic import clinic_schema

SCHEMA = clinic_schema()
WOMEN = "SELECT patients.patient_id FROM patients WHERE patients.sex = 'f'"
PAID = "SELECT DISTINCT visits.reason, visits.cost FROM visits"
REASONS = "SELECT visits.reason, COUNT(*) FROM visits GROUP BY visits.reason"
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
        "SELECT patients.patient_id FROM patients WHERE patients.sex = 'm'",
        "PREV_QUERY4 REPLACING WHERE patients.sex = 'm'",
    ),
    "no conditions": (WOMEN, "SELECT patients.patient_id FROM patients", "PREV_QUERY4 WITHOUT WHERE"),
    "an order": (WOMEN, WOMEN + " ORDER BY patients.born ASC", "PREV_QUERY4 ORDER BY patients.born ASC"),
    "groups that have something": (
        REASONS,
        REASONS + " HAVING COUNT(*) > 5",
        "PREV_QUERY4 HAVING COUNT(*) > 5",
    ),
    "a table more": (
        WOMEN,
        "SELECT visits.cost FROM patients JOIN visits ON patients.patient_id = visits.patient_id WHERE patients.sex = 'f'",
        "SELECT visits.cost FROM PREV_QUERY4 JOIN visits ON patients.patient_id = visits.patient_id",
    ),
    "what it returned": (
        WOMEN,
        f"SELECT visits.reason FROM visits WHERE visits.patient_id IN ({WOMEN})",
        "SELECT visits.reason FROM visits WHERE visits.patient_id IN (PREV_RESULT4)",
    ),
    "its one value": (
        "SELECT AVG(visits.cost) FROM visits",
        "SELECT visits.visit_id FROM visits WHERE visits.cost > (SELECT AVG(visits.cost) FROM visits)",
        "SELECT visits.visit_id FROM visits WHERE visits.cost > (PREV_RESULT4)",
    ),
    "its rows": (
        PAID,
        f"SELECT T1.reason, SUM(T1.cost) FROM ({PAID}) AS T1 GROUP BY T1.reason",
        "SELECT T1.reason, SUM(T1.cost) FROM (PREV_RESULT4) AS T1 GROUP BY T1.reason",
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
def test_a_query_says_what_it_takes_from_an_earlier_turn(name: str) -> None:
    before, after, expected = SAID[name]
    assert said(before, after) == expected


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "tsql"])
def test_in_other_dialects_a_query_says_what_it_takes_from_an_earlier_turn(dialect: str) -> None:
    assert "IN (PREV_RESULT4)" in said(*SAID["what it returned"][:2], dialect)
    assert said(*SAID["an order"][:2], dialect).startswith("PREV_QUERY4 ORDER BY")
