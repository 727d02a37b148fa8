"""Pairs for a schema: queries that return something, and questions that say them."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from fastsql.execution import Executor, open_executor
from fastsql.grammar import render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate_drawn
from fastsql.synthesis.schema import SchemaSource, known_templates, read_template
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.fill import Filler, UnfitError
from fastsql.synthesis.schema.words import Words
from fastsql.synthesis.source import SynthesisError
from fastsql.verification.verify import verify

from ...worlds.database import write_database

PAIRS = 80


def test_every_query_returns_something_and_is_asked_once(clinic: Schema, executor: Executor) -> None:
    pairs = generate_drawn(SchemaSource(clinic, executor, known_templates()), PAIRS)
    assert len(pairs) == PAIRS
    assert len({pair.question.lower() for pair in pairs}) == len({pair.sql for pair in pairs}) == PAIRS
    for pair in pairs:
        assert pair.sql is not None
        verify(pair.sql, clinic)
        assert render(sql_to_program(pair.sql, clinic), clinic) == pair.sql
        rows = executor.run(pair.sql).rows
        assert any(cell is not None for row in rows for cell in row)


def test_columns_that_share_a_name_by_chance_are_named_anew(
    clinic: Schema, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Words, "label", lambda _, column, rng: rng.choice(("detail", f"detail {column}")))
    pairs = generate_drawn(SchemaSource(clinic, executor, known_templates()), PAIRS, wordings=3)
    assert len(pairs) == PAIRS
    assert any(
        "SELECT patients" in sql and ", " in sql.partition("FROM")[0] for pair in pairs if (sql := pair.sql)
    )


def test_the_same_seed_makes_the_same_pairs(clinic: Schema, executor: Executor) -> None:
    one, again, other = (
        generate_drawn(SchemaSource(clinic, executor, known_templates()), 20, seed) for seed in (3, 3, 4)
    )
    assert one == again != other


@pytest.mark.parametrize(
    ("sql", "sense"),
    [
        ("SELECT COUNT(*) FROM patients WHERE sex = 'F'", True),
        ("SELECT sex FROM patients EXCEPT SELECT sex FROM patients", False),  # returns nothing
        ("SELECT weight * weight FROM patients", False),  # is not put into words
    ],
)
def test_a_template_makes_sense_whose_query_returns_something_and_has_a_question(
    clinic: Schema, executor: Executor, sql: str, sense: bool
) -> None:
    source = SchemaSource(clinic, executor, known_templates())
    template = read_template(sql_to_program(sql, clinic), clinic)
    assert any(source.makes_sense_of(template, str(seed)) for seed in range(20)) == sense


def test_filled_templates_are_programs_of_the_grammar(clinic: Schema, executor: Executor) -> None:
    filler, rng, filled = Filler(clinic, Contents(clinic, executor)), random.Random(5), 0
    for one in known_templates()[:200]:
        try:
            sql = render(filler.fill(one.template, rng), clinic)
        except UnfitError:
            continue
        filled += 1
        # The order of conditions is the grammar's, that of joins may be another.
        again = render(sql_to_program(sql, clinic), clinic)
        assert sorted(map(repr, executor.run(again).rows)) == sorted(map(repr, executor.run(sql).rows))
    assert filled > 100


def test_different_positions_get_different_literals(clinic: Schema, executor: Executor) -> None:
    program = sql_to_program("SELECT name FROM patients WHERE sex = 'F' OR sex = 'M'", clinic)
    filler = Filler(clinic, Contents(clinic, executor))
    template = read_template(program, clinic)
    for seed in range(30):
        try:
            sql = render(filler.fill(template, random.Random(seed)), clinic)
        except UnfitError:
            continue
        one, other = sql.split("'")[1::2]
        assert one != other


@pytest.mark.parametrize(
    "ddl",
    [
        "CREATE TABLE t (a INTEGER)",
        "CREATE TABLE t (a INTEGER); CREATE TABLE u (b TEXT)",
        "CREATE TABLE 病人 (编号 INTEGER PRIMARY KEY, 姓名 TEXT)",
        'CREATE TABLE "select" ("from" TEXT, "group by" INTEGER)',
    ],
)
def test_a_database_without_rows_gives_an_error_that_says_so(ddl: str, tmp_path: Path) -> None:
    path = write_database(tmp_path / "empty.sqlite", ddl)
    schema = Schema.from_sqlite(path)
    with open_executor(path) as executor:
        source = SchemaSource(schema, executor, known_templates())
        with pytest.raises(SynthesisError, match="rows"):
            source.draw("1")


def test_names_in_any_script_and_reserved_words_are_asked_about(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "odd.sqlite",
        'CREATE TABLE 病人 (编号 INTEGER PRIMARY KEY, 姓名 TEXT, "order" TEXT, "totalCost" REAL);'
        "INSERT INTO 病人 VALUES (1, '王芳', 'a', 3.5), (2, '李雷', 'b', 7.25), (3, '张伟', 'a', 9);",
    )
    schema = Schema.from_sqlite(path)
    with open_executor(path) as executor:
        pairs = generate_drawn(SchemaSource(schema, executor, known_templates()), 20)
    assert len(pairs) == 20
    assert all("病人" in (pair.sql or "") for pair in pairs)


def test_without_templates_nothing_can_be_drawn(clinic: Schema, executor: Executor) -> None:
    with pytest.raises(SynthesisError, match="no templates"):
        SchemaSource(clinic, executor, ())


def test_columns_that_cannot_be_read_are_told_and_passed_over(
    clinic_file: Path, clinic: Schema, tmp_path: Path
) -> None:
    path = tmp_path / "clinic.sqlite"
    path.write_bytes(clinic_file.read_bytes())
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE patients DROP COLUMN weight")
    with open_executor(path) as executor:
        source = SchemaSource(clinic, executor, known_templates())
        pairs = generate_drawn(source, 40)
    assert len(pairs) == 40
    assert set(source.unread) <= {"patients.weight"}
    assert not any("weight" in (pair.sql or "") for pair in pairs)


def test_things_are_called_what_an_edited_profile_calls_them(clinic: Schema, executor: Executor) -> None:
    derived = clinic.profile
    tables = tuple(
        replace(table, label="bed house") if table.words == "wards" else table for table in derived.tables
    )
    profile = replace(derived, tables=tables)
    pairs = generate_drawn(SchemaSource(clinic, executor, known_templates(), profile=profile), 60)
    about_wards = [pair.question.lower() for pair in pairs if "FROM wards" in (pair.sql or "")]
    assert about_wards
    assert any("bed house" in question for question in about_wards)


def test_columns_of_unknown_contents_are_compared_with_no_value(clinic: Schema, executor: Executor) -> None:
    reason = next(number for number, column in enumerate(clinic.columns) if column.name == "reason")
    plain = SchemaSource(clinic, executor, known_templates())
    shy = SchemaSource(clinic, executor, known_templates(), unknown={reason})
    reasons = ("cough", "broken arm", "check-up", "fever")
    named = [
        sum(any(f"'{one}" in source.draw(str(seed)).sql for one in reasons) for seed in range(100))
        for source in (plain, shy)
    ]
    assert named[0] > 5
    assert named[1] == 0
