"""``fastsql eval`` reads a data set, writes figures and predictions, and says what they are."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import WOMEN, Loader, Outcome

Run = Callable[..., Outcome]
ITEMS: list[dict[str, Any]] = [
    {
        "id": "a",
        "db_id": "ward",
        "question": "Which are women?",
        "sql": "SELECT subject_id FROM patients WHERE gender = 'f'",
    },
    {
        "id": "b",
        "db_id": "ward",
        "question": "Which women are heavy?",
        "sql": "SELECT subject_id FROM patients",
    },
    {"id": "c", "db_id": "ward", "question": "Who has a dog?", "sql": None},
]
FIGURES = ["n", "ex", "em", "em_values", "rs", "wrong", "abstained", "valid_sql", "latency_ms", "details"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    columns = [
        {"name": name, "label": name, "type": kind, "primary_key": False}
        for name, kind in (("subject_id", "number"), ("gender", "text"), ("weight", "number"))
    ]
    tables = [{"name": "patients", "label": "patients", "columns": columns}]
    (tmp_path / "data.json").write_text(json.dumps(ITEMS))
    (tmp_path / "schemas.json").write_text(
        json.dumps([{"db_id": "ward", "tables": tables, "foreign_keys": []}])
    )
    (tmp_path / "splits.json").write_text(json.dumps({"example": {"dev": ["c", "a"]}}))
    return tmp_path


def command(data: Path, *more: object) -> tuple[object, ...]:
    return ("eval", data / "data.json", "--schemas", data / "schemas.json", "--jobs", 1, *more)


def test_figures_and_predictions_are_written(run: Run, data: Path, database: Path) -> None:
    files = ("--json", data / "out.json", "--predictions", data / "predictions.json")
    outcome = run(*command(data, "--databases", database, *files))
    assert outcome.status == 0, outcome.err
    figures = json.loads((data / "out.json").read_text())
    assert list(figures) == FIGURES
    assert (figures["n"], figures["ex"], figures["wrong"], figures["abstained"]) == (3, 50, 1, 1)
    assert figures["rs"] == {"0": 66.6667, "5": -100, "10": -266.6667, "N": -33.3333}
    assert figures["details"]["penalty"] == 10
    predictions = json.loads((data / "predictions.json").read_text())
    assert predictions[0] == {"id": "a", "sql": WOMEN, "confidence": 0.9, "abstained": False}
    assert predictions[2] == {"id": "c", "sql": None, "confidence": 0.1, "abstained": True}


def test_the_figures_are_printed(run: Run, data: Path, database: Path) -> None:
    outcome = run(*command(data, "--databases", database, "--seen", data / "data.json"))
    assert "3 questions, 2 of them answerable" in outcome.out
    assert "execution accuracy  50.0 %" in outcome.out
    assert "seen skeletons" in outcome.out
    assert "parsing: 3" in outcome.err


def test_predictions_can_be_judged_without_a_model(
    run: Run, loader: Loader, data: Path, database: Path
) -> None:
    run(
        *command(data, "--databases", database, "--predictions", data / "p.json", "--json", data / "one.json")
    )
    loader.parsers.clear()
    run(
        *command(
            data, "--databases", database, "--from-predictions", data / "p.json", "--json", data / "two.json"
        )
    )
    assert loader.parsers == []
    one, two = (json.loads((data / name).read_text()) for name in ("one.json", "two.json"))
    assert two.pop("latency_ms") == {"p50": None, "p90": None, "p99": None}
    del one["latency_ms"], one["details"], two["details"]
    assert one == two


def test_ids_and_limit_choose_questions(run: Run, data: Path, loader: Loader) -> None:
    run(
        *command(
            data,
            "--split-ids",
            f"{data / 'splits.json'}:example.dev",
            "--limit",
            1,
            "--json",
            data / "out.json",
        )
    )
    assert json.loads((data / "out.json").read_text())["n"] == 1
    assert {call["question"] for call in loader.parsers[0].calls} == {"Which are women?"}


def test_without_a_database_accuracy_is_null(run: Run, data: Path) -> None:
    outcome = run(*command(data, "--json", data / "out.json"))
    assert json.loads((data / "out.json").read_text())["ex"] is None
    assert "execution accuracy  -" in outcome.out


def test_a_gzipped_database_reaches_the_parser(run: Run, loader: Loader, data: Path, database: Path) -> None:
    packed = data / "ward.sqlite.gz"
    packed.write_bytes(gzip.compress(database.read_bytes()))
    run(*command(data, "--databases", packed))
    assert all(call["values"] is not None for call in loader.parsers[0].calls)


def test_values_can_be_withheld(run: Run, loader: Loader, data: Path, database: Path) -> None:
    run(*command(data, "--databases", database, "--no-values"))
    assert {call["values"] for call in loader.parsers[0].calls} == {None}


def test_databases_that_are_missing_are_named(run: Run, data: Path) -> None:
    (data / "empty").mkdir()
    outcome = run(*command(data, "--databases", data / "empty"))
    assert outcome.status == 0
    assert "lacks 1 of 1 databases: ward" in outcome.err


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--json", "no/such/folder/out.json", "is no folder"),
        ("--limit", "0", "at least 1"),
        ("--time-limit", "0", "above 0"),
        ("--databases", "nowhere", "no such file or folder"),
        ("--split-ids", "nowhere.json", "no such file"),
        ("--from-predictions", "nowhere.json", "no such file"),
        ("--model", "nowhere", "no such model"),
    ],
)
def test_mistakes_are_told_before_the_work(
    run: Run, loader: Loader, data: Path, option: str, value: str, message: str
) -> None:
    outcome = run(*command(data, option, value))
    assert outcome.status == 2
    assert message in outcome.err
    assert all(parser.calls == [] for parser in loader.parsers)
