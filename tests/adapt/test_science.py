"""The experiment over ScienceBenchmark: its contents, folds and cells, over a clinic."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.datasets import Example
from fastsql.schema import Schema

from ..test_benchmarks import module
from ..worlds.toy_bundle import write_bundle

DDL = """
CREATE TABLE wards (id INTEGER PRIMARY KEY, name TEXT, floor INTEGER);
CREATE TABLE stays (id INTEGER PRIMARY KEY, ward INTEGER REFERENCES wards (id), reason TEXT, begun DATE);
"""
ASKED = (
    *(
        (f"Stays for {reason}?", f"SELECT COUNT(*) FROM stays WHERE reason = '{reason}'")
        for reason in ("asthma", "a broken arm", "Grippe", "肺炎")
    ),
    ("Wards?", "SELECT name FROM wards"),
    ("Wards above 3?", "SELECT name FROM wards WHERE floor > 3"),
    (
        "Stays on Nightingale?",
        "SELECT COUNT(*) FROM stays JOIN wards ON wards.id = stays.ward WHERE wards.name = 'Nightingale'",
    ),
    ("Since May 2021?", "SELECT id FROM stays WHERE begun >= '2021-05-01'"),
)


@pytest.fixture
def clinic_schema() -> Schema:
    return Schema.from_ddl(DDL, name="ward")


@pytest.fixture
def examples() -> list[Example]:
    return [Example(str(number), "ward", *pair) for number, pair in enumerate(ASKED)]


@pytest.fixture
def data(tmp_path: Path, clinic_schema: Schema) -> Path:
    """A folder as the data set's."""
    (tmp_path / "schemas.json").write_text(
        json.dumps([{**clinic_schema.to_dict(), "db_id": "ward"}]), "utf-8"
    )
    content = [
        {"id": str(n), "db_id": "ward", "question": question, "sql": sql}
        for n, (question, sql) in enumerate(ASKED)
    ]
    (tmp_path / "train.json").write_text(json.dumps(content), "utf-8")
    return tmp_path


def test_contents_hold_what_queries_compare_with(
    tmp_path: Path, clinic_schema: Schema, examples: list[Example]
) -> None:
    path = tmp_path / "made.sqlite"
    module("science").write_database(examples, clinic_schema, path)
    with closing(sqlite3.connect(path)) as connection:
        answers = [connection.execute(str(one.sql)).fetchall() for one in examples]
    assert all(rows and rows[0] != (0,) for rows in answers)
    again = tmp_path / "again.sqlite"
    module("science").write_database(examples, clinic_schema, again)
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(again)) as other:
        assert list(one.iterdump()) == list(other.iterdump())


def test_queries_of_one_form_are_in_one_fold(clinic_schema: Schema, examples: list[Example]) -> None:
    folds = module("science").folds_of(examples, clinic_schema)
    assert sorted(one.id for fold in folds for one in fold) == [one.id for one in examples]
    assert [len(fold) for fold in folds] == [4, 1, 1, 1, 1]
    assert {one.id for one in folds[0]} == {"0", "1", "2", "3"}


def test_only_seeds_make_cells_of_folds(clinic_schema: Schema, examples: list[Example]) -> None:
    folds = module("science").folds_of(examples, clinic_schema)
    cells = module("science").cells
    (one,) = cells(clinic_schema, "zero", folds, range(5))
    assert (len(one.asked), len(one.known)) == (8, 0)
    first, *others = cells(clinic_schema, "both", folds, range(5))
    assert ([one.id for one in first.asked], len(first.known), len(others)) == (["0", "1", "2", "3"], 4, 4)
    assert not set(first.asked) & set(first.known)


def test_what_is_done_is_not_done_again(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write_bundle(tmp_path / "toy")
    options = [
        "--data",
        str(data),
        "--into",
        str(tmp_path / "into"),
        "--model",
        str(model),
        "--settings",
        "zero",
    ]
    report = tmp_path / "science.json"
    assert module("science").main([*options, "--json", str(report)]) == 0
    (row,) = json.loads(report.read_text("utf-8"))["rows"]
    assert (row["database"], row["setting"], row["n"]) == ("ward", "zero", 8)
    (done,) = (tmp_path / "into").glob("*/ward.zero.json")
    rows = json.loads(done.read_text("utf-8"))
    done.write_text(json.dumps([{**one, "right": True} for one in rows]), "utf-8")
    assert module("science").main([*options, "--json", str(report)]) == 0
    (row,) = json.loads(report.read_text("utf-8"))["rows"]
    assert row["right"] == 100
    assert "calibration error" in capsys.readouterr().out


def test_missing_data_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert module("science").main(["--data", str(tmp_path), "--into", str(tmp_path)]) == 2
    assert "has no train.json" in capsys.readouterr().err
