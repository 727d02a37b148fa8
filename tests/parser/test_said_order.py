"""The oldest come first."""

from __future__ import annotations

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.parser.said_order import ordered_as_said
from fastsql.schema import Schema

SCHEMA = Schema.from_ddl(
    "CREATE TABLE patients (patient_id INT PRIMARY KEY, name TEXT, born DATE, seen TIMESTAMP, weight REAL,"
    " age_in_years INT, average INT, 年龄 INT);"
)


def order(question: str, key: str) -> str:
    program = sql_to_program(f"SELECT name FROM patients ORDER BY {key} LIMIT 1", SCHEMA)
    return render(ordered_as_said(program, SCHEMA, question), SCHEMA).partition(" ORDER BY ")[2]


@pytest.mark.parametrize("found", ["ASC", "DESC"])
@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Who is the oldest patient?", "ASC"),
        ("The earliest birth", "ASC"),
        ("name of the youngest", "DESC"),
        ("the most recent arrival", "DESC"),
        ("年龄最大的患者", "ASC"),
        ("最年轻的患者是谁", "DESC"),
        ("最近一次就诊的患者", "DESC"),
    ],
)
def test_times_are_in_the_order_that_is_said(question: str, right: str, found: str) -> None:
    assert order(question, f"born {found}") == f"patients.born {right} LIMIT 1"


@pytest.mark.parametrize("found", ["ASC", "DESC"])
@pytest.mark.parametrize(
    ("question", "key", "right"),
    [
        ("Who is the oldest patient?", "age_in_years", "DESC"),
        ("name of the youngest", "age_in_years", "ASC"),
        ("年龄最大的患者", "年龄", "DESC"),
        ("最年轻的患者是谁", "年龄", "ASC"),
    ],
)
def test_the_oldest_are_of_the_largest_age(question: str, key: str, right: str, found: str) -> None:
    assert order(question, f"{key} {found}").replace('"', "") == f"patients.{key} {right} LIMIT 1"


@pytest.mark.parametrize("found", ["ASC", "DESC"])
@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("patients from the oldest to the youngest", "born"),
        ("the patients by their birth", "born"),
        ("the fetal-oldest", "born"),
        ("the oldest patient", "weight"),  # no time
        ("the oldest patient", "average"),  # no age
        ("latest visit of the patient of the highest age", "age_in_years"),
        ("最近一次就诊中年纪大的", "年龄"),
        ("最近三个月的患者", "born"),
    ],
)
def test_what_is_not_said_stays(question: str, key: str, found: str) -> None:
    assert order(question, f"{key} {found}").replace('"', "") == f"patients.{key} {found} LIMIT 1"


@pytest.mark.parametrize("keys", ["born DESC, seen ASC LIMIT 1", "seen DESC"])
def test_what_takes_not_the_first_by_one_time_is_not_turned(keys: str) -> None:
    program = sql_to_program(f"SELECT name FROM patients ORDER BY {keys}", SCHEMA)
    assert ordered_as_said(program, SCHEMA, "visits of the oldest") == program
