"""Plain questions over a hospital that no model has seen, each with the rows that are right.

What a clinician asks first must be right over any schema: flags, dates, parts of years, what is left out, shares.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import fastsql
from fastsql import Parser, Schema, ValueDictionary

from .worlds.database import inserted, write_database

_DDL = """
CREATE TABLE departments (department_id INTEGER PRIMARY KEY, name TEXT, building TEXT, phone TEXT);
CREATE TABLE doctors (doctor_id INTEGER PRIMARY KEY, last_name TEXT, specialty TEXT, hire_date DATE, salary REAL,
    department_id INTEGER REFERENCES departments (department_id));
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, last_name TEXT, gender TEXT, date_of_birth DATE, city TEXT,
    email TEXT, is_smoker INTEGER);
CREATE TABLE stays (stay_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients (patient_id),
    department_id INTEGER REFERENCES departments (department_id), admitted_at TIMESTAMP, discharged_at TIMESTAMP,
    reason TEXT, cost REAL);
"""
_CITIES, _REASONS = ("Bern", "Basel", "Chur", "Davos"), ("asthma", "fracture", "stroke", "pneumonia")
_SPECIALTIES = ("cardiologist", "surgeon", "neurologist", "oncologist")
_DEPARTMENTS = [
    (number, name, ("North", "South")[number % 2], f"555-01{number}")
    for number, name in enumerate(("Cardiology", "Neurology", "Surgery", "Oncology", "Pediatrics"))
]
_DOCTORS = [
    (n, f"Doctor{n}", _SPECIALTIES[n % 4], f"{2008 + n}-0{1 + n % 9}-11", 60_000.0 + 7_000 * n, n % 4)
    for n in range(14)
]
_PATIENTS = [
    (
        *(n, ("Stone", "Frost", "Lake")[n % 3] + str(n), "FM"[n % 5 % 2], f"19{40 + n % 60}-0{1 + n % 9}-17"),
        *(_CITIES[n % 7 % 4], None if n % 6 == 0 else f"p{n}@mail.org", int(n % 4 == 1)),
    )
    for n in range(60)
]
_STAYS = [
    (
        *(n, n * 7 % 50, n % 4, f"20{20 + n % 5}-{1 + n % 12:02}-{1 + n % 19:02} 10:00:00"),
        None if n % 9 == 0 else f"20{20 + n % 5}-{1 + n % 12:02}-{3 + n % 19:02} 10:00:00",
        *(_REASONS[n % 11 % 4], 500.0 + 13 * n),
    )
    for n in range(120)
]
_COUNT, _ALL = "SELECT COUNT(*) FROM patients", "SELECT COUNT(*) FROM stays"


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = {"departments": _DEPARTMENTS, "doctors": _DOCTORS, "patients": _PATIENTS, "stays": _STAYS}
    script = _DDL + "".join(inserted(table, content) for table, content in rows.items())
    return write_database(tmp_path_factory.mktemp("plain") / "hospital.sqlite", script)


@pytest.fixture(scope="module")
def known(hospital: Path) -> tuple[Parser, Schema, ValueDictionary]:
    schema = Schema.from_sqlite(hospital, max_values=12)
    return fastsql.load("ehr-en"), schema, ValueDictionary.from_database(hospital, schema)


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("How many patients smoke?", f"{_COUNT} WHERE is_smoker = 1"),
        ("How many non-smokers are there?", f"{_COUNT} WHERE is_smoker = 0"),
        ("How many smokers live in Chur?", f"{_COUNT} WHERE is_smoker = 1 AND city = 'Chur'"),
        (
            "What percentage of patients smoke?",
            "SELECT 100.0 * SUM(is_smoker = 1) / COUNT(*) FROM patients",
        ),
        (
            "proportion of women among the patients",
            "SELECT 100.0 * SUM(gender = 'F') / COUNT(*) FROM patients",
        ),
        (
            "How many doctors were hired after 2015?",
            "SELECT COUNT(*) FROM doctors WHERE hire_date >= '2016-01-01'",
        ),
        (
            "last names of doctors hired between 2012 and 2016",
            "SELECT last_name FROM doctors WHERE hire_date >= '2012-01-01' AND hire_date < '2017-01-01'",
        ),
        (
            "How many stays began in the second half of 2021?",
            f"{_ALL} WHERE admitted_at >= '2021-07-01' AND admitted_at < '2022-01-01'",
        ),
        (
            "How many stays began between March and June 2022?",
            f"{_ALL} WHERE admitted_at >= '2022-03-01' AND admitted_at < '2022-07-01'",
        ),
        (
            "How many stays began in 2021 or 2022?",
            f"{_ALL} WHERE admitted_at >= '2021-01-01' AND admitted_at < '2023-01-01'",
        ),
        (
            "How many patients come from Bern, Basel or Chur?",
            f"{_COUNT} WHERE city IN ('Bern', 'Basel', 'Chur')",
        ),
        (
            "Average length of stay in hours",
            "SELECT AVG(24 * (julianday(discharged_at) - julianday(admitted_at))) FROM stays",
        ),
        (
            "How many stays took longer than a week?",
            f"{_ALL} WHERE julianday(discharged_at) - julianday(admitted_at) > 7",
        ),
        ("How many stays began in March 2022?", f"{_ALL} WHERE admitted_at LIKE '2022-03%'"),
        (
            "Which doctors are neither surgeons nor cardiologists? Last names",
            "SELECT last_name FROM doctors WHERE specialty NOT IN ('surgeon', 'cardiologist')",
        ),
        ("How many patients are not from Bern?", f"{_COUNT} WHERE city <> 'Bern'"),
        ("How many patients have no email?", f"{_COUNT} WHERE email IS NULL"),
        (
            "List the stays that have not been discharged yet",
            "SELECT stay_id FROM stays WHERE discharged_at IS NULL",
        ),
        (
            "How many patients were never admitted?",
            f"{_COUNT} WHERE patient_id NOT IN (SELECT patient_id FROM stays)",
        ),
        (
            "Which departments have no stays?",
            "SELECT name FROM departments WHERE department_id NOT IN (SELECT department_id FROM stays)",
        ),
        (
            "Last name of the youngest patient",
            "SELECT last_name FROM patients ORDER BY date_of_birth DESC LIMIT 1",
        ),
        (
            "What is the most common reason for a stay?",
            "SELECT reason FROM stays GROUP BY reason ORDER BY COUNT(*) DESC LIMIT 1",
        ),
        (
            "Which departments are in the north building?",
            "SELECT name FROM departments WHERE building = 'North'",
        ),
        ("average salary by specialty", "SELECT specialty, AVG(salary) FROM doctors GROUP BY specialty"),
        (
            "How many doctors earn above the average salary?",
            "SELECT COUNT(*) FROM doctors WHERE salary > (SELECT AVG(salary) FROM doctors)",
        ),
    ],
)
def test_what_is_asked_plainly_is_answered_rightly(
    question: str, gold: str, hospital: Path, known: tuple[Parser, Schema, ValueDictionary]
) -> None:
    parser, schema, values = known
    best = parser.parse(question, schema, values=values, now="2025-01-01 00:00:00").best
    assert best is not None
    with sqlite3.connect(hospital) as connection:
        assert sorted(connection.execute(best)) == sorted(connection.execute(gold)), best


def test_yes_to_a_refusal_begins_a_conversation(
    hospital: Path, known: tuple[Parser, Schema, ValueDictionary]
) -> None:
    parser, schema, values = known
    session = parser.session(schema, values)
    refused = session.ask("How many patients live in Bern?", penalty=1e4)
    assert (refused.sql, [one.kind for one in refused.suggestions]) == (None, ["best guess"])
    confirmed = session.ask("yes", penalty=1e4)
    assert (confirmed.confidence, confirmed.question) == (1.0, refused.question)
    turns = [confirmed, session.ask("And in Basel?"), session.ask("Only women", penalty=0)]
    with sqlite3.connect(hospital) as connection:
        found = [connection.execute(turn.sql or "").fetchall() for turn in turns]
        wheres = ("city = 'Bern'", "city = 'Basel'", "city = 'Basel' AND gender = 'F'")
        assert found == [connection.execute(f"{_COUNT} WHERE {where}").fetchall() for where in wheres]
    session.ask("What is the median cost of a stay?")  # which no query computes
    instead = session.ask("yes")
    assert (instead.sql, instead.confidence) == ("SELECT AVG(stays.cost) FROM stays", 1.0)
    again = parser.session(schema, values)
    again.load(session.export())
    kept, said = (
        [(turn.sql, turn.confidence, turn.asked) for turn in one if turn.sql] for one in (again, session)
    )
    assert kept == said
