"""What becomes of a schema: nothing that is said of tables and columns is lost, and keys lead where columns went."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.schema import Schema
from fastsql.synthesis.extension import extend_at, find_sites

from ...worlds.linked_ward import make_ward
from .conftest import Make, site_of


def extended(schema: Schema, path: Path, words: str) -> Schema:
    site = site_of(schema, path, words)
    target = path.with_name("extended.sqlite")
    target.unlink(missing_ok=True)
    return extend_at(schema, path, target, [lambda *_: site]).schema


def keys(schema: Schema) -> set[str]:
    name = schema.qualified_name
    return {
        ", ".join(
            f"{name(one)} -> {name(other)}" for one, other in zip(key.columns, key.references, strict=True)
        )
        for key in schema.foreign_keys
    }


@pytest.fixture
def ward(tmp_path: Path) -> tuple[Schema, Path]:
    path = tmp_path / "ward.sqlite"
    schema = make_ward(path, 2, complete=True)
    notes = {
        "doctor": {"label": "physician", "synonyms": ["medic"], "description": "who treats"},
        "patient.weight": {"label": "body weight", "synonyms": ["mass"], "description": "in kg"},
        "patient.doctor_id": {"label": "treating physician"},
    }
    return schema.annotated(notes), path


def test_a_relation_table_takes_the_key_of_the_child(ward: tuple[Schema, Path]) -> None:
    new = extended(*ward, "relation: patient(doctor_id) -> doctor")
    relation = new.tables[new.table_index("patient_doctor")]
    assert [new.columns[column].name for column in relation.columns] == ["id", "doctor_id"]
    assert [new.columns[column].name for column in relation.primary_key] == ["id"]
    assert relation.label == "patient-physician"
    assert new.find_column("patient", "doctor_id") is None
    assert new.columns[new.column_index("patient_doctor", "doctor_id")].label == "treating physician"
    assert keys(new) == (keys(ward[0]) - {"patient.doctor_id -> doctor.id"}) | {
        "patient_doctor.id -> patient.id",
        "patient_doctor.doctor_id -> doctor.id",
    }


def test_a_merged_table_has_the_columns_of_both_and_the_key_once(ward: tuple[Schema, Path]) -> None:
    new = extended(*ward, "merge: doctor + patient (doctor_id)")
    table = new.tables[new.table_index("doctor_patient")]
    names = [new.columns[column].name for column in table.columns]
    assert names == ["id", "name", "sex", "age", "id_patient", "name_patient", "sex_patient", "weight"]
    assert [new.columns[column].name for column in table.primary_key] == ["id_patient"]
    assert (table.label, table.description) == ("physician & patient", "who treats")
    assert table.synonyms == ("physician", "patient", "medic")
    assert new.columns[new.column_index("doctor_patient", "id")].synonyms == ("treating physician",)
    weight = new.columns[new.column_index("doctor_patient", "weight")]
    assert (weight.label, weight.synonyms, weight.description) == ("body weight", ("mass",), "in kg")
    assert new.columns[new.column_index("doctor_patient", "name_patient")].label == "patient name"
    assert keys(new) == {
        "order.patient_id -> doctor_patient.id_patient",
        "order.ward -> bed.ward, order.no -> bed.no",
        "badge.doctor_id -> doctor_patient.id",
    }


def test_the_parts_of_a_table_are_referred_to_as_it_was(ward: tuple[Schema, Path]) -> None:
    new = extended(*ward, "split: patient by sex, 2 parts")
    assert {"patient_f", "patient_m"} < {table.name for table in new.tables}
    part = new.tables[new.table_index("patient_f")]
    assert (part.label, part.synonyms) == ("patient (F)", ("patient",))
    assert new.find_column("patient_f", "sex") is None
    assert {f"order.patient_id -> patient_{sex}.id" for sex in "fm"} < keys(new)
    assert {f"patient_{sex}.doctor_id -> doctor.id" for sex in "fm"} < keys(new)


def test_a_part_is_called_by_what_a_code_means(make: Make) -> None:
    path = make(
        "CREATE TABLE person (id INTEGER PRIMARY KEY, sex INTEGER);"
        "INSERT INTO person VALUES (1, 1), (2, 2), (3, 1), (4, 2);"
    )
    schema = Schema.from_sqlite(path)
    notes = {"person.sex": {"values": [1, 2], "value_synonyms": [[1, ["male"]], [2, ["female"]]]}}
    data = schema.to_dict()
    data["tables"][0]["columns"][1] |= notes["person.sex"]
    new = extended(Schema.from_dict(data), path, "split: person by sex, 2 parts")
    assert [(table.name, table.label) for table in new.tables] == [
        ("person_1", "person (male)"),
        ("person_2", "person (female)"),
    ]


@pytest.mark.parametrize(
    ("parent", "child", "merged", "relation"),
    [
        ("患者", "就诊记录", "患者_就诊记录", "就诊记录_患者"),
        ("Patient", "PatientVisit", "PatientPatientVisit", "PatientVisitPatient"),
        ("select", "group", "select_group", "group_select"),
        ("PATIENT", "VISIT_LOG", "PATIENT_VISIT_LOG", "VISIT_LOG_PATIENT"),
    ],
)
def test_names_are_made_as_the_schema_writes_them(
    parent: str, child: str, merged: str, relation: str, make: Make
) -> None:
    path = make(
        f'CREATE TABLE "{parent}" (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO "{parent}" VALUES (1, \'a\');'
        f'CREATE TABLE "{child}" (no INTEGER PRIMARY KEY, "order" INTEGER REFERENCES "{parent}" (id));'
        f'INSERT INTO "{child}" VALUES (1, 1), (2, 1);'
    )
    schema = Schema.from_sqlite(path)
    assert extended(schema, path, f"merge: {parent} + {child} (order)").tables[0].name == merged
    assert extended(schema, path, f"relation: {child}(order) -> {parent}").tables[-1].name == relation


def test_labels_are_in_the_language_of_the_schema(make: Make) -> None:
    path = make(
        "CREATE TABLE hz (id INTEGER PRIMARY KEY, mc TEXT); INSERT INTO hz VALUES (1, 'a'), (2, 'b');"
        "CREATE TABLE jz (no INTEGER PRIMARY KEY, hz INTEGER REFERENCES hz (id), mc TEXT, lx TEXT);"
        "INSERT INTO jz VALUES (1, 1, 'x', '门诊'), (2, 2, 'y', '住院'), (3, 1, 'z', '门诊'), (4, 2, 'u', '住院');"
    )
    notes = {
        "hz": {"label": "患者信息表"},
        "jz": {"label": "就诊记录表"},
        "hz.mc": {"label": "名称"},
        "jz.mc": {"label": "名称"},
    }
    schema = Schema.from_sqlite(path).annotated(notes)
    labels = {
        site.operation: [table.label for table in site.apply(schema).schema.tables]
        for site in find_sites(schema, path)
    }
    assert labels == {
        "relation": ["患者信息表", "就诊记录表", "就诊记录-患者信息关系表"],
        "merge": ["患者信息与就诊记录表"],
        "split": ["患者信息表", "就诊记录表（住院）", "就诊记录表（门诊）"],
    }
    merged = extended(schema, path, "merge: hz + jz (hz)")
    assert merged.columns[merged.column_index("hz_jz", "mc_jz")].label == "就诊记录名称"


def test_constants_go_with_their_columns(make: Make) -> None:
    path = make(
        "CREATE TABLE vital (id INTEGER PRIMARY KEY, kind TEXT, pulse REAL);"
        "INSERT INTO vital VALUES (1, 'a', 60), (2, 'b', 70), (3, 'a', 80), (4, 'b', 90);"
    )
    data = Schema.from_sqlite(path).to_dict()
    data["constants"] = [
        {"name": "pulse_upper", "value": 100, "column": "vital.pulse"},
        {"name": "usual", "value": "a", "column": "vital.kind"},
    ]
    new = extended(Schema.from_dict(data), path, "split: vital by kind, 2 parts")
    bound = {
        one.name: None if one.column is None else new.qualified_name(one.column) for one in new.constants
    }
    assert bound == {"pulse_upper": "vital_a.pulse", "usual": None}
