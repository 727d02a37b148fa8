"""A small ward with a database, examples about it, and a parser that knows their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fastsql.datasets import Example
from fastsql.errors import LimitError
from fastsql.result import Result
from fastsql.schema import Schema

from ..worlds.database import inserted, write_database

DDL = """
CREATE TABLE patients (subject_id INT PRIMARY KEY, gender TEXT, dob TIMESTAMP, weight REAL);
CREATE TABLE admissions (hadm_id INT PRIMARY KEY, subject_id INT, admittime TIMESTAMP, age INT);
"""


@pytest.fixture(scope="session")
def schema() -> Schema:
    return Schema.from_ddl(DDL, name="ward")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    patients = [(row, "fm"[row % 2], f"20{row:02}-01-01 00:00:00", 50 + row / 3) for row in range(20)]
    admissions = [(100 + row, row % 20, f"2100-{row % 12 + 1:02}-05 10:00:00", 30 + row) for row in range(40)]
    rows = inserted("patients", patients) + inserted("admissions", admissions)
    return write_database(tmp_path / "ward.sqlite", DDL + rows)


@pytest.fixture
def examples() -> tuple[Example, ...]:
    return (
        Example("count", "ward", "How many patients?", "SELECT COUNT(*) FROM patients", "[['20']]"),
        Example("women", "ward", "Which are women?", "SELECT subject_id FROM patients WHERE gender = 'f'"),
        Example(
            "now", "ward", "Who came today?", "SELECT hadm_id FROM admissions WHERE admittime > current_time"
        ),
        Example("nobody", "ward", "Who is 200?", "SELECT hadm_id FROM admissions WHERE age = 200"),
        Example("phone", "ward", "What is the phone number of Jane?", None),
        Example("nurse", "ward", "Which nurse is on duty?", None),
    )


@dataclass
class FakeParser:
    """Answers from a table of question -> (sql, confidence, abstained); long questions are beyond its limits."""

    answers: Mapping[str, tuple[str | None, float, bool]]
    asked: list[dict[str, object]] = field(default_factory=list)
    penalty: float = 10

    def parse(
        self,
        question: str,
        schema: Schema,
        *,
        values: object = None,
        now: str | None = None,
        dialect: str = "sqlite",
        beam: int = 4,
    ) -> Result:
        self.asked.append(
            {"question": question, "schema": schema, "values": values, "now": now, "beam": beam}
        )
        if len(question) > 200:
            raise LimitError.exceeded("question_characters", len(question), 200)
        sql, confidence, abstained = self.answers.get(question, (None, 0.0, True))
        return Result(question, sql, confidence, abstained=abstained)


@pytest.fixture
def parser(examples: tuple[Example, ...]) -> FakeParser:
    return FakeParser({example.question: (example.sql, 0.9, example.sql is None) for example in examples})
