"""Ages are those that a question says."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, render, sql_to_program
from fastsql.grammar.program import Literal
from fastsql.parser.ages import ages_as_said
from fastsql.schema import Schema

GRAMMAR = load_grammar()
PEOPLE = Schema.from_ddl(
    """CREATE TABLE patients (id INTEGER PRIMARY KEY, sex TEXT, birth_date DATE, seen DATE);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(id), cost REAL);"""
)
AGE = (
    "(STRFTIME('%Y', 'now') - STRFTIME('%Y', patients.birth_date) - "
    "(STRFTIME('%m-%d', 'now') < STRFTIME('%m-%d', patients.birth_date)))"
)
BORN = "STRFTIME('%Y', patients.birth_date)"


def asked(sql: str, question: str) -> str:
    program = sql_to_program(sql, PEOPLE)
    return render(ages_as_said(program, question, PEOPLE, GRAMMAR), PEOPLE)


@pytest.mark.parametrize(
    ("found", "right"),
    [
        ("STRFTIME('%Y', birth_date) >= 65", f"{AGE} >= 65"),
        ("STRFTIME('%Y', birth_date) BETWEEN 30 AND 39", f"{AGE} BETWEEN 30 AND 39"),
        ("STRFTIME('%Y', birth_date) >= 1965", f"{BORN} >= 1965"),
        ("STRFTIME('%Y', seen) >= 65", "STRFTIME('%Y', patients.seen) >= 65"),
    ],
)
def test_no_year_of_birth_is_an_age(found: str, right: str) -> None:
    sql = asked(f"SELECT COUNT(*) FROM patients WHERE {found}", "aged 65 and over")
    assert sql == f"SELECT COUNT(*) FROM patients WHERE {right}"


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("未成年病人", "DATETIME(patients.birth_date) >= DATETIME('now', '-18 year')"),
        ("90后的病人", f"({BORN} >= '1990' AND {BORN} <= '1999')"),
        ("00后病人", f"({BORN} >= '2000' AND {BORN} <= '2009')"),
    ],
)
def test_words_for_ages_are_conditions(question: str, right: str) -> None:
    assert asked("SELECT COUNT(*) FROM patients", question) == f"SELECT COUNT(*) FROM patients WHERE {right}"
    joined = "SELECT SUM(visits.cost) FROM visits JOIN patients ON visits.patient_id = patients.id"
    assert asked(joined, question) == f"{joined} WHERE {right}"


def test_the_number_of_a_decade_is_no_age() -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND {AGE} >= 90", PEOPLE)
    question = "90后女病人"
    grounded = tuple(
        Literal(90, "", "", "number", (0, 2)) if isinstance(item, Literal) and item.value == 90 else item
        for item in program
    )
    sql = render(ages_as_said(grounded, question, PEOPLE, GRAMMAR), PEOPLE).partition(" WHERE ")[2]
    assert sql == f"({BORN} >= '1990' AND {BORN} <= '1999') AND patients.sex = 'F'"


@pytest.mark.parametrize(
    ("sql", "question"),
    [
        ("SELECT COUNT(*) FROM visits", "未成年病人的就诊"),  # nobody is born there
        ("SELECT COUNT(*) FROM patients WHERE birth_date > '2010-01-01'", "未成年病人"),
        ("SELECT COUNT(*) FROM patients", "80天后复查的病人"),
        ("SELECT COUNT(*) FROM patients", "成年病人"),
        ("SELECT COUNT(*) FROM patients", "上午10:00后的病人"),
        ("SELECT COUNT(*) FROM patients", "不是90后的病人"),
        ("SELECT COUNT(*) FROM patients", "除未成年外的病人"),
        ("SELECT COUNT(*) FROM patients", "90后和80后的病人各有多少"),
        ("SELECT COUNT(*) FROM patients", "未成年病人占多少"),
    ],
)
def test_other_queries_stay(sql: str, question: str) -> None:
    assert asked(sql, question) == asked(sql, "")


@pytest.mark.parametrize(
    "condition", [f"{AGE} BETWEEN 90 AND 99", f"NOT ({AGE} = 90)", f"({AGE} = 90 OR sex = 'F')"]
)
def test_what_holds_the_number_otherwise_stays_whole(condition: str) -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM patients WHERE {condition}", PEOPLE)
    grounded = tuple(
        Literal(item.value, "", "", "number", (0, 2))
        if isinstance(item, Literal) and item.value == 90
        else item
        for item in program
    )
    assert ages_as_said(grounded, "90后的病人", PEOPLE, GRAMMAR) == grounded
