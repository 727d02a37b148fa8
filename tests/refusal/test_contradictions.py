"""What a query asks of reference tables in vain, told from the rows of a dictionary."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fastsql import Schema, ValueDictionary
from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Literal, Program
from fastsql.refusal.contradictions import contradictions

from ..worlds.database import write_database

TABLES = """
CREATE TABLE patients (pid INTEGER PRIMARY KEY, ward TEXT);
CREATE TABLE items (itemid INTEGER PRIMARY KEY, label TEXT, linksto TEXT);
CREATE TABLE events (eid INTEGER PRIMARY KEY, pid INTEGER REFERENCES patients (pid),
    itemid INTEGER REFERENCES items (itemid));
INSERT INTO items VALUES (1, 'urine', 'outputevents'), (2, 'saline', 'inputevents'), (3, 'urine', 'datetimeevents');
INSERT INTO patients VALUES (7, 'icu');
"""
URINE = "SELECT itemid FROM items WHERE label = 'urine' AND linksto = 'inputevents'"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_database(tmp_path_factory.mktemp("ward") / "ward.sqlite", TABLES)


@pytest.fixture(scope="module")
def schema(path: Path) -> Schema:
    return Schema.from_sqlite(path, max_values=0).with_reference_tables("items")


@pytest.fixture(scope="module")
def values(path: Path, schema: Schema) -> ValueDictionary:
    return ValueDictionary.from_database(path, schema)


def said(sql: str, schema: Schema) -> Program:
    """A program whose literals stand in the question, one behind the other."""
    return tuple(
        replace(one, span=(at, at + 1)) if isinstance(one, Literal) else one
        for at, one in enumerate(sql_to_program(sql, schema))
    )


def told(sql: str, schema: Schema, values: ValueDictionary | None, language: str = "en") -> list[str]:
    found = [one.told(schema, language) for one in contradictions(said(sql, schema), schema, values)]
    return [one.text for one in found if one is not None]


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        (URINE, ["No row of items has label = 'urine' and linksto = 'inputevents'."]),
        (
            f"SELECT COUNT(*) FROM events WHERE itemid IN ({URINE})",
            ["No row of items has label = 'urine' and linksto = 'inputevents'."],
        ),
        (
            f"SELECT eid FROM events WHERE itemid IN ({URINE}) UNION SELECT eid FROM events WHERE pid = 7",
            ["No row of items has label = 'urine' and linksto = 'inputevents'."],
        ),
        (
            "SELECT label FROM items JOIN events ON events.itemid = items.itemid WHERE items.itemid = 2 AND label = 'urine'",
            ["No row of items has itemid = 2 and label = 'urine'."],
        ),
        (
            f"SELECT eid FROM events WHERE itemid IN ({URINE} AND linksto = 'inputevents') OR itemid IN ({URINE})",
            ["No row of items has label = 'urine' and linksto = 'inputevents'."],
        ),
        ("SELECT label FROM items WHERE itemid = 9", ["No row of items has itemid = 9."]),
        (
            "SELECT linksto FROM items WHERE label = 'urine' AND label = 'saline'",
            ["No row of items has label = 'urine' and label = 'saline'."],
        ),
    ],
)
def test_conditions_that_no_row_satisfies_together_are_told(
    sql: str, texts: list[str], schema: Schema, values: ValueDictionary
) -> None:
    assert told(sql, schema, values) == texts


@pytest.mark.parametrize(
    "sql",
    [
        URINE.replace("inputevents", "outputevents"),
        URINE.replace("urine", "URINE").replace("inputevents", "outputevents"),
        URINE.replace(" AND ", " OR "),
        URINE.replace("label =", "label <>"),
        URINE.replace("label = 'urine' AND", "NOT (label = 'urine') AND"),
        "SELECT label FROM items WHERE label = 'nothing of the kind'",
        "SELECT a.label FROM items AS a JOIN items AS b ON a.itemid = b.itemid WHERE a.itemid = 1 AND b.itemid = 2",
        "SELECT ward FROM patients WHERE pid = 8 AND ward = 'er'",
        "SELECT COUNT(*) FROM events WHERE pid = 8",
    ],
)
def test_conditions_that_some_row_satisfies_or_whose_rows_are_unknown_contradict_nothing(
    sql: str, schema: Schema, values: ValueDictionary
) -> None:
    assert told(sql, schema, values) == []


def test_without_rows_nothing_contradicts_itself(path: Path, schema: Schema) -> None:
    plain = Schema.from_sqlite(path, max_values=0)
    for dictionary in (
        None,
        ValueDictionary.from_database(path, plain),
        ValueDictionary.from_database(path, schema, max_cells=5),
        ValueDictionary.from_mapping({("items", "label"): ["urine"]}, schema, whole=True),
    ):
        assert told(URINE, schema, dictionary) == []
    with_rows = ValueDictionary.from_database(path, schema)
    assert told(URINE, plain, with_rows) == [], "this schema marks no table"


def test_a_half_covered_table_tells_of_the_columns_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "half.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES + "UPDATE items SET linksto = x'00' WHERE itemid = 2;")
    schema = Schema.from_sqlite(path, max_values=0).with_reference_tables("items")
    values = ValueDictionary.from_database(path, schema)
    assert told(URINE, schema, values) == [], "a cell that cannot be compared takes its column with it"
    assert told("SELECT linksto FROM items WHERE itemid = 2 AND label = 'urine'", schema, values)


def test_contradictions_are_told_in_chinese(schema: Schema, values: ValueDictionary) -> None:
    assert told(URINE, schema, values, "zh") == [
        "items 中没有 label = “urine”和linksto = “inputevents” 的行。"
    ]


def test_what_the_question_does_not_say_is_evidence_without_words(
    schema: Schema, values: ValueDictionary
) -> None:
    (one,) = contradictions(sql_to_program(URINE, schema), schema, values)
    assert one.told(schema, "en") is None
