"""Odd schemas: recorded and worked around by default, refused by name when strict."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastsql.errors import FastSQLError, SchemaError
from fastsql.schema import Schema


def table(name: str, *columns: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "columns": [{"name": column, "type": "text"} for column in columns], **more}


def of(*tables: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"db_id": "db", "tables": list(tables), **more}


T = table("t", "a", "b")
# name of the case: (schema, the item that is named, names of what is left)
ODD: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "unknown type": ({"t": {"a": "FROB(3)", "b": "INT"}}, "column t.a", ["t.a", "t.b"]),
    "no type": ({"t": ["a"]}, "column t.a", ["t.a"]),
    "reserved table": (of(T, table("sqlite_sequence", "name")), "table 'sqlite_sequence'", ["t.a", "t.b"]),
    "reserved table, capitals": (of(T, table("SQLITE_Stat1", "x")), "table 'SQLITE_Stat1'", ["t.a", "t.b"]),
    "table twice": (of(T, table("T", "c")), "table 'T'", ["t.a", "t.b"]),
    "column twice": (of(table("t", "a", "A", "b")), "column t.'A'", ["t.a", "t.b"]),
    "empty table name": (of(T, table("", "a")), "table ''", ["t.a", "t.b"]),
    "empty column name": (of(table("t", "", "a")), "column t.''", ["t.a"]),
    "NUL in a name": (of(table("t", "x\0y", "a"), table("u\0", "a")), r"column t.'x\x00y'", ["t.a"]),
    "broken Unicode in a name": (of(table("t", "\ud800", "a")), "column t.'\\ud800'", ["t.a"]),
    "table without columns": (of(T, table("u")), "table 'u'", ["t.a", "t.b"]),
    "key to no table": (of(T, foreign_keys=[["t.a", "u.a"]]), "foreign key t(a) -> u(a)", ["t.a", "t.b"]),
    "key from no table": (of(T, foreign_keys=[["u.a", "t.a"]]), "foreign key u(a) -> t(a)", ["t.a", "t.b"]),
    "key to no column": (of(T, foreign_keys=[["t.a", "t.z"]]), "foreign key t(a) -> t(z)", ["t.a", "t.b"]),
    "key from no column": (of(T, foreign_keys=[["t.z", "t.a"]]), "foreign key t(z) -> t(a)", ["t.a", "t.b"]),
    "key without a dot": (of(T, foreign_keys=[["t", "t.a"]]), "foreign key t() -> t(a)", ["t.a", "t.b"]),
    "key of two lengths": (
        of(T, foreign_keys=[{"table": "t", "columns": ["a", "b"], "parent": "t", "references": ["a"]}]),
        "foreign key t(a, b) -> t(a)",
        ["t.a", "t.b"],
    ),
    "key to a missing primary key": (
        of(T, foreign_keys=[{"table": "t", "columns": ["a"], "parent": "t"}]),
        "foreign key t(a) -> t()",
        ["t.a", "t.b"],
    ),
    "primary key of no column": (of(table("t", "a", primary_key=["z"])), "primary key of table 't'", ["t.a"]),
    "constant twice": (
        of(T, constants=[{"name": "k", "value": 1}, {"name": "k", "value": 2}]),
        "constant 'k'",
        ["t.a", "t.b"],
    ),
    "constant that is no literal": (
        of(T, constants=[{"name": "k", "value": None}]),
        "constant 'k'",
        ["t.a", "t.b"],
    ),
    "constant without a name": (of(T, constants=[{"name": "", "value": 1}]), "constant ''", ["t.a", "t.b"]),
    "constant of no column": (
        of(T, constants=[{"name": "k", "value": 1, "column": "t.z"}]),
        "constant 'k'",
        ["t.a", "t.b"],
    ),
    "values that are no literals": (
        of(
            {
                "name": "t",
                "columns": [{"name": "a", "type": "text", "values": ["x", None, float("inf"), 2**70]}],
            }
        ),
        "column t.a",
        ["t.a"],
    ),
    "broken Unicode in a label": (of(table("t", "a", label="\udfff")), "table 't'", ["t.a"]),
    "broken Unicode in a description": (of(table("t", "a", description="\udfff")), "table 't'", ["t.a"]),
    "broken Unicode in a synonym": (of(table("t", "a", synonyms=["\udfff"])), "table 't'", ["t.a"]),
}


@pytest.mark.parametrize("case", ODD)
def test_what_is_odd_is_recorded_and_the_rest_is_kept(case: str) -> None:
    data, item, left = ODD[case]
    schema = Schema.from_dict(data)
    assert [schema.qualified_name(index) for index in range(len(schema.columns))] == left
    assert any(warning.startswith(f"{item}: ") for warning in schema.warnings), schema.warnings
    assert Schema.from_dict(schema.to_dict()) == schema
    prepare_everything(schema)


@pytest.mark.parametrize("case", ODD)
def test_what_is_odd_is_refused_by_name_when_strict(case: str) -> None:
    data, item, _ = ODD[case]
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(data, strict=True)
    assert caught.value.where == item
    assert caught.value.remedy


@pytest.mark.parametrize(
    "data",
    [of(), of(table("t")), of(table("sqlite_master", "a")), of(table("", "a")), of(table("t", "")), {}],
)
def test_a_schema_of_which_nothing_is_left_is_an_error(data: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="no table with a column"):
        Schema.from_dict(data)


def prepare_everything(schema: Schema) -> None:
    """Create the schema in SQLite, and prepare a query on every column with table and column quoted."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(schema.to_ddl())
        for index, column in enumerate(schema.columns):
            name, of_table = (
                text.replace('"', '""') for text in (column.name, schema.tables[column.table].name)
            )
            cursor = connection.execute(f'SELECT "{of_table}"."{name}" FROM "{of_table}"')
            assert cursor.description[0][0].lower() == column.name.lower(), index
        again = Schema.from_sqlite(connection)
        assert [table.name for table in again.tables] == [table.name for table in schema.tables]
        assert [column.name for column in again.columns] == [column.name for column in schema.columns]
        assert again.foreign_keys == schema.foreign_keys
    finally:
        connection.close()


NAMES = [
    "select",
    "Order",
    "GROUP",
    "rowid",
    "oid",
    "_rowid_",
    "primary",
    "a b",
    " leading and trailing ",
    'with "quotes"',
    '"',
    "it's",
    "`back`",
    "[brackets]",
    "a.b",
    "a,b",
    "a;b",
    "--",
    "/*",
    "%",
    "?",
    ":x",
    "1st",
    "42",
    "+/-",
    "tab\there",
    "line\nbreak",
    "MixedCase",
    "患者",
    "患者 姓名",
    "就诊（住院）",
    "数据；库",
    "𠮷野家",
    "é",
    "É",
    "ß",
    "имя",
    "الاسم",
    "e\u0301",
    "😀",
    "\u200b",
    "NULL",
    "true",
    "current_time",
    "abort",
    "window",
    "t" * 256,
]


def test_every_odd_name_is_kept_and_can_be_queried() -> None:
    columns = [{"name": name, "type": "number"} for name in NAMES]
    tables = [
        {"name": name, "columns": [{"name": name, "type": "text", "primary_key": True}]} for name in NAMES
    ]
    keys = [{"table": "all", "columns": [name], "parent": name, "references": [name]} for name in NAMES]
    schema = Schema.from_dict(
        of({"name": "all", "columns": columns}, *tables, foreign_keys=keys), strict=True
    )
    assert len(schema.foreign_keys) == len(NAMES)
    prepare_everything(schema)
    assert Schema.from_ddl(schema.to_ddl(), "sqlite", strict=True).foreign_keys == schema.foreign_keys
    assert [c.name for c in Schema.from_ddl(schema.to_ddl(), "sqlite").columns] == [
        c.name for c in schema.columns
    ]


HOSTILE_TYPES = [
    "INT DEFAULT (1)",
    "select",
    "set",
    "x); DROP TABLE t; --",
    "TEXT COLLATE nope",
    "a 'b",
    "int(",
    "(",
    "-- x",
]


@pytest.mark.parametrize("sql_type", HOSTILE_TYPES)
def test_a_hostile_type_does_no_harm(sql_type: str) -> None:
    column = {"name": "a", "type": "number", "sql_type": sql_type}
    prepare_everything(Schema.from_dict({"tables": [{"name": "t", "columns": [column]}]}))


texts = st.text(max_size=6)
entries = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "columns", "type", "values", "tables", "label", "primary_key"]) | texts,
            inner,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["tables", "foreign_keys", "constants", "db_id", "dialect"]) | texts, entries
    )
)
@settings(max_examples=150, deadline=None)
def test_whatever_the_data_the_outcome_is_a_schema_or_our_error(data: dict[str, Any]) -> None:
    try:
        schema = Schema.from_dict(data)
    except FastSQLError:
        return
    prepare_everything(schema)
    assert Schema.from_dict(schema.to_dict()).fingerprint == schema.fingerprint


names = st.text(min_size=1, max_size=5)


@given(
    st.dictionaries(
        names,
        st.dictionaries(names, st.sampled_from(["INT", "VARCHAR(5)", "DATE", "x", ""]), max_size=4),
        max_size=4,
    )
)
@settings(max_examples=100, deadline=None)
def test_whatever_the_names_what_is_kept_can_be_queried(tables: dict[str, dict[str, str]]) -> None:
    try:
        schema = Schema.from_dict({"tables": tables})
    except FastSQLError:
        return
    prepare_everything(schema)
