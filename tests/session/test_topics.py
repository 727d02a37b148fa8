"""What unrelated questions before a question change is counted beside the same questions asked alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fastsql import Schema

from ..grammar.test_benchmarks import script
from ..worlds.database import write_database
from ..worlds.toy_bundle import QUESTIONS
from .conftest import DDL

REFERENCE = "".join(
    f"CREATE TABLE {name} (code TEXT, label TEXT); INSERT INTO {name} VALUES ('1', 'one');\n"
    for name in ("d_icd_diagnoses", "d_icd_procedures", "d_items", "d_labitems")
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder as EHRSQL 2024's, over the toy schema and its reference tables."""
    database = write_database(tmp_path / "ward.sqlite", DDL + REFERENCE)
    (tmp_path / "mimic_iv.sqlite.gz").write_bytes(gzip.compress(database.read_bytes()))
    schema = Schema.coerce(database)
    (tmp_path / "schemas.json").write_text(json.dumps([{**schema.to_dict(), "db_id": "ward"}]), "utf-8")
    examples = [
        {"id": str(number), "db_id": "ward", "question": question, "sql": "SELECT COUNT(*) FROM patients"}
        for number, question in enumerate(QUESTIONS)
    ]
    examples.append({"id": "none", "db_id": "ward", "question": "Who won?", "sql": None})
    (tmp_path / "valid.json").write_text(json.dumps(examples), "utf-8")
    return tmp_path


def test_questions_are_asked_behind_each_other_and_alone(
    talking_bundle: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", str(data), "--model", str(talking_bundle), "--length", "3", "--json"]
    report = data / "topics.json"
    assert script("topics")([*options, str(report)]) == 0
    found = json.loads(report.read_text("utf-8"))["topics"]
    assert list(found) == ["all"], "no conversation is long enough for a late question"
    assert found["all"]["questions"] == len(QUESTIONS), "what has no answer is not asked"
    assert 0 < found["all"]["other_sql"] < len(QUESTIONS), (
        "the toy model refers; first questions have nothing to"
    )
    assert "other SQL" in capsys.readouterr().out


def test_missing_data_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script("topics")(["--data", str(tmp_path)]) == 2
    assert "has no valid.json" in capsys.readouterr().err
