"""The measurements of native parts, on small schemas and sizes."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from ..grammar.test_benchmarks import script
from ..worlds.grammar_hospitals import HOSPITAL


def test_a_step_is_timed_at_every_size(
    core: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "mask.json"
    given = ["--columns", "3", "20", "--queries", "2", "--seconds", "0.01", "--json", str(report)]
    assert script("mask")(given) == 0
    rows = json.loads(report.read_text(encoding="utf-8"))["mask"]
    assert [row["columns"] for row in rows] == [3, 20]
    for row in rows:
        assert row["microseconds"]["native"] > 0
        assert row["microseconds"]["python"] > 0
        assert row["microseconds"]["steps"] >= 2 * 4  # no query takes fewer
    assert "20" in capsys.readouterr().out


def test_attention_is_timed_in_every_form(
    core: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "attention.json"
    given = [
        "--sizes",
        "5",
        "9",
        "--threads",
        "1",
        "--seconds",
        "0.001",
        "--no-compile",
        "--json",
        str(report),
    ]
    assert script("attention")(given) == 0
    rows = json.loads(report.read_text(encoding="utf-8"))["attention"]
    assert [row["rows"] for row in rows] == [5, 9]
    for row in rows:
        forms = row["milliseconds"]
        assert {f"native {name}" for name in core.instruction_sets()} <= set(forms)
        assert all(0 < times["best"] <= times["median"] for times in forms.values())
    assert "numpy factored" in capsys.readouterr().out


def test_constraint_times_are_of_queries_that_every_grammar_has(core: ModuleType, tmp_path: Path) -> None:
    for package in ("xgrammar", "llguidance"):
        pytest.importorskip(package, reason=f"install {package}, which no extra brings, to run this")
    folder = tmp_path / "ehrsql2024"
    folder.mkdir()
    entry = {**HOSPITAL.to_dict(), "db_id": "mimic_iv"}
    (folder / "schemas.json").write_text(json.dumps([entry]), encoding="utf-8")
    asked = {
        "Who is patient 3?": "SELECT patients.name FROM patients WHERE patients.subject_id = 3",
        "How many women?": "SELECT COUNT(*) FROM patients WHERE patients.gender = 'f'",
        "Which names are short?": "SELECT name FROM patients",  # the subset has qualified columns only
        "Who cannot be answered?": None,
    }
    examples = [
        {"id": str(number), "db_id": "mimic_iv", "question": question, "sql": sql}
        for number, (question, sql) in enumerate(asked.items())
    ]
    for name in ("train", "valid"):
        (folder / f"{name}.json").write_text(json.dumps(examples), encoding="utf-8")
    report = tmp_path / "mask.json"
    given = ["--columns", "--queries", "5", "--seconds", "0.01", "--peers"]
    assert script("mask")([*given, "--data", str(tmp_path), "--json", str(report)]) == 0
    found = json.loads(report.read_text(encoding="utf-8"))["peers"]
    assert (found["gold_queries"], found["in_all_grammars"], found["timed"]) == (3, 2, 2)
    assert len(found["rows"]) == 6
    assert all(row["query_us"] > 0 and row["steps"] >= 3 and row["compile_ms"] > 0 for row in found["rows"])
