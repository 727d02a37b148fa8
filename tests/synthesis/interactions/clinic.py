"""Queries over the clinic, taken apart and put together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastsql.execution import Executor, open_executor
from fastsql.grammar import Program, load_grammar, sql_to_program
from fastsql.grammar.inlining import write_out
from fastsql.grammar.program import Literal, Production, TurnRef
from fastsql.synthesis.interactions.decompose import Steps, decompose

from ...worlds.clinic import clinic_database, clinic_schema

CLINIC = clinic_schema()

FIRST_VALUE = (
    "SELECT drugs.dose FROM drugs WHERE drugs.visit_id IN (SELECT visits.visit_id FROM visits WHERE visits.patient_id = 4 "
    "AND visits.day IS NOT NULL ORDER BY visits.day ASC LIMIT 1) AND drugs.drug = 'aspirin'"
)
MEN_ONLY = (
    "SELECT patients.name FROM patients WHERE patients.sex = 'M' EXCEPT "
    "SELECT patients.name FROM patients WHERE patients.weight > 70"
)
TOP_REASONS = (
    "SELECT T1.reason FROM (SELECT visits.reason, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS C2 FROM visits "
    "WHERE visits.cost > 3 GROUP BY visits.reason) AS T1 WHERE T1.C2 <= 2"
)
BUSY_REASONS = (
    "SELECT visits.reason FROM visits WHERE visits.cost > 3 GROUP BY visits.reason HAVING COUNT(*) > 2 "
    "ORDER BY COUNT(*) DESC"
)
DIFFERENCE = (
    "SELECT (SELECT visits.cost FROM visits WHERE visits.patient_id = 4 ORDER BY visits.day DESC LIMIT 1) - "
    "(SELECT visits.cost FROM visits WHERE visits.patient_id = 4 ORDER BY visits.day ASC LIMIT 1)"
)
TOTAL = "SELECT SUM(visits.cost) FROM visits WHERE visits.patient_id = 4 AND visits.reason = 'cough'"
ANY = "SELECT COUNT(*) > 0 FROM visits WHERE visits.patient_id = 4 AND visits.reason = 'cough'"
NEVER = (
    "SELECT patients.name FROM patients WHERE patients.patient_id NOT IN "
    "(SELECT visits.patient_id FROM visits WHERE visits.reason = 'cough')"
)
QUERIES = (FIRST_VALUE, MEN_ONLY, TOP_REASONS, BUSY_REASONS, DIFFERENCE, TOTAL, ANY, NEVER)


@contextmanager
def database(folder: Path) -> Iterator[Executor]:
    """The clinic with rows."""
    with open_executor(clinic_database(folder / "clinic.sqlite")) as executor:
        yield executor


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
