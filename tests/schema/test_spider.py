"""Spider's tables.json, whole and damaged."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import ForeignKey, Schema

ENTRY: dict[str, Any] = {
    "db_id": "hospital",
    "table_names_original": ["Patients", "就诊"],
    "table_names": ["patients", "visits"],
    "column_names_original": [[-1, "*"], [0, "PatId"], [0, "Name"], [1, "pat"], [1, "日期"]],
    "column_names": [[-1, "*"], [0, "patient id"], [0, "name"], [1, "patient"], [1, "date"]],
    "column_types": ["text", "number", "text", "number", "time"],
    "primary_keys": [1],
    "foreign_keys": [[3, 1]],
}


def test_an_entry_becomes_a_schema() -> None:
    schema = Schema.from_spider(ENTRY, strict=True)
    assert schema.name == "hospital"
    assert [(table.name, table.label) for table in schema.tables] == [
        ("Patients", "patients"),
        ("就诊", "visits"),
    ]
    assert [(c.name, c.label, c.type, c.primary_key) for c in schema.columns] == [
        ("PatId", "patient id", "number", True),
        ("Name", "name", "text", False),
        ("pat", "patient", "number", False),
        ("日期", "date", "time", False),
    ]
    assert schema.foreign_keys == (ForeignKey((2,), (0,)),)


def test_one_of_several_is_picked_by_name(tmp_path: Path) -> None:
    path = tmp_path / "tables.json"
    path.write_text(json.dumps([ENTRY, {**ENTRY, "db_id": "other"}]), encoding="utf-8")
    assert Schema.from_spider(path, "other").name == "other"
    assert Schema.from_spider(str(path), "hospital") == Schema.from_spider([ENTRY])
    assert Schema.coerce(path, name="other").name == "other"
    with pytest.raises(SchemaError, match="2 databases"):
        Schema.from_spider(path)
    with pytest.raises(SchemaError, match="nowhere"):
        Schema.from_spider(path, "nowhere")


def test_sql_types_and_composite_keys_as_in_bird() -> None:
    entry = deepcopy(ENTRY)
    entry["column_types"] = ["text", "integer", "text", "real", "datetime"]
    entry["primary_keys"] = [[2, 1]]
    entry["foreign_keys"] = [[3, 1], [4, 2]]
    schema = Schema.from_spider(entry, strict=True)
    assert [(column.type, column.sql_type) for column in schema.columns] == [
        ("number", "integer"),
        ("text", ""),
        ("number", "real"),
        ("time", "datetime"),
    ]
    assert schema.tables[0].primary_key == (1, 0)
    assert schema.foreign_keys == (ForeignKey((2, 3), (0, 1)),)


def test_labels_and_keys_may_be_missing() -> None:
    entry = {
        key: ENTRY[key] for key in ("db_id", "table_names_original", "column_names_original", "column_types")
    }
    schema = Schema.from_spider(entry, strict=True)
    assert schema.columns[0].label == "PatId"
    assert schema.foreign_keys == ()


@pytest.mark.parametrize(
    "change",
    [
        {"table_names_original": None},
        {"table_names_original": [7, 8]},
        {"table_names": ["patients"]},
        {"table_names": [None, None]},
        {"column_names_original": "x"},
        {"column_names_original": [[-1, "*"]]},
        {"column_names_original": [[-1, "*"], [0, "a"], [9, "b"], [1, "c"], [1, "d"]]},
        {"column_names_original": [[-1, "*"], [0, "a"], [0, 7], [1, "c"], [1, "d"]]},
        {"column_names_original": [[-1, "*"], [0, "a"], 0, [1, "c"], [1, "d"]]},
        {"column_types": ["text"]},
        {"column_types": ["text", None, "text", "text", "text"]},
        {"primary_keys": [99]},
        {"primary_keys": [0]},
        {"primary_keys": ["PatId"]},
        {"foreign_keys": [[3]]},
        {"foreign_keys": [[3, 99]]},
        {"foreign_keys": [[3, -1]]},
        {"foreign_keys": {}},
        {
            "column_names_original": [],
            "column_names": [],
            "column_types": [],
            "primary_keys": [],
            "foreign_keys": [],
        },
    ],
)
def test_a_damaged_entry_is_a_schema_error_that_names_the_database(change: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="hospital"):
        Schema.from_spider({**ENTRY, **change})


@pytest.mark.parametrize("source", [7, [7], [], [ENTRY, ENTRY], "", None])
def test_what_is_no_tables_json_is_a_schema_error(source: Any) -> None:
    with pytest.raises(SchemaError):
        Schema.from_spider(source)
