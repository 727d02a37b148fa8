"""The measurements of grammar and automaton, on a data set of three questions."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fastsql import Schema, backends

from ..worlds.grammar_hospitals import HOSPITAL
from .rows import filled

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
QUESTIONS = {
    "Who is patient 3?": "SELECT name FROM patients WHERE subject_id = 3",
    "How many are called Miller?": "SELECT COUNT(*) FROM patients WHERE name = 'Smith'",
    "Log the ages": "SELECT LN(age) FROM admissions",
    "Who cannot be answered?": None,
}


def script(name: str) -> Callable[[Sequence[str]], int]:
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, spec.name, module)  # dataclasses look their module up
        spec.loader.exec_module(module)
    main: Callable[[Sequence[str]], int] = module.main
    return main


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    examples = [
        {"id": str(number), "db_id": "ward", "question": question, "sql": sql}
        for number, (question, sql) in enumerate(QUESTIONS.items())
    ]
    (folder / "dev.json").write_text(json.dumps(examples), encoding="utf-8")
    schema = {**HOSPITAL.to_dict(), "db_id": "ward", "name": "ward"}
    (folder / "schemas.json").write_text(json.dumps([schema]), encoding="utf-8")
    with sqlite3.connect(folder / "ward.sqlite") as connection:
        filled(HOSPITAL).backup(connection)
    connection.close()
    return folder.parent


def run(name: str, data: Path, *arguments: str) -> tuple[int, Any]:
    output = data.parent / "out.json"
    code = script(name)(["--data", str(data), "--json", str(output), *arguments])
    return code, json.loads(output.read_text(encoding="utf-8"))


def test_coverage_counts_what_is_said_and_what_is_had(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = run("coverage", data, "--set", "toy")
    (split,) = report["splits"]
    assert code == 0
    assert (split["split"], split["queries"]) == ("dev", 3)
    assert split["converted"] == split["round_trip"] == pytest.approx(66.67)
    assert split["round_trip_by"] == {"rows": 2}
    assert split["traceable"] == {"with": 33.33, "without": 33.33}
    assert split["literals"] == 2
    assert split["literal_recall"] == {"with": 50.0, "without": 50.0}
    assert split["failures"]["conversion"] == {"value Ln": 1}
    assert split["failing_ids"]["conversion: value Ln"] == ["2"]
    assert "value Ln" in capsys.readouterr().out


def test_coverage_compares_forms_where_there_is_no_database(data: Path) -> None:
    (data / "toy" / "ward.sqlite").unlink()
    _, report = run("coverage", data, "--set", "toy", "--limit", "2")
    (split,) = report["splits"]
    assert (split["queries"], split["round_trip_by"]) == (2, {"form": 2})


def test_coverage_says_what_it_misses(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script("coverage")(["--data", str(data), "--set", "none"]) == 1
    assert "no examples" in capsys.readouterr().err


def test_validity_decodes_and_verifies(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = run("validity", data, "--decodes", "12", "--seed", "5")
    assert code == 0
    assert report["failures"] == []
    for name in ("toy", "all"):
        counts = report["sets"][name]
        assert [counts[c] for c in ("decodes", "complete", "parse", "resolve", "prepare")] == [12] * 5
        assert counts["actions"]["max"] <= 256
    assert "toy" in capsys.readouterr().out


def test_validity_by_the_native_automaton(data: Path) -> None:
    if backends.native() is None:
        pytest.skip(f"native module {backends.native_status().reason}")
    code, report = run("validity", data, "--native", "--decodes", "30", "--every", "5")
    assert code == 0
    counts = report["sets"]["all"]
    assert [counts[c] for c in ("decodes", "complete", "prepare")] == [30] * 3
    assert 0 < counts["parsed"] == counts["parse"] == counts["resolve"] < 30


def test_a_decode_can_be_repeated(data: Path) -> None:
    figures = []
    for start in ("0", "3"):
        _, report = run("validity", data, "--decodes", str(4 - int(start)), "--start", start)
        figures.append(report["sets"]["all"]["actions"]["max"])
    assert figures[0] >= figures[1]
    assert (
        run("validity", data, "--start", "3", "--decodes", "1")[1]["sets"]["all"]["actions"]["max"]
        == figures[1]
    )


def test_validity_says_what_it_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script("validity")(["--data", str(tmp_path)]) == 1
    assert "no schemas.json" in capsys.readouterr().err


def test_names_that_postgres_takes_for_one_another_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    validity = importlib.import_module("validity")
    long = "a" * 62
    assert validity.is_told_apart(Schema.from_dict({f"{long}1": {"x": "INT"}, f"{long}2": {"x": "INT"}}))
    assert not validity.is_told_apart(
        Schema.from_dict({f"{long}é1": {"x": "INT"}, f"{long}é2": {"x": "INT"}})
    )
    assert not validity.is_told_apart(Schema.from_dict({"t": {f"{long}b1": "INT", f"{long}b2": "INT"}}))
    entries = [
        {**Schema.from_dict({name: {f"{long}b{n}": "INT" for n in range(count)}}).to_dict(), "db_id": name}
        for name, count in (("one", 1), ("two", 2))
    ]
    for name, held in (("some", entries), ("none", entries[1:])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "schemas.json").write_text(json.dumps(held), encoding="utf-8")
    kept = {
        dialect: {one.name: len(one.schemas) for one in validity.read_sources(tmp_path, None, dialect)}
        for dialect in ("sqlite", "postgres")
    }
    assert kept == {"sqlite": {"some": 2, "none": 1}, "postgres": {"some": 1}}
