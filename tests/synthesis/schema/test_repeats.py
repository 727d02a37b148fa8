"""What has a partner is asked for once, however many partners it has."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql.execution import open_executor
from fastsql.schema import Schema
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.repeats import repeats_rows
from fastsql.synthesis.schema.words import UnsayableError, Words
from fastsql.verification.parse import parse_query

SCHEMA = Schema.from_ddl(
    """
    CREATE TABLE doctors (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, doctor_id INTEGER REFERENCES doctors (id), complaint TEXT);
    CREATE TABLE bills (id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits (id), amount REAL);
    """
)
DOCTORS = "doctors JOIN visits ON doctors.id = visits.doctor_id"
ALL = f"{DOCTORS} JOIN bills ON visits.id = bills.visit_id"


@pytest.mark.parametrize(
    ("sql", "repeats"),
    [
        (f"SELECT doctors.name FROM {DOCTORS} WHERE visits.complaint = 'cough'", True),
        (f"SELECT doctors.name, visits.complaint FROM {ALL} WHERE bills.amount > 5", True),
        (f"SELECT doctors.name, bills.amount FROM {ALL}", True),  # a bill of each visit, but not which visit
        (f"SELECT DISTINCT doctors.name FROM {DOCTORS} WHERE visits.complaint = 'cough'", False),
        (f"SELECT doctors.name, visits.complaint FROM {DOCTORS}", False),
        (f"SELECT visits.complaint FROM {DOCTORS} WHERE doctors.name = 'Ng'", False),
        (f"SELECT COUNT(*) FROM {DOCTORS}", False),
        (f"SELECT doctors.name FROM {DOCTORS} GROUP BY doctors.name", False),
        ("SELECT doctors.name FROM doctors", False),
    ],
)
def test_rows_repeat_where_a_join_adds_what_is_not_shown(sql: str, repeats: bool) -> None:
    select = parse_query(sql)
    assert repeats_rows(select, Words(SCHEMA)) is repeats  # type: ignore[arg-type]


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Words]:
    """Words for dishes, two of one name, whose links name the first column of their key alone."""
    path = tmp_path / "menu.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE dishes (dish_id INTEGER PRIMARY KEY, name VARCHAR(9), price REAL);
            CREATE TABLE cooks (cook_id INTEGER PRIMARY KEY, name VARCHAR(9));
            CREATE TABLE servings (
                dish_id INTEGER REFERENCES dishes (dish_id), cook_id INTEGER REFERENCES cooks (cook_id)
            );
            INSERT INTO dishes VALUES (1, 'soup', 3), (2, 'soup', 4), (3, 'rice', 2);
            INSERT INTO cooks VALUES (1, 'Ada'), (2, 'Bo');
            INSERT INTO servings VALUES (1, 1), (1, 2), (2, 1), (NULL, 2);
            """
        )
    read = Schema.from_sqlite(path).to_dict()
    (servings,) = (table for table in read["tables"] if table["name"] == "servings")
    servings["columns"][0]["primary_key"] = True
    schema = Schema.from_dict(read)
    assert schema.unique_columns == {0, 3, 5}
    with open_executor(path) as executor:
        yield Words(schema, contents=Contents(schema, executor))


def test_a_key_that_repeats_tells_no_rows_apart(rows: Words) -> None:
    sql = "SELECT dishes.price FROM dishes JOIN servings ON dishes.dish_id = servings.dish_id"
    assert repeats_rows(parse_query(sql), rows)  # type: ignore[arg-type]
    assert not repeats_rows(parse_query(sql), Words(rows.schema))  # type: ignore[arg-type]


def test_a_count_of_what_is_empty_in_some_rows_is_no_count_of_rows(rows: Words) -> None:
    sql = "SELECT COUNT(servings.dish_id) FROM servings WHERE servings.cook_id = 1"
    with pytest.raises(UnsayableError):
        ask(parse_query(sql), rows, random.Random(1))
    assert "servings" in ask(parse_query(sql), Words(rows.schema), random.Random(1)).lower()


def test_what_belongs_to_nothing_is_not_asked_for_by_not_in(rows: Words) -> None:
    there = "servings.dish_id IN (SELECT dishes.dish_id FROM dishes WHERE dishes.price > 3)"
    sql = f"SELECT servings.cook_id FROM servings WHERE {there}"
    assert ask(parse_query(sql), rows, random.Random(1))
    assert ask(parse_query(sql.replace(" IN", " NOT IN")), Words(rows.schema), random.Random(3))
    with pytest.raises(UnsayableError, match="NOT IN"):
        ask(parse_query(sql.replace(" IN", " NOT IN")), rows, random.Random(3))


@pytest.mark.parametrize(
    ("sql", "says_names"),
    [
        ("SELECT DISTINCT dishes.name FROM dishes WHERE dishes.price < 9", True),
        ("SELECT dishes.name FROM dishes EXCEPT SELECT dishes.name FROM dishes WHERE dishes.price < 3", True),
        ("SELECT dishes.name FROM dishes WHERE dishes.price < 9", False),
        ("SELECT DISTINCT cooks.name FROM cooks WHERE cooks.name LIKE 'A%'", False),
    ],
)
def test_rows_of_one_name_are_not_asked_for_by_a_query_that_gives_names_once(
    sql: str, says_names: bool, rows: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.synthesis.schema.questions.NAMELESS", 1.0)
    for seed in range(8):
        asked = ask(parse_query(sql), rows, random.Random(seed)).lower()
        assert ("names of" in asked) is says_names, asked
