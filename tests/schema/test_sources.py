"""Whatever describes a schema is taken for what it is; whatever does not is an error."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError, SchemaError
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import Schema

from ..worlds.database import hasty_connection

DDL = "CREATE TABLE t (a INT)"
DATA: dict[str, Any] = {"db_id": "one", "tables": [{"name": "t", "columns": [{"name": "a", "type": "INT"}]}]}
SPIDER: dict[str, Any] = {
    "db_id": "s",
    "table_names_original": ["t"],
    "column_names_original": [[-1, "*"], [0, "a"]],
    "column_types": ["text", "number"],
}


def database(path: Path) -> Path:
    with closing(hasty_connection(path)) as connection:
        connection.execute(DDL)
    return path


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "source",
    [
        DDL,
        f"  -- a comment\n{DDL}",
        f"/* x */ {DDL};",
        f"DROP TABLE IF EXISTS t; {DDL}",
        DDL.lower(),
        DATA,
        SPIDER,
    ],
)
def test_a_schema_is_read_from_text_and_from_data(source: Any) -> None:
    schema = Schema.coerce(source, strict=True)
    assert [(table.name, schema.columns[0].name) for table in schema.tables] == [("t", "a")]


@pytest.mark.parametrize("name", ["x.sqlite", "x.sqlite3", "x.db", "x.DB", "x.data", "x"])
def test_database_files_are_known_by_suffix_or_content(tmp_path: Path, name: str) -> None:
    path = database(tmp_path / name)
    assert Schema.coerce(path) == Schema.coerce(str(path))
    assert Schema.coerce(path).name == "x"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.sql", DDL),
        ("x.ddl", DDL),
        ("x.SQL", "\ufeff" + DDL),
        ("x.json", DATA),
        ("x.json", [DATA]),
        ("x.json", [SPIDER]),
    ],
)
def test_a_schema_is_read_from_a_text_file(tmp_path: Path, name: str, content: Any) -> None:
    path = write(tmp_path / name, content)
    assert Schema.coerce(path).tables[0].name == "t"
    assert Schema.coerce(str(path)).tables[0].name == "t"


def test_a_schema_is_read_from_an_open_connection(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(DDL)
        assert Schema.coerce(connection).tables[0].name == "t"


def test_one_of_several_schemas_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "schemas.json", [DATA, {**DATA, "db_id": "two"}])
    assert Schema.coerce(path, name="two").name == "two"
    with pytest.raises(SchemaError, match=r"2 databases.*name"):
        Schema.coerce(path)
    with pytest.raises(SchemaError, match="'three'"):
        Schema.coerce(path, name="three")


def test_a_schema_is_itself() -> None:
    schema = Schema.coerce(DDL)
    assert Schema.coerce(schema) is schema
    odd = Schema.coerce("CREATE TABLE t (a FROB)")
    assert Schema.coerce(odd) is odd
    with pytest.raises(SchemaError, match="FROB"):
        Schema.coerce(odd, strict=True)


@pytest.mark.parametrize("source", [None, 7, b"CREATE TABLE t (a INT)", [], [DATA], object(), Schema])
def test_objects_that_describe_no_schema_are_an_error(source: Any) -> None:
    with pytest.raises(SchemaError, match="is not a schema"):
        Schema.coerce(source)


@pytest.mark.parametrize(
    "source",
    ["", "  \n ", "patients", "nowhere/x.sql", "nowhere/x.json", "nowhere/x.db", "\0", "x" * 100_000],
)
def test_text_that_leads_nowhere_is_a_schema_error(source: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.coerce(source)
    assert len(str(caught.value)) < 600


def test_a_file_of_another_kind_is_a_schema_error(tmp_path: Path) -> None:
    for path in (write(tmp_path / "x.txt", "hello"), tmp_path):
        with pytest.raises(SchemaError, match=str(path)):
            Schema.coerce(path)


@pytest.mark.parametrize("name", ["ward.duckdb", "ward.db"])
def test_a_duckdb_file_is_an_error_that_says_what_to_give(tmp_path: Path, name: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / name
    duckdb.connect(str(path)).close()
    with pytest.raises(SchemaError, match=r"from a DuckDB file\. Give its CREATE TABLE statements"):
        Schema.coerce(str(path))
    schema = Schema.from_ddl("CREATE TABLE wards (name TEXT)")
    with pytest.raises(ExecutionError, match="from a DuckDB file"):
        ValueDictionary.from_database(path, schema)
