"""Programs that are one query have one form, and others have not."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.grammar.same_query import form
from fastsql.schema import Schema

SCHEMA = Schema.from_ddl(
    "CREATE TABLE wards (ward_id INT PRIMARY KEY, name TEXT, floor INT);"
    "CREATE TABLE patients (patient_id INT PRIMARY KEY, name TEXT, partner INT REFERENCES patients (patient_id));"
    "CREATE TABLE stays (stay_id INT PRIMARY KEY, ward_id INT REFERENCES wards (ward_id),"
    " patient_id INT REFERENCES patients (patient_id), days INT);"
)
ON_WARDS = "wards ON stays.ward_id = wards.ward_id"
WARDS_STAYS = "wards JOIN stays ON wards.ward_id = stays.ward_id"
TWO_WARDS = (
    "(SELECT floor FROM wards) AS d JOIN wards AS a ON d.floor = a.floor JOIN wards AS b ON a.floor = b.floor"
)
STAYS_WARDS = f"stays JOIN {ON_WARDS}"


def same(one: str, other: str) -> bool:
    grammar = load_grammar()
    first, second = (form(sql_to_program(sql, SCHEMA), SCHEMA, grammar) for sql in (one, other))
    return first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"SELECT wards.name FROM {WARDS_STAYS}", f"SELECT wards.name FROM {STAYS_WARDS}"),
        (
            f"SELECT days FROM {WARDS_STAYS} JOIN patients ON stays.patient_id = patients.patient_id",
            f"SELECT days FROM patients JOIN stays ON patients.patient_id = stays.patient_id JOIN {ON_WARDS}",
        ),
        ("SELECT COUNT(*) FROM stays", "SELECT COUNT(stay_id) FROM stays"),
        (f"SELECT COUNT(*) FROM {WARDS_STAYS}", f"SELECT COUNT(wards.ward_id) FROM {STAYS_WARDS}"),
        (
            "SELECT name FROM wards GROUP BY floor HAVING COUNT(*) > 2",
            "SELECT name FROM wards GROUP BY floor HAVING COUNT(ward_id) > 2",
        ),
        (
            "SELECT days FROM stays WHERE days > 1 AND ward_id = 2",
            "SELECT days FROM stays WHERE ward_id = 2 AND days > 1",
        ),
        (
            "SELECT days FROM stays WHERE (days > 9 OR ward_id = 2)",
            "SELECT days FROM stays WHERE (ward_id = 2 OR days > 9)",
        ),
        (
            f"SELECT floor FROM wards WHERE ward_id IN (SELECT wards.ward_id FROM {WARDS_STAYS} WHERE days = 3)",
            f"SELECT floor FROM wards WHERE ward_id IN (SELECT wards.ward_id FROM {STAYS_WARDS} WHERE days = 3)",
        ),
        (
            f"SELECT floor FROM {WARDS_STAYS} INTERSECT SELECT floor FROM wards",
            f"SELECT floor FROM {STAYS_WARDS} INTERSECT SELECT floor FROM wards",
        ),
    ],
)
def test_what_is_one_query_has_one_form(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"SELECT wards.name FROM {WARDS_STAYS}", "SELECT wards.name FROM wards"),
        (
            "SELECT wards.name FROM wards LEFT JOIN stays ON wards.ward_id = stays.ward_id",
            f"SELECT wards.name FROM {WARDS_STAYS}",
        ),
        (
            "SELECT COUNT(*) FROM wards LEFT JOIN stays ON wards.ward_id = stays.ward_id",
            "SELECT COUNT(stays.stay_id) FROM wards LEFT JOIN stays ON wards.ward_id = stays.ward_id",
        ),
        ("SELECT COUNT(*) FROM stays", "SELECT COUNT(days) FROM stays"),
        (
            f"SELECT days FROM stays WHERE days IN (SELECT a.floor FROM {TWO_WARDS})",
            f"SELECT days FROM stays WHERE days IN (SELECT b.floor FROM {TWO_WARDS})",
        ),
        ("SELECT COUNT(*) FROM stays", "SELECT COUNT(DISTINCT ward_id) FROM stays"),
        ("SELECT days FROM stays WHERE days > 1", "SELECT days FROM stays WHERE days >= 1"),
        ("SELECT days, ward_id FROM stays", "SELECT ward_id, days FROM stays"),
        (
            "SELECT a.name FROM patients AS a JOIN patients AS b ON a.partner = b.patient_id",
            "SELECT b.name FROM patients AS a JOIN patients AS b ON a.partner = b.patient_id",
        ),
        (
            "SELECT days FROM stays WHERE days > 1 AND days IN (SELECT days FROM stays WHERE ward_id = 2)",
            "SELECT days FROM stays WHERE ward_id = 2 AND days IN (SELECT days FROM stays WHERE days > 1)",
        ),
        (
            "SELECT floor FROM wards EXCEPT SELECT days FROM stays",
            "SELECT days FROM stays EXCEPT SELECT floor FROM wards",
        ),
        ("SELECT name FROM wards ORDER BY floor", "SELECT name FROM wards ORDER BY floor DESC"),
        ("SELECT name FROM wards ORDER BY floor LIMIT 1", "SELECT name FROM wards ORDER BY floor LIMIT 2"),
        ("SELECT name FROM wards GROUP BY floor", "SELECT name FROM wards"),
    ],
)
def test_other_queries_have_other_forms(one: str, other: str) -> None:
    assert not same(one, other)
    assert same(one, one)
    assert same(other, other)
