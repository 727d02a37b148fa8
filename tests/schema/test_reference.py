"""Reference tables: marked by a person, never guessed, and never what belongs to a patient."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fastsql import Schema, SchemaError
from fastsql.demo import REFERENCE, create_hospital

from ..worlds.database import inserted, write_database

DDL = """
CREATE TABLE patients (pid INT PRIMARY KEY, sex TEXT);
CREATE TABLE chapters (chapter INT PRIMARY KEY, title TEXT);
CREATE TABLE codes (code TEXT PRIMARY KEY, title TEXT, chapter INT REFERENCES chapters (chapter));
CREATE TABLE visits (vid INT PRIMARY KEY, pid INT REFERENCES patients (pid), code TEXT REFERENCES codes (code));
CREATE TABLE notes (nid INT PRIMARY KEY, vid INT REFERENCES visits (vid), words TEXT);
"""
SCHEMA = Schema.from_ddl(DDL)


def marked(schema: Schema) -> list[str]:
    return [table.name for table in schema.tables if table.reference]


def test_no_table_is_a_reference_table_by_itself(tmp_path: Path) -> None:
    create_hospital(tmp_path / "hospital.sqlite", patients=2)
    hospital = Schema.from_sqlite(tmp_path / "hospital.sqlite")
    assert marked(hospital) == marked(SCHEMA) == []
    assert sorted(marked(hospital.with_reference_tables(*REFERENCE))) == sorted(REFERENCE)


@pytest.mark.parametrize(
    "mark",
    [
        lambda schema: schema.with_reference_tables("Codes", "chapters"),
        lambda schema: schema.annotated({"codes": {"reference": True}, "chapters": {"reference": True}}),
        lambda schema: Schema.from_dict(schema.with_reference_tables("codes", "chapters").to_dict()),
    ],
)
def test_a_person_marks_reference_tables(mark: Callable[[Schema], Schema]) -> None:
    found = mark(SCHEMA)
    assert marked(found) == ["chapters", "codes"]
    assert found.fingerprint != SCHEMA.fingerprint
    assert marked(found.annotated({"codes": {"reference": False}})) == ["chapters"]
    assert found.annotated({name: {"reference": False} for name in ("chapters", "codes")}) == SCHEMA


def test_a_schema_without_reference_tables_does_not_mention_them() -> None:
    assert "reference" not in str(SCHEMA.to_dict()["tables"][0])
    assert SCHEMA.with_reference_tables() == SCHEMA


@pytest.mark.parametrize("table", ["codes", "visits", "notes"])
def test_a_table_that_refers_to_an_unmarked_one_is_no_reference_table(table: str) -> None:
    with pytest.raises(SchemaError, match="which is no reference table"):
        SCHEMA.with_reference_tables(table)


def test_a_table_that_leads_to_patients_over_several_keys_is_no_reference_table() -> None:
    data = SCHEMA.to_dict()
    for table in data["tables"]:
        table["reference"] = table["name"] in ("visits", "notes", "chapters")
    found = Schema.from_dict(data)
    assert marked(found) == ["chapters"]
    assert [line for line in found.warnings if "refers" in line] == [
        "table 'visits': it refers to 'patients', which is no reference table, so it cannot be one",
        "table 'notes': it refers to 'visits', which is no reference table, so it cannot be one",
    ]
    with pytest.raises(SchemaError, match="visits"):
        Schema.from_dict(data, strict=True)


def test_a_key_to_patients_that_is_found_later_ends_the_mark(tmp_path: Path) -> None:
    ddl = (
        "CREATE TABLE patients (patient_number INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE scores (score_id INTEGER PRIMARY KEY, of_patient INTEGER, title TEXT);"
    )
    patients = inserted("patients", [(9_000 + i, f"p{i}") for i in range(200)])
    scores = inserted("scores", [(i, 9_000 + i % 190, f"s{i}") for i in range(300)])
    path = write_database(tmp_path / "ward.sqlite", ddl + patients + scores)
    schema = Schema.from_sqlite(path).with_reference_tables("scores")
    found = schema.with_keys_from(path)
    assert len(found.foreign_keys) == 1
    assert marked(found) == []
    assert "table 'scores': it refers to 'patients'" in " ".join(found.warnings)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda schema: schema.with_reference_tables("wards"), "wards"),
        (lambda schema: schema.annotated({"codes": {"reference": "yes"}}), "true or false"),
        (
            lambda schema: schema.annotated({"codes.title": {"reference": True}}),
            "a column is no reference table",
        ),
        (
            lambda schema: Schema.from_dict({"tables": [{"name": "t", "columns": ["a"], "reference": 1}]}),
            "true or false",
        ),
    ],
)
def test_a_mark_of_another_form_is_an_error(change: Callable[[Schema], Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        change(SCHEMA)
