"""``fastsql extend``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.datasets import read_examples, read_schemas
from fastsql.execution import open_executor

from ..worlds.linked_ward import make_ward


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    path = tmp_path / "ward.sqlite"
    make_ward(path, 1)
    return path


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.json"
    written = {
        "good": "SELECT name FROM patient WHERE sex = 'F'",
        "broken": "SELECT name FROM (",
        "join": "SELECT d.name FROM patient AS p JOIN doctor AS d ON p.doctor_id = d.id",
        "refuse": None,
    }
    items = [{"id": id_, "db_id": "ward", "question": "Which?", "sql": sql} for id_, sql in written.items()]
    path.write_text(json.dumps(items))
    return path


def test_extend_writes_a_data_set_that_can_be_read(
    ward: Path, queries: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "extended"
    command = ["extend", str(ward), "--queries", str(queries), "-n", "3", "--steps", "2", "-o", str(folder)]
    assert main(command) == 0
    schemas, pairs = read_schemas(folder / "schemas.json"), read_examples(folder / "pairs.json")
    assert set(schemas) == {"ward_x1", "ward_x2", "ward_x3"} == {pair.db_id for pair in pairs}
    for pair in pairs:
        with open_executor(
            folder / "databases" / f"{pair.db_id}.sqlite", schema=schemas[pair.db_id]
        ) as executor:
            executor.run(pair.sql or "")
    written = json.loads((folder / "schemas.json").read_text())
    assert written[0]["parent"] == "ward"
    assert len(written[0]["operations"]) == 2
    told = capsys.readouterr()
    assert "2 of 3 pairs" in told.err
    assert "broken: does not parse (ParseError); not carried over" in told.err
    assert "\n  was SELECT" in told.out


def test_nobody_else_may_read_the_folder(ward: Path, tmp_path: Path) -> None:
    folder = tmp_path / "extended"
    assert main(["extend", str(ward), "-o", str(folder)]) == 0
    paths = [folder, *folder.rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in paths} == {0}


def test_the_same_seed_writes_the_same_bytes(ward: Path, queries: Path, tmp_path: Path) -> None:
    for name in ("one", "again"):
        assert main(["extend", str(ward), "--queries", str(queries), "-o", str(tmp_path / name)]) == 0
    files = [
        sorted(path for path in (tmp_path / name).rglob("*") if path.is_file()) for name in ("one", "again")
    ]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]


@pytest.mark.parametrize("operation", ["relation", "merge", "split"])
def test_operations_are_those_asked_for(
    operation: str, ward: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["extend", str(ward), "--operations", operation, "-o", str(tmp_path / "extended")]) == 0
    assert f"  {operation}: " in capsys.readouterr().err


def test_extend_says_where_there_are_fewer_variants(
    ward: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["extend", str(ward), "-n", "4", "--operations", "relation", "-o", str(tmp_path / "extended")]
    assert main(command) == 0
    assert "3 of 4 variants: seeds find no others" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--operations", "melt"], "'melt' is not some of relation, merge, split"),
        (["--queries", "nowhere.json"], "no such file"),
        (["--schema", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_input_is_named_and_nothing_is_left(
    arguments: list[str], told: str, ward: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    try:
        status = main(["extend", str(ward), "-o", str(tmp_path / "extended"), *arguments])
    except SystemExit as end:  # argparse's way
        status = int(end.code or 0)
    assert status == 2
    assert told in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_is_there_is_left_alone(
    ward: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "extended"
    folder.mkdir()
    assert main(["extend", str(ward), "-o", str(folder)]) == 2
    assert "it is there already" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_pairs_of_another_database_are_an_error(
    ward: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "queries.json"
    items = [{"id": name, "db_id": name, "question": "?", "sql": "SELECT 1"} for name in ("a", "b")]
    path.write_text(json.dumps(items))
    assert main(["extend", str(ward), "--queries", str(path), "-o", str(tmp_path / "extended")]) == 2
    assert "no pair is about this database" in capsys.readouterr().err
