"""Which tables of which database a command reads, and what it says of those that it does not."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from fastsql.cli import schema_options
from fastsql.cli.main import main
from fastsql.cli.schema_options import add_schema_options, read_schema, read_values
from fastsql.schema import Schema

from ..worlds.database import inserted, write_database

TABLES = """
CREATE TABLE patients (id INTEGER PRIMARY KEY, sex TEXT); CREATE TABLE tmp_load (x TEXT); CREATE TABLE beds (ward TEXT);
CREATE VIEW women AS SELECT id FROM patients WHERE sex = 'F'; CREATE VIEW men AS SELECT id FROM patients WHERE sex = 'M';
INSERT INTO patients VALUES (1, 'F'), (2, 'M'); INSERT INTO beds VALUES ('icu');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_database(tmp_path / "ward.sqlite", TABLES)


def options(*arguments: str) -> Any:
    import argparse

    parser = argparse.ArgumentParser()
    add_schema_options(parser)
    return parser.parse_args(arguments)


def names(schema: Schema) -> list[str]:
    return [schema.table_name(index) for index in range(len(schema.tables))]


def test_tables_and_views_are_picked_and_left_out(path: Path) -> None:
    file = str(path)
    assert names(read_schema(options("--schema", file))) == ["patients", "tmp_load", "beds"]
    assert names(read_schema(options("--schema", file, "--exclude", "tmp_*,BEDS"))) == ["patients"]
    assert names(read_schema(options("--schema", file, "--tables", "beds", "--tables", "patients"))) == [
        "patients",
        "beds",
    ]
    assert names(read_schema(options("--schema", file, "--views", "women", "--exclude", "tmp_load, beds"))) == [
        "patients", "women",
    ]  # fmt: skip
    assert names(read_schema(options("--schema", file, "--views", "*")))[3:] == ["women", "men"]
    script = "CREATE TABLE a (x INT); CREATE TABLE hosp.b (y INT REFERENCES a (x));"
    assert names(read_schema(options("--schema", script, "--tables", "hosp.*"))) == ["hosp.b"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tables", "patiens"), "tables: 'patiens': there is no table of this name"),
        (("--exclude", "staf"), "exclude: 'staf': there is no table of this name"),
        (("--views", "beds"), "views: 'beds': there is no view of this name"),
        (("--namespace", "billing"), "no database is attached under this name"),
        (("--exclude", "*"), "it has no table with a column"),
    ],
)
def test_a_name_that_is_not_there_is_one_line(
    path: Path, arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["parse", "How many?", "--schema", str(path), *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1


def test_what_is_left_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    read_schema(options("--schema", "CREATE TABLE a (x INT);\nCREATE TABEL b (y INT);"))
    assert (
        capsys.readouterr().err
        == "schema: line 2, CREATE TABEL: the statement is not understood; it is left out\n"
    )
    read_schema(options("--schema", "CREATE TABLE a (x INT);" + "".join(f"word{n};" for n in range(7))))
    assert capsys.readouterr().err.splitlines()[5:] == ["schema: and 2 more"]


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_while_values_are_read_goes_on_with_those_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")

    def interrupt(done: int, *_: object) -> None:
        if done == 1:
            signal.raise_signal(signal.SIGINT)

    url = f"sqlite:///{path}"
    chosen = options("--schema", url, "--values", url, "--column-seconds", "5")
    assert isinstance(read_values(chosen, read_schema(chosen)), object)
    capsys.readouterr()
    monkeypatch.setattr(schema_options, "_progress", lambda source: interrupt)
    schema = read_schema(chosen)
    assert [bool(column.values) for column in schema.columns].count(True) == 1
    assert "interrupted; going on with what was read" in capsys.readouterr().err
    values = read_values(chosen, schema)
    assert len(values or ()) == 1
    err = capsys.readouterr().err
    assert "interrupted; going on with what was read" in err
    assert "not read: the reading was ended before" in err


def test_keys_that_nobody_declared_are_looked_for_where_asked(tmp_path: Path) -> None:
    ddl = "CREATE TABLE wards (id INTEGER PRIMARY KEY, n INT); CREATE TABLE beds (n INT, ward INTEGER);"
    rows = inserted("wards", [(k, 1) for k in range(1, 30)]) + inserted(
        "beds", [(1, k) for k in range(1, 30)]
    )
    path = write_database(tmp_path / "ward.sqlite", ddl + rows)
    assert not read_schema(options("--schema", str(path))).foreign_keys
    (key,) = read_schema(options("--schema", str(path), "--keys-from", str(path))).foreign_keys
    assert (key.columns, key.references) == ((3,), (0,))


def test_reference_tables_are_marked_by_name(path: Path) -> None:
    schema = read_schema(options("--schema", str(path), "--reference", "beds"))
    assert [table.name for table in schema.tables if table.reference] == ["beds"]
    assert main(["parse", "How many?", "--schema", str(path), "--reference", "wards"]) == 2
