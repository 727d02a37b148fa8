"""A fake parser in place of the model, and ways to run the program as a user does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import fastsql
from fastsql.cli.main import main
from fastsql.errors import ExampleError, LimitError, ModelError
from fastsql.result import Link, Literal, Result

from ..worlds.database import inserted, write_database

DDL = "CREATE TABLE patients (subject_id INT PRIMARY KEY, gender TEXT, weight REAL);"
WOMEN = "SELECT patients.subject_id FROM patients WHERE patients.gender = 'f'"

OTHER = "SELECT patients.weight FROM patients WHERE patients.gender = 'm'"


@dataclass
class FakeParser:
    """Knows one question; refuses others; long ones are beyond its limits."""

    settings: dict[str, Any]
    calls: list[dict[str, Any]] = field(default_factory=list)
    penalty: float = 10
    remembered: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def remember(self, question: str, sql: str, schema: object, **settings: Any) -> int:
        if "ward" in sql:
            raise ExampleError("names a table that is not there")
        self.remembered.append((question, sql, settings))
        return len(self.remembered)

    def parse(self, question: str, schema: object, **settings: Any) -> Result:
        self.calls.append({"question": question, "schema": schema, **settings})
        if len(question) > 200:
            raise LimitError.exceeded("question_characters", len(question), 200)
        if "women" not in question:
            best = OTHER if "who" in question else None
            return Result(question, best, 0.1, abstained=True, reason="nothing in the schema fits")
        start = question.index("women")
        return Result(
            question,
            WOMEN,
            0.9,
            links=(Link((start, start + 5), "women", "column", "patients.gender"),),
            values=(Literal("f", "schema", None, "patients.gender"),),
            timings={"encode": 1.5},
        )


@dataclass
class Loader:
    """Stands in for `fastsql.load`; remembers what was loaded."""

    parsers: list[FakeParser] = field(default_factory=list)

    def __call__(self, name: str, **settings: Any) -> FakeParser:
        if name == "nowhere":
            raise ModelError("no such model", where=name, remedy="Give a bundled model or a folder.")
        parser = FakeParser({"name": name, **settings})
        self.parsers.append(parser)
        return parser


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Loader:
    loader = Loader()
    monkeypatch.setattr(fastsql, "load", loader, raising=False)
    return loader


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write_database(
        tmp_path / "ward.sqlite", DDL + inserted("patients", [(1, "f", 60), (2, "m", 80), (3, "f", 55.5)])
    )


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], loader: Loader) -> Callable[..., Outcome]:
    def run_program(*arguments: object) -> Outcome:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run_program
