"""Fitting how columns of large schemas are ranked."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from fastsql.cli.main import main
from fastsql.linking.column_ranking import WEIGHTS
from fastsql.training.calibration.column_ranking import COLUMNS, TABLES, fit, read_cases, share_kept

THINGS = ("ward", "nurse", "drug", "visit", "bill", "room", "test", "shift")
TRAITS = ("code", "cost", "floor", "grade", "phone", "state", "title", "weight", "color")


def write_set(folder: Path, databases: int = 3, questions: int = 8) -> Path:
    """A data set whose questions name one column of one table, and a database that is too small to count."""
    folder.mkdir()
    drawn = random.Random(5)
    schemas, examples = [], []
    for number in range(databases):
        names = drawn.sample(THINGS, TABLES)
        tables = [
            {"name": name, "columns": [{"name": trait, "type": "text"} for trait in TRAITS]} for name in names
        ]
        schemas.append({"db_id": f"clinic_{number}", "tables": tables, "foreign_keys": []})
        for place in range(questions):
            thing, trait = drawn.choice(names), drawn.choice(TRAITS)
            text = {"question": f"What {trait} has each {thing}?", "sql": f"SELECT {trait} FROM {thing}"}
            examples.append({"id": f"{number}-{place}", "db_id": f"clinic_{number}", **text})
    schemas.append({"db_id": "small", "tables": schemas[0]["tables"][:2], "foreign_keys": []})
    examples.append({**examples[0], "id": "small-0", "db_id": "small"})
    (folder / "schemas.json").write_text(json.dumps(schemas), encoding="utf-8")
    (folder / "train.json").write_text(json.dumps(examples), encoding="utf-8")
    return folder


def test_what_is_named_is_learned_to_rank_first(tmp_path: Path) -> None:
    cases = read_cases(write_set(tmp_path / "clinics"))
    assert {case.database for case in cases} == {"clinics/clinic_0", "clinics/clinic_1", "clinics/clinic_2"}
    assert all(case.features.shape == (TABLES * len(TRAITS), len(WEIGHTS)) for case in cases)
    assert TABLES * len(TRAITS) >= COLUMNS
    assert all(case.gold.sum() == 1 for case in cases)
    weights = fit(cases)
    assert share_kept(cases, weights) == 100
    assert share_kept(cases, -weights) < 20


def test_the_command_prints_a_weight_for_every_feature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit-ranking", str(write_set(tmp_path / "clinics"))]) == 0
    printed = capsys.readouterr().out
    assert [line.split('"')[1] for line in printed.splitlines() if '"' in line] == list(WEIGHTS)
    assert printed.count("fold") == 3


def test_too_few_databases_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit-ranking", str(write_set(tmp_path / "clinics", databases=2))]) == 2
    assert "2 databases of 6 tables and 45 columns or more are too few" in capsys.readouterr().err


def test_the_weights_in_use_are_those_that_the_command_finds(fastsql_data: Path) -> None:
    folders = [fastsql_data / "spider", fastsql_data / "bird"]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip("put spider and bird into the folder that FASTSQL_DATA names to run this")
    found = fit([case for folder in folders for case in read_cases(folder)])
    assert np.allclose(found, list(WEIGHTS.values()), atol=0.1)
