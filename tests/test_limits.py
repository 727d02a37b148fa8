"""Limits are checked when they are made, and each one that a schema meets is tested at its edge."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import LimitError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema import Schema
from fastsql.schema.model import Constant

from .worlds.wide import numbered_columns, numbered_tables


def test_the_defaults_are_positive_and_documented() -> None:
    assert all(getattr(DEFAULT, field.name) >= 1 for field in fields(DEFAULT))
    assert Limits() == DEFAULT


def test_limits_cannot_be_changed_behind_ones_back() -> None:
    with pytest.raises(FrozenInstanceError):
        DEFAULT.tables = 5  # type: ignore[misc]


@pytest.mark.parametrize("bound", [0, -1, 1.5, "7", None, True])
@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_a_bound_is_a_whole_number_of_at_least_one(name: str, bound: Any) -> None:
    with pytest.raises(LimitError, match=name):
        Limits(**{name: bound})


def test_the_depth_of_sql_stays_below_fifty() -> None:
    assert Limits(sql_depth=49).sql_depth == 49
    with pytest.raises(LimitError, match="sql_depth"):
        Limits(sql_depth=50)


def table(count: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": "t", "columns": [{"name": f"c{i}", "type": "number"} for i in range(count)], **more}


def of(*tables: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"db_id": "db", "tables": list(tables), **more}


def constants(count: int) -> list[dict[str, Any]]:
    return [{"name": f"k{number}", "value": number} for number in range(count)]


# For each limit: its value here, and a schema that holds so many.
EDGES: dict[str, tuple[int, Any]] = {
    "tables": (3, lambda n: numbered_tables(n, 1)),
    "columns": (6, lambda n: {"t": numbered_columns(n - 2), "u": numbered_columns(2)}),
    "columns_per_table": (4, lambda n: {"t": numbered_columns(n), "u": numbered_columns(1)}),
    "foreign_keys": (2, lambda n: of(table(5), foreign_keys=[[f"t.c{i}", "t.c0"] for i in range(n)])),
    "constants": (2, lambda n: of(table(), constants=constants(n))),
    "synonyms": (3, lambda n: of(table(synonyms=[f"s{number}" for number in range(n)]))),
    "identifier_characters": (5, lambda n: {"x" * n: numbered_columns(1), "t": {"y" * n: "INT"}}),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_schema_of_exactly_the_limit_loads_and_one_more_does_not(name: str) -> None:
    limit, build = EDGES[name]
    limits = replace(DEFAULT, **{name: limit})
    assert Schema.from_dict(build(limit), strict=True, limits=limits).tables
    with pytest.raises(LimitError, match=name):
        Schema.from_dict(build(limit + 1), limits=limits)


def test_the_default_limits_hold_for_enormous_schemas() -> None:
    assert len(Schema.from_dict(numbered_tables(512, 8)).columns) == 4_096
    with pytest.raises(LimitError, match=r"513.*512 \(tables\)"):
        Schema.from_dict(numbered_tables(513, 1))
    with pytest.raises(LimitError, match=r"4,097.*4,096 \(columns\)"):
        Schema.from_dict({f"t{n}": numbered_columns(1366 if n else 1365) for n in range(3)})
    with pytest.raises(LimitError, match="columns_per_table"):
        Schema.from_dict({"t": numbered_columns(2_001)})


def test_long_labels_and_descriptions_are_cut_with_a_warning() -> None:
    limits = replace(DEFAULT, label_characters=5, description_characters=7)
    data = {"tables": [table(label="x" * 5, description="y" * 7)]}
    assert Schema.from_dict(data, limits=limits).warnings == ()
    data = {"tables": [table(label="x" * 6, description="y" * 8)]}
    schema = Schema.from_dict(data, limits=limits)
    assert (schema.tables[0].label, schema.tables[0].description) == ("x" * 5, "y" * 7)
    assert len(schema.warnings) == 2


def test_values_beyond_the_limits_are_left_out_with_a_warning_and_without_being_shown() -> None:
    limits = replace(DEFAULT, values_per_column=2, value_characters=4)
    column = {"name": "c", "type": "text", "values": ["a", "b", "secret", "c"]}
    schema = Schema.from_dict({"tables": [{"name": "t", "columns": [column]}]}, limits=limits)
    assert schema.columns[0].values == ("a", "b")
    assert len(schema.warnings) == 2
    assert "secret" not in " ".join(schema.warnings)


def test_values_given_by_hand_must_fit() -> None:
    schema = Schema.from_dict({"t": {"c": "TEXT"}})
    limits = replace(DEFAULT, values_per_column=2)
    assert schema.with_values({("t", "c"): ["a", "b"]}, limits=limits).columns[0].values == ("a", "b")
    with pytest.raises(LimitError, match="values_per_column"):
        schema.with_values({("t", "c"): ["a", "b", "c"]}, limits=limits)


def test_constants_given_by_hand_must_fit() -> None:
    schema = Schema.from_dict({"t": {"c": "TEXT"}})
    limits = replace(DEFAULT, constants=1)
    assert schema.with_constants([Constant("a", 1)], limits=limits).constants[0].value == 1
    with pytest.raises(LimitError, match="constants"):
        schema.with_constants({"a": 1, "b": 2}, limits=limits)


def test_notes_given_by_hand_must_fit() -> None:
    schema = Schema.from_dict({"t": {"c": "TEXT"}})
    limits = replace(DEFAULT, label_characters=3, synonyms=1, description_characters=3)
    assert schema.annotated({"t": {"label": "abc"}}, limits=limits).tables[0].label == "abc"
    for note in (
        {"label": "abcd"},
        {"synonyms": ["a", "b"]},
        {"synonyms": ["abcd"]},
        {"description": "abcd"},
    ):
        with pytest.raises(LimitError):
            schema.annotated({"t.c": note}, limits=limits)


def test_ddl_has_a_size(tmp_path: Path) -> None:
    ddl = "CREATE TABLE t (a INT)"
    limits = replace(DEFAULT, ddl_characters=len(ddl))
    assert Schema.from_ddl(ddl, limits=limits).tables[0].name == "t"
    with pytest.raises(LimitError, match="INSERT"):
        Schema.from_ddl(ddl + ";", limits=limits)


def test_a_schema_file_has_a_size(tmp_path: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text("CREATE TABLE t (a INT)", encoding="utf-8")
    size = path.stat().st_size
    assert Schema.coerce(path, limits=replace(DEFAULT, schema_file_bytes=size)).tables[0].name == "t"
    with pytest.raises(LimitError, match=r"schema\.sql.*schema_file_bytes"):
        Schema.coerce(path, limits=replace(DEFAULT, schema_file_bytes=size - 1))
