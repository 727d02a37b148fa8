"""Odd keys and dictionaries that no longer fit: SQL stays valid, and what cannot be used is a typed error."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from fastsql import Parser, Schema, SchemaError, ValueDictionary, open_executor
from fastsql.grammar import ActionSpace, State, read_path, render
from fastsql.linking import find_candidates
from fastsql.reliability.inspection import Inspector
from fastsql.verification.verify import verify

from .grammar.grounding import tokens

QUESTION = "how many patients with urgent admission in ward 3 have ceftriaxone"
KEYS = {
    "cyclic": """
        CREATE TABLE patients (id INTEGER PRIMARY KEY, ward INTEGER REFERENCES wards (id), name TEXT);
        CREATE TABLE wards (id INTEGER PRIMARY KEY, head INTEGER REFERENCES staff (id), kind TEXT);
        CREATE TABLE staff (id INTEGER PRIMARY KEY, patient INTEGER REFERENCES patients (id),
                            chief INTEGER REFERENCES staff (id))""",
    "both ways": """
        CREATE TABLE patients (id INTEGER PRIMARY KEY, latest INTEGER REFERENCES stays (id));
        CREATE TABLE stays (id INTEGER PRIMARY KEY, patient INTEGER REFERENCES patients (id), ward TEXT)""",
    "triple": """
        CREATE TABLE visits (site INTEGER, patient INTEGER, number INTEGER, ward TEXT,
                             PRIMARY KEY (site, patient, number));
        CREATE TABLE drugs (site INTEGER, patient INTEGER, number INTEGER, name TEXT,
                            FOREIGN KEY (site, patient, number) REFERENCES visits (site, patient, number))""",
    "none": "CREATE TABLE patients (number INTEGER, ward TEXT); CREATE TABLE drugs (name TEXT, dose REAL)",
}


@pytest.mark.parametrize("keys", KEYS)
def test_sql_is_valid_whatever_the_keys(toy: Parser, keys: str) -> None:
    schema = Schema.from_ddl(KEYS[keys])
    best = toy.parse(QUESTION, schema).best
    assert best is not None
    verify(best, schema)


@pytest.mark.parametrize("keys", KEYS)
def test_random_decodes_are_valid_whatever_the_keys(keys: str) -> None:
    schema = Schema.from_ddl(KEYS[keys])
    space = ActionSpace.for_question(schema, QUESTION, tokens(QUESTION), find_candidates(QUESTION, schema))
    for seed in range(8):
        random = np.random.default_rng(seed)
        state, path = State.start(space), []
        while not state.finished:
            path.append(int(random.choice(state.legal())))
            state = state.advance(path[-1])
        verify(render(read_path(path, space), schema), schema)


# ---------------------------------------------------------------- dictionaries


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    path = tmp_path / "ward.sqlite"
    change(
        path,
        "CREATE TABLE patients (id INTEGER, admission TEXT, note TEXT)",
        "INSERT INTO patients VALUES (1, 'urgent transfer', 'none'), (2, 'elective transfer', 'seen')",
    )
    return path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def read(path: Path) -> tuple[Schema, ValueDictionary]:
    schema = Schema.from_sqlite(path, max_values=0)
    return schema, ValueDictionary.from_database(path, schema)


def test_a_stale_dictionary_gives_valid_sql_that_runs_and_links_what_it_read(toy: Parser, ward: Path) -> None:
    schema, values = read(ward)
    change(ward, "UPDATE patients SET admission = 'newborn transfer' WHERE id = 1")
    question = "how many patients with urgent transfer"
    result = toy.parse(question, schema, values=values)
    assert ("urgent transfer", "dictionary") in {
        (one.value, one.source) for one in find_candidates(question, schema, values)
    }
    assert result.best is not None
    with closing(open_executor(ward, schema=schema)) as executor:
        assert executor.run(result.best).columns
        inspected = toy.parse(question, schema, values=values, inspector=Inspector(executor))
    assert inspected.best is not None
    verify(inspected.best, schema)


def test_a_dictionary_that_is_read_again_knows_what_has_changed(ward: Path) -> None:
    schema, values = read(ward)
    change(ward, "UPDATE patients SET admission = 'newborn transfer' WHERE id = 1")
    fresh = values.refresh()
    column = (schema.column_index("patients", "admission"),)
    assert (fresh.holding("newborn transfer"), fresh.holding("urgent transfer")) == (column, ())
    assert (values.holding("newborn transfer"), values.holding("urgent transfer")) == ((), column)


def test_a_dictionary_of_a_column_that_has_gone_is_a_schema_error(toy: Parser, ward: Path) -> None:
    _, values = read(ward)
    change(ward, "ALTER TABLE patients DROP COLUMN admission")
    now = Schema.from_sqlite(ward, max_values=0)
    with pytest.raises(SchemaError, match="made for another schema"):
        toy.parse(QUESTION, now, values=values)
    with pytest.raises(SchemaError, match="admission"):
        values.bound_to(now)


def test_a_dictionary_moves_along_where_columns_were_added(toy: Parser, ward: Path) -> None:
    _, values = read(ward)
    change(ward, "CREATE TABLE admissions (id INTEGER, ward TEXT)")
    now = Schema.from_sqlite(ward, max_values=0)
    moved = values.bound_to(now)
    assert {now.columns[column].name for column in moved.whole} == {"admission", "note"}
    best = toy.parse(QUESTION, now, values=moved).best
    assert best is not None
    verify(best, now)


def test_what_a_dictionary_covers_in_part_is_free_elsewhere(toy: Parser, ward: Path) -> None:
    schema, _ = read(ward)
    values = ValueDictionary.from_database(ward, schema, columns=[("patients", "admission")])
    assert values.whole == {schema.column_index("patients", "admission")}
    for question in (QUESTION, "patients of note seen", "patients with urgnet transfer"):
        for grounded in (True, False):
            best = toy.parse(question, schema, values=values, grounded=grounded).best
            assert best is not None
            verify(best, schema)


def test_a_dictionary_without_a_value_is_as_good_as_none(toy: Parser, ward: Path) -> None:
    schema, _ = read(ward)
    empty = ValueDictionary.from_mapping({}, schema)
    assert toy.parse(QUESTION, schema, values=empty).best == toy.parse(QUESTION, schema).best


# ---------------------------------------------------------------- executors


def test_the_plain_choice_is_given_with_a_word_where_the_executor_is_closed(toy: Parser, ward: Path) -> None:
    schema, values = read(ward)
    executor = open_executor(ward, schema=schema)
    executor.close()
    plain = toy.parse(QUESTION, schema, values=values)
    found = toy.parse(QUESTION, schema, values=values, inspector=Inspector(executor))
    assert (found.best, found.confidence) == (plain.best, plain.confidence)
    assert found.note
    assert plain.note is None


def test_the_plain_choice_is_given_with_a_word_where_the_tables_have_gone(toy: Parser, ward: Path) -> None:
    schema, values = read(ward)
    change(ward, "DROP TABLE patients", "CREATE TABLE other (x)")
    plain = toy.parse(QUESTION, schema, values=values)
    with closing(open_executor(ward)) as executor:
        found = toy.parse(QUESTION, schema, values=values, inspector=Inspector(executor))
    assert (found.best, found.confidence) == (plain.best, plain.confidence)
    assert found.note
