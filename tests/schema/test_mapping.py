"""Plain data: the uniform form, our own, and the short form; and data that is none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import ForeignKey, Schema, load_uniform


def test_the_short_form_needs_names_and_types_only() -> None:
    schema = Schema.from_dict(
        {
            "patients": {"subject_id": "INT", "dob": "TIMESTAMP(0)"},
            "visits": {"note": {"type": "text", "label": "a note"}},
        },
        strict=True,
    )
    assert [table.name for table in schema.tables] == ["patients", "visits"]
    assert [(c.name, c.type, c.sql_type) for c in schema.columns] == [
        ("subject_id", "number", "INT"),
        ("dob", "time", "TIMESTAMP(0)"),
        ("note", "text", ""),
    ]
    assert schema.columns[2].label == "a note"


def test_columns_may_be_a_list_of_names() -> None:
    schema = Schema.from_dict({"patients": ["id", {"name": "dob", "type": "date"}]})
    assert [(column.name, column.type) for column in schema.columns] == [("id", "other"), ("dob", "time")]
    assert schema.warnings == ("column patients.id: it has no type; it is taken as 'other'",)


def test_tables_may_be_a_mapping_with_all_their_fields() -> None:
    data = {
        "tables": {"p": {"label": "people", "columns": {"id": "INT"}, "primary_key": ["id"]}},
        "name": "db",
    }
    schema = Schema.from_dict(data, strict=True)
    assert (schema.name, schema.tables[0].label, schema.tables[0].primary_key) == ("db", "people", (0,))


def test_a_round_trip_keeps_everything() -> None:
    data = {
        "db_id": "库",
        "dialect": "postgres",
        "tables": [
            {
                "name": "订单 明细",
                "label": "订单",
                "synonyms": ["单"],
                "description": "说明",
                "primary_key": ["b.c", "a"],
                "columns": [
                    {"name": "a", "type": "number", "values": [1, 2.5, "x"]},
                    {"name": "b.c", "type": "text", "synonyms": ["bc"], "description": "d"},
                ],
            },
            {"name": "a.b", "columns": [{"name": "c", "type": "time"}, {"name": "d", "type": "INT4"}]},
        ],
        "foreign_keys": [
            {"table": "a.b", "columns": ["d", "c"], "parent": "订单 明细", "references": ["a", "b.c"]}
        ],
        "constants": [{"name": "k", "value": "v", "label": "的", "column": "a.b.c"}],
    }
    schema = Schema.from_dict(data, strict=True)
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())), strict=True)
    assert again == schema
    assert again.fingerprint == schema.fingerprint
    assert schema.foreign_keys == (ForeignKey((2, 3), (1, 0)),)
    assert schema.constants[0].column == 2


def test_names_with_dots_are_split_where_the_schema_says() -> None:
    data = {
        "tables": [
            {"name": "a", "columns": [{"name": "x.y", "type": "number"}]},
            {"name": "a.x", "columns": [{"name": "z", "type": "number"}]},
        ],
        "foreign_keys": [["a.x.y", "a.x.z"], ["a.x.q", "a.x.z"]],
    }
    schema = Schema.from_dict(data)
    assert schema.foreign_keys == (ForeignKey((0,), (1,)),)
    assert len(schema.warnings) == 1


PARENT = {
    "name": "p",
    "columns": [
        {"name": "a", "type": "number", "primary_key": True},
        {"name": "b", "type": "number", "primary_key": True},
    ],
}


def child(*names: str) -> dict[str, Any]:
    return {"name": "c", "columns": [{"name": name, "type": "number"} for name in names]}


def test_pairs_that_cover_a_composite_key_are_one_key() -> None:
    keys = [["c.x", "p.a"], ["c.y", "p.b"], ["c.z", "p.b"], ["c.w", "p.a"]]
    schema = Schema.from_dict(
        {"tables": [PARENT, child("x", "y", "z", "w")], "foreign_keys": keys}, strict=True
    )
    assert schema.foreign_keys == (ForeignKey((2, 3), (0, 1)), ForeignKey((4, 5), (1, 0)))


def test_pairs_of_one_key_need_not_stand_together() -> None:
    other = {**PARENT, "name": "q"}
    keys = [["c.x", "p.a"], ["c.z", "q.a"], ["c.y", "p.b"], ["c.w", "q.b"]]
    schema = Schema.from_dict(
        {"tables": [PARENT, other, child("x", "y", "z", "w")], "foreign_keys": keys}, strict=True
    )
    assert schema.foreign_keys == (ForeignKey((4, 5), (0, 1)), ForeignKey((6, 7), (2, 3)))


@pytest.mark.parametrize(
    "keys",
    [
        [["c.x", "p.a"], ["c.y", "p.a"]],  # two roles of one column: an origin and a destination
        [["c.x", "p.a"]],  # half of the key
        [["c.x", "p.a"], ["c.y", "p.b"], ["c.x", "p.b"]],  # a key and a half
        [["c.x", "p.a"], ["c.x", "p.b"]],  # one column cannot be both
    ],
)
def test_pairs_that_do_not_match_a_composite_key_are_keys_of_their_own(keys: list[list[str]]) -> None:
    schema = Schema.from_dict({"tables": [PARENT, child("x", "y")], "foreign_keys": keys}, strict=True)
    assert [len(key.columns) for key in schema.foreign_keys] == [1] * len(keys)


def test_unknown_fields_are_passed_over() -> None:
    data = {"db_id": "d", "parent": None, "operations": [], "tables": [{**child("x"), "rows": 7}]}
    assert Schema.from_dict(data, strict=True).tables[0].name == "c"


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        "tables",
        [],
        {},
        {"tables": []},
        {"tables": {}},
        {"tables": 7},
        {"tables": None},
        {"tables": ["t"]},
        {"tables": [{}]},
        {"tables": [{"name": 7, "columns": []}]},
        {"tables": [{"name": "t"}]},
        {"tables": [{"name": "t", "columns": []}]},
        {"tables": [{"name": "t", "columns": 7}]},
        {"tables": [{"name": "t", "columns": [7]}]},
        {"tables": [{"name": "t", "columns": [{}]}]},
        {"tables": [{"name": "t", "columns": [{"name": None}]}]},
        {"tables": [{"name": "t", "columns": [{"name": "c", "type": 7}]}]},
        {"tables": [{"name": "t", "columns": [{"name": "c", "label": ["x"]}]}]},
        {"tables": [{"name": "t", "columns": [{"name": "c", "synonyms": "x"}]}]},
        {"tables": [{"name": "t", "columns": [{"name": "c", "synonyms": [7]}]}]},
        {"tables": [{"name": "t", "columns": [{"name": "c", "values": "abc"}]}]},
        {"tables": [{**child("x")}], "foreign_keys": "c.x"},
        {"tables": [{**child("x")}], "foreign_keys": ["c.x"]},
        {"tables": [{**child("x")}], "foreign_keys": [["c.x"]]},
        {"tables": [{**child("x")}], "foreign_keys": [["c.x", 7]]},
        {"tables": [{**child("x")}], "foreign_keys": [{"table": "c"}]},
        {"tables": [{**child("x")}], "constants": [7]},
        {"tables": [{**child("x")}], "constants": [{"name": "k"}]},
        {"tables": [{**child("x")}], "constants": [{"value": 7}]},
        {"tables": [{**child("x")}], "constants": [{"name": "k", "value": 7, "column": 7}]},
        {"db_id": 7, "tables": [{**child("x")}]},
        {"t": 7},
        {"t": {"c": 7}},
        {"t": {"c": None}},
        {"columns": ["a"]},
    ],
)
def test_data_of_another_form_is_a_schema_error(data: Any) -> None:
    with pytest.raises(SchemaError):
        Schema.from_dict(data)


def test_a_file_holds_schemas_by_name(tmp_path: Path) -> None:
    path = tmp_path / "schemas.json"
    entries = [{"db_id": name, "tables": [child("x")]} for name in ("一", "two")]
    path.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
    assert list(load_uniform(path)) == ["一", "two"]
    path.write_text(json.dumps(entries[0]), encoding="utf-8")
    assert list(load_uniform(path)) == ["一"]
    path.write_text(json.dumps([entries[0], entries[0]]), encoding="utf-8")
    with pytest.raises(SchemaError, match="一"):
        load_uniform(path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "line 1"),
        (b'[{"db_id": ', "line 1"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"[" * 200_000, "JSON|deeply"),
        (b"1" * 10_000, "digits"),
        (b"7", "mapping"),
    ],
)
def test_a_damaged_file_is_a_schema_error_that_names_it(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "schemas.json"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=what):
        load_uniform(path)


def test_a_missing_file_is_a_schema_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"nothing\.json"):
        load_uniform(tmp_path / "nothing.json")
    with pytest.raises(SchemaError, match="cannot be read"):
        load_uniform(tmp_path)
