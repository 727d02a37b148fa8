"""``fastsql synthesize``."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.schema import Schema


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT, sex TEXT, weight REAL)")
        rows = [(n, f"Name {n}", "FM"[n % 2], 50.0 + n) for n in range(30)]
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", rows)
    return path


def test_it_writes_pairs_and_says_what_they_are_like(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "20", "-o", str(output)]) == 0
    pairs = json.loads(output.read_text())
    assert len(pairs) == 20
    for pair in pairs:
        extra = {"unanswerable"} if pair["sql"] is None else {"contrast", "differs"} & set(pair)
        assert set(pair) == {"id", "db_id", "question", "sql", "template", *extra}
    assert sum(pair["sql"] is None for pair in pairs) == 2
    assert sum("contrast" in pair for pair in pairs) == 4
    printed = capsys.readouterr()
    assert "18 in total" in printed.err
    assert "2 contrasts: " in printed.err
    assert "2 unanswerable: " in printed.err
    assert pairs[0]["question"] in printed.out


def test_levels_come_in_the_mix_that_is_asked_for(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "pairs.json"
    options = ["--mix", "easy=1", "--contrast", "0", "--unanswerable", "0"]
    assert main(["synthesize", str(clinic), "-n", "10", "-o", str(output), *options]) == 0
    assert "10 easy (100.0%), 0 medium" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ("--mix", "simple=1"),
        ("--mix", "easy=2"),
        ("--mix", "easy=0"),
        ("--mix", "easy=0.5,easy=0.5"),
        ("--contrast", "1.5"),
        ("--unanswerable", "-1"),
    ],
)
def test_shares_that_are_none_are_refused(clinic: Path, tmp_path: Path, options: tuple[str, str]) -> None:
    output = tmp_path / "pairs.json"
    with pytest.raises(SystemExit):
        main(["synthesize", str(clinic), "-o", str(output), *options])
    assert not output.exists()


def test_the_same_seed_writes_the_same_bytes(clinic: Path, tmp_path: Path) -> None:
    for name in ("one.json.gz", "again.json.gz"):
        assert main(["synthesize", str(clinic), "-n", "5", "--seed", "7", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "again.json.gz").read_bytes()


def test_seeds_that_are_no_use_are_named_and_the_others_used(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = tmp_path / "seeds.json"
    queries = {
        "good": "SELECT name FROM patients WHERE weight > 60",
        "broken": "SELECT name FROM (",
        "unknown": "SELECT hair FROM patients",
    }
    items = [{"id": name, "db_id": "clinic", "question": "?", "sql": sql} for name, sql in queries.items()]
    seeds.write_text(json.dumps(items))
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "6", "--seeds", str(seeds), "-o", str(output)]) == 0
    told = capsys.readouterr().err
    assert ": broken: " in told
    assert ": unknown: " in told
    assert ": good: " not in told
    assert len(json.loads(output.read_text())) == 6


def test_nothing_is_written_of_a_database_without_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / "empty.sqlite", tmp_path / "pairs.json"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT)")
    assert main(["synthesize", str(path), "-n", "5", "-o", str(output)]) == 2
    assert "rows" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize("form", ["sql", "json"])
def test_rows_are_made_up_where_only_a_schema_is_given(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / f"clinic.{form}", tmp_path / "pairs.json"
    ddl = (
        "CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT NOT NULL, sex TEXT);"
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients (id), cost REAL);"
    )
    path.write_text(ddl if form == "sql" else json.dumps(Schema.from_ddl(ddl).to_dict()))
    assert main(["synthesize", str(path), "-n", "8", "-o", str(output)]) == 0
    assert "no database is given: " in capsys.readouterr().err
    pairs = json.loads(output.read_text())
    assert len(pairs) == 8
    assert {pair["db_id"] for pair in pairs} == {"clinic"}


def test_no_source_is_written_over(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = clinic.read_bytes()
    assert main(["synthesize", str(clinic), "-n", "5", "-o", str(clinic)]) == 2
    assert "written over" in capsys.readouterr().err
    assert clinic.read_bytes() == before


def test_the_file_is_its_owners_alone(clinic: Path, tmp_path: Path) -> None:
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "3", "--show", "0", "-o", str(output)]) == 0
    assert output.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".new")] == []
