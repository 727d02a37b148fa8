"""A small clinic with rows, to ask about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastsql.execution import Executor, open_executor
from fastsql.grammar import Program, load_grammar, sql_to_program
from fastsql.grammar.inlining import write_out
from fastsql.grammar.program import Literal, Production, TurnRef
from fastsql.schema import Schema
from fastsql.synthesis.interactions.decompose import Steps, decompose

_TABLES = """
CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT, sex TEXT, weight REAL);
CREATE TABLE visits (
    id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(id), ward TEXT, admitted DATETIME, cost REAL
);
CREATE TABLE tests (id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits(id), label TEXT, value REAL);
"""
CLINIC = Schema.from_ddl(_TABLES, name="clinic")

FIRST_VALUE = (
    "SELECT tests.value FROM tests WHERE tests.visit_id IN (SELECT visits.id FROM visits WHERE visits.patient_id = 7 "
    "AND visits.admitted IS NOT NULL ORDER BY visits.admitted ASC LIMIT 1) AND tests.label = 'sodium'"
)
MEN_ONLY = (
    "SELECT patients.name FROM patients WHERE patients.sex = 'M' EXCEPT "
    "SELECT patients.name FROM patients WHERE patients.weight > 70"
)
TOP_WARDS = (
    "SELECT T1.ward FROM (SELECT visits.ward, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS C2 FROM visits "
    "WHERE visits.cost > 3 GROUP BY visits.ward) AS T1 WHERE T1.C2 <= 2"
)
BUSY_WARDS = (
    "SELECT visits.ward FROM visits WHERE visits.cost > 3 GROUP BY visits.ward HAVING COUNT(*) > 2 "
    "ORDER BY COUNT(*) DESC"
)
DIFFERENCE = (
    "SELECT (SELECT visits.cost FROM visits WHERE visits.patient_id = 7 ORDER BY visits.admitted DESC LIMIT 1) - "
    "(SELECT visits.cost FROM visits WHERE visits.patient_id = 7 ORDER BY visits.admitted ASC LIMIT 1)"
)
TOTAL = "SELECT SUM(visits.cost) FROM visits WHERE visits.patient_id = 7 AND visits.ward = 'north'"
ANY = "SELECT COUNT(*) > 0 FROM visits WHERE visits.patient_id = 7 AND visits.ward = 'north'"
NEVER = (
    "SELECT patients.name FROM patients WHERE patients.id NOT IN "
    "(SELECT visits.patient_id FROM visits WHERE visits.ward = 'north')"
)
QUERIES = (FIRST_VALUE, MEN_ONLY, TOP_WARDS, BUSY_WARDS, DIFFERENCE, TOTAL, ANY, NEVER)


@contextmanager
def database(folder: Path) -> Iterator[Executor]:
    """The clinic with rows."""
    path = write_database(folder)
    with open_executor(path) as executor:
        yield executor


def write_database(folder: Path) -> Path:
    """The clinic's file."""
    path = folder / "clinic.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(_TABLES)
        people = [(n, f"Name {n}", "FM"[n % 2], 50.0 + 3 * n) for n in range(12)]
        stays = [
            (n, n % 12, ("north", "south", "east")[n // 2 % 3], f"2100-{1 + n % 9:02}-03 10:00:00", n / 2)
            for n in range(40)
        ]
        values = [(n, n % 40, ("sodium", "chloride")[n % 2], 100.0 + n) for n in range(90)]
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", people)
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", stays)
        connection.executemany("INSERT INTO tests VALUES (?, ?, ?, ?)", values)
    return path


def taken_apart(sql: str, *, clauses: bool = True) -> Steps:
    """The steps of a query."""
    return decompose(sql_to_program(sql, CLINIC), load_grammar(), clauses=clauses)


def put_together(steps: Steps) -> Program:
    """The last step with everything written out."""
    plain: dict[int, Program] = {}
    for number, step in enumerate(steps):
        plain[number] = write_out(step, plain, CLINIC, load_grammar())
    return plain[len(steps) - 1]


def shape(program: Program) -> str:
    """A program in one line."""
    names = []
    for one in program:
        match one:
            case Production(name):
                names.append(name)
            case TurnRef(turn):
                names.append(f"@{turn}")
            case Literal(value):
                names.append(repr(value))
            case _:
                names.append("." if hasattr(one, "column") else "*" if hasattr(one, "item") else "table")
    return " ".join(names)


def uniform(db_id: str) -> dict[str, Any]:
    """The clinic's schema as a data set's file has it, without keys."""
    tables = [
        {
            "name": table.name,
            "columns": [
                {"name": CLINIC.columns[c].name, "type": CLINIC.columns[c].type} for c in table.columns
            ],
        }
        for table in CLINIC.tables
    ]
    return {"db_id": db_id, "tables": tables, "foreign_keys": []}
