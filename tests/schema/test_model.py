"""The schema itself: look-up, fingerprint, additions, and schemas made by hand."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import Column, Constant, ForeignKey, Schema, Table

HOSPITAL: dict[str, Any] = {
    "db_id": "hospital",
    "tables": [
        {
            "name": "patients",
            "label": "patients",
            "synonyms": ["people"],
            "columns": [
                {"name": "subject_id", "label": "subject id", "type": "number", "primary_key": True},
                {"name": "gender", "type": "text", "sql_type": "VARCHAR(5)", "values": ["f", "m"]},
                {"name": "dob", "label": "date of birth", "type": "time", "synonyms": ["birthday"]},
            ],
        },
        {
            "name": "chartevents",
            "primary_key": ["itemid", "subject_id"],
            "columns": [
                {"name": "subject_id", "type": "number"},
                {"name": "itemid", "type": "number"},
                {"name": "valuenum", "type": "number", "description": "the measured value"},
            ],
        },
    ],
    "foreign_keys": [["chartevents.subject_id", "patients.subject_id"]],
    "constants": [
        {"name": "sao2_lower", "value": 95, "column": "chartevents.valuenum"},
        {"name": "pi", "value": 3.5},
    ],
}


@pytest.fixture
def hospital() -> Schema:
    return Schema.from_dict(HOSPITAL, strict=True)


def test_everything_is_reached_by_index(hospital: Schema) -> None:
    assert [table.columns for table in hospital.tables] == [(0, 1, 2), (3, 4, 5)]
    assert [column.table for column in hospital.columns] == [0, 0, 0, 1, 1, 1]
    assert hospital.tables[1].primary_key == (4, 3)
    assert [column.primary_key for column in hospital.columns] == [True, False, False, True, True, False]
    assert hospital.foreign_keys == (ForeignKey((3,), (0,)),)
    assert hospital.constants == (Constant("sao2_lower", 95, "sao2 lower", 5), Constant("pi", 3.5, "pi"))


def test_missing_labels_come_from_names(hospital: Schema) -> None:
    assert hospital.columns[1].label == "gender"
    assert hospital.tables[1].label == "chartevents"


def test_names_are_found_without_regard_to_case(hospital: Schema) -> None:
    assert hospital.table_index("PATIENTS") == 0
    assert hospital.column_index("Patients", "DOB") == 2
    assert hospital.qualified_name(2) == "patients.dob"


def test_a_name_that_is_not_there_is_an_error_or_none(hospital: Schema) -> None:
    with pytest.raises(SchemaError, match=r"'visits'.*patients, chartevents"):
        hospital.table_index("visits")
    with pytest.raises(SchemaError, match=r"patients\.weight"):
        hospital.column_index("patients", "weight")
    with pytest.raises(SchemaError, match="'visits'"):
        hospital.column_index("visits", "dob")
    assert hospital.find_table("visits") is None
    assert hospital.find_column("patients", "weight") is None


def test_a_schema_is_immutable_hashable_and_small_to_look_at(hospital: Schema) -> None:
    with pytest.raises(FrozenInstanceError):
        hospital.name = "other"  # type: ignore[misc]
    assert hash(hospital) == hash(Schema.from_dict(HOSPITAL))
    assert repr(hospital) == "<Schema 'hospital', 2 tables, 6 columns>"


def test_a_schema_travels_between_processes(hospital: Schema) -> None:
    before = hospital.fingerprint
    copy = pickle.loads(pickle.dumps(hospital))
    assert copy == hospital
    assert copy.fingerprint == before
    assert copy.column_index("patients", "dob") == 2


def test_the_fingerprint_is_the_same_in_every_process(hospital: Schema) -> None:
    code = (
        "import json, sys; from fastsql.schema import Schema;"
        "print(Schema.from_dict(json.loads(sys.stdin.read())).fingerprint)"
    )
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(HOSPITAL),
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        )
        assert found.stdout.strip() == hospital.fingerprint


def test_the_fingerprint_is_written_down(hospital: Schema) -> None:
    # A change of this value makes every cache of encoded schemas miss: raise FINGERPRINT_VERSION with it, and mean it.
    assert len(hospital.fingerprint) == 64
    assert Schema.from_dict({"t": {"c": "INT"}}).fingerprint == (
        "23f1cd5f0f01d981ae380aa84ab0c002492575829d5213307c237f3f5b97f14f"
    )


def test_the_fingerprint_does_not_depend_on_name_and_warnings(hospital: Schema) -> None:
    assert replace(hospital, name="other", warnings=("odd",)).fingerprint == hospital.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"label": "sex"},
        {"name": "sex"},
        {"type": "other"},
        {"sql_type": "TEXT"},
        {"synonyms": ("sex",)},
        {"description": "sex"},
        {"values": ("f",)},
        {"values": ("m", "f")},
    ],
)
def test_the_fingerprint_depends_on_every_field_of_a_column(hospital: Schema, change: dict[str, Any]) -> None:
    columns = list(hospital.columns)
    columns[1] = replace(columns[1], **change)
    assert replace(hospital, columns=tuple(columns)).fingerprint != hospital.fingerprint


@pytest.mark.parametrize(
    "change",
    [{"foreign_keys": ()}, {"constants": ()}, {"dialect": "postgres"}],
)
def test_the_fingerprint_depends_on_keys_constants_and_dialect(
    hospital: Schema, change: dict[str, Any]
) -> None:
    assert replace(hospital, **change).fingerprint != hospital.fingerprint


def test_the_order_within_a_composite_key_counts(hospital: Schema) -> None:
    tables = (hospital.tables[0], replace(hospital.tables[1], primary_key=(3, 4)))
    assert replace(hospital, tables=tables).fingerprint != hospital.fingerprint


def test_constants_are_added_and_replaced(hospital: Schema) -> None:
    more = hospital.with_constants({"sao2_lower": 90, "temperature_upper": 38.1})
    assert [(constant.name, constant.value) for constant in more.constants] == [
        ("sao2_lower", 90),
        ("pi", 3.5),
        ("temperature_upper", 38.1),
    ]
    assert more.constants[2].label == "temperature upper"
    bound = hospital.with_constants([Constant("sao2_lower", 90, "low oxygen", 5)])
    assert bound.constants[0] == Constant("sao2_lower", 90, "low oxygen", 5)
    assert hospital.constants[0].value == 95


@pytest.mark.parametrize(
    "constant",
    [Constant("", 1), Constant("a\0", 1), Constant("nan", float("nan")), Constant("far", 1, column=99)],
)
def test_a_constant_that_cannot_stand_in_sql_is_refused(hospital: Schema, constant: Constant) -> None:
    with pytest.raises(SchemaError, match="constant"):
        hospital.with_constants([constant])


def test_values_are_set_by_name(hospital: Schema) -> None:
    more = hospital.with_values({("PATIENTS", "Gender"): ["f", "m", "m", "其他"]})
    assert more.columns[1].values == ("f", "m", "其他")
    with pytest.raises(SchemaError, match=r"patients\.weight"):
        hospital.with_values({("patients", "weight"): ["1"]})
    with pytest.raises(SchemaError, match="cannot stand in SQL"):
        hospital.with_values({("patients", "gender"): ["\0"]})


def test_values_are_set_by_the_names_that_annotations_have(hospital: Schema) -> None:
    more = hospital.with_values({"PATIENTS.Gender": ["f", "m"]})
    assert more == hospital.with_values({("patients", "gender"): ["f", "m"]})
    assert more == hospital.annotated({"patients.gender": {"values": ["f", "m"]}})
    for name in ("patients.weight", "gender", "patients"):
        with pytest.raises(SchemaError, match=f"'{name}': there is no such column"):
            hospital.with_values({name: ["1"]})


def test_a_name_with_dots_is_that_of_the_one_column_that_it_can_be() -> None:
    schema = Schema.from_dict({"a": {"b.c": "TEXT"}, "a.b": {"d": "TEXT"}})
    named = schema.with_values({"a.b.c": ["x"], "a.b.d": ["y"]})
    assert [column.values for column in named.columns] == [("x",), ("y",)]
    twice = Schema.from_dict({"a": {"b.c": "TEXT"}, "a.b": {"c": "TEXT"}})
    with pytest.raises(SchemaError, match="several columns"):
        twice.with_values({"a.b.c": ["x"]})


def test_items_are_annotated_by_name(hospital: Schema) -> None:
    more = hospital.annotated(
        {
            "Patients": {"label": " the  patients ", "synonyms": ["cases", "cases", " "]},
            "patients.gender": {"label": "性别", "description": " f or m ", "values": ["f"]},
            "chartevents": {},
        }
    )
    assert (more.tables[0].label, more.tables[0].synonyms) == ("the patients", ("cases",))
    assert (more.columns[1].label, more.columns[1].description) == ("性别", "f or m")
    assert more.columns[1].values == ("f",)
    assert more.columns[2] == hospital.columns[2]


@pytest.mark.parametrize(
    ("notes", "named"),
    [
        ({"visits": {}}, "visits"),
        ({"patients.weight": {}}, "patients.weight"),
        ({"patients": {"lable": "x"}}, "lable"),
        ({"patients": {"label": 7}}, "patients"),
        ({"patients": {"label": "\ud800"}}, "patients"),
        ({"patients": {"synonyms": "people"}}, "patients"),
        ({"patients": {"values": ["x"]}}, "patients"),
    ],
)
def test_a_wrong_note_is_an_error_that_names_it(hospital: Schema, notes: dict[str, Any], named: str) -> None:
    with pytest.raises(SchemaError, match=named):
        hospital.annotated(notes)


COLUMN = Column("c", "c", 0, "text")
TABLE = Table("t", "t", (0,))


@pytest.mark.parametrize(
    "parts",
    [
        {"tables": (), "columns": ()},
        {"tables": (TABLE,), "columns": ()},
        {"tables": (replace(TABLE, columns=(1,)),)},
        {"tables": (TABLE, Table("u", "u", ()))},
        {"columns": (replace(COLUMN, table=1),)},
        {"tables": (replace(TABLE, primary_key=(7,)),)},
        {"foreign_keys": (ForeignKey((0,), ()),)},
        {"foreign_keys": (ForeignKey((), ()),)},
        {"foreign_keys": (ForeignKey((0,), (9,)),)},
        {"constants": (Constant("k", 1, column=1),)},
    ],
)
def test_a_schema_made_by_hand_has_indices_that_fit(parts: dict[str, Any]) -> None:
    Schema("s", (TABLE,), (COLUMN,))
    with pytest.raises(SchemaError):
        Schema(**{"name": "s", "tables": (TABLE,), "columns": (COLUMN,), **parts})


def test_reading_a_schema_from_a_dict_imports_nothing_heavy() -> None:
    code = (
        "import sys; from fastsql.schema import Schema; Schema.from_dict({'t': {'c': 'INT'}}).to_ddl();"
        "print([m for m in ('numpy', 'sqlglot', 'sqlalchemy', 'torch') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert found.stdout.strip() == "[]"
