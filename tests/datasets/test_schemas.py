"""Schemas of a data set come with normal ranges and, from a database, with small domains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastsql.datasets import DatasetError, read_schemas, with_database_values, with_normal_ranges
from fastsql.schema import Schema

from ..worlds.database import inserted, write_database

WARD = Schema.from_ddl("CREATE TABLE ward (id INT PRIMARY KEY, kind TEXT, note TEXT)")
VITALS = Schema.from_ddl("CREATE TABLE chartevents (stay_id INT, valuenum REAL)")


def write_schemas(folder: Path) -> Path:
    column = {"name": "x", "label": "x", "type": "number", "primary_key": False}
    tables = [{"name": "t", "label": "t", "columns": [column]}]
    entries = [{"db_id": name, "tables": tables, "foreign_keys": []} for name in ("a", "b")]
    path = folder / "schemas.json"
    path.write_text(json.dumps(entries))
    return path


def test_only_the_databases_asked_for_are_given(tmp_path: Path) -> None:
    path = write_schemas(tmp_path)
    assert set(read_schemas(path)) == {"a", "b"}
    assert set(read_schemas(path, databases={"b"})) == {"b"}


def test_a_missing_schema_or_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="has no schema of database 'c'"):
        read_schemas(write_schemas(tmp_path), databases={"a", "c"})
    with pytest.raises(DatasetError, match="no such file"):
        read_schemas(tmp_path / "none.json")


def test_a_schema_with_vital_signs_knows_the_bounds_of_normal() -> None:
    bounds = {constant.name: constant.value for constant in with_normal_ranges(VITALS).constants}
    assert len(bounds) == 14
    assert (bounds["sao2_lower"], bounds["diastolic_bp_upper"]) == (95.0, 90.0)


def test_a_schema_without_vital_signs_is_left_alone() -> None:
    assert with_normal_ranges(WARD) is WARD


def test_bounds_that_a_schema_has_already_are_kept() -> None:
    own = VITALS.with_constants({"sao2_lower": 92.0})
    bounds = {constant.name: constant.value for constant in with_normal_ranges(own).constants}
    assert bounds["sao2_lower"] == 92.0


def test_small_domains_are_read_from_the_database(tmp_path: Path) -> None:
    ddl = "CREATE TABLE ward (id INT PRIMARY KEY, kind TEXT, note TEXT);"
    rows = [(row, ("icu", "general")[row % 2], f"note {row}") for row in range(9)]
    path = write_database(tmp_path / "ward.sqlite", ddl + inserted("ward", rows))
    schema = with_database_values(WARD, path, max_values=5)
    assert set(schema.columns[1].values) == {"icu", "general"}
    assert schema.columns[2].values == ()
