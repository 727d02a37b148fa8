"""Literals that a database is asked for because no dictionary can vouch for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.grammar.program import Literal, Program
from fastsql.linking import ValueDictionary
from fastsql.refusal.lookups import LookUp, look_ups

from ..worlds.ward import ward_schema

SCHEMA = ward_schema()
NAME = SCHEMA.column_index("patients", "name")
WARDS = ValueDictionary.from_mapping({("admissions", "ward"): ["icu", "er"]}, SCHEMA, whole=True)


def read(sql: str) -> Program:
    """A program whose literals stand in the question, one behind the other."""
    return tuple(
        replace(one, provenance="number" if isinstance(one.value, int) else "span", span=(at, at + 1))
        if isinstance(one, Literal)
        else one
        for at, one in enumerate(sql_to_program(sql, SCHEMA))
    )


def found(sql: str, dictionary: ValueDictionary | None = WARDS) -> list[LookUp]:
    return list(look_ups(read(sql), SCHEMA, dictionary))


@pytest.mark.parametrize(
    ("sql", "asked"),
    [
        (
            "SELECT name FROM patients WHERE subject_id = 5",
            ["SELECT patients.subject_id FROM patients WHERE patients.subject_id = 5 LIMIT 1"],
        ),
        (
            "SELECT COUNT(*) FROM admissions WHERE subject_id IN (7, 8)",
            [
                "SELECT admissions.subject_id FROM admissions WHERE admissions.subject_id = 7 LIMIT 1",
                "SELECT admissions.subject_id FROM admissions WHERE admissions.subject_id = 8 LIMIT 1",
            ],
        ),
        (
            "SELECT gender FROM patients WHERE name = 'o''hara' OR name = 'o''hara'",
            ["SELECT patients.name FROM patients WHERE patients.name = 'o''hara' LIMIT 1"],
        ),
        ("SELECT label FROM labs WHERE valuenum = 80", []),
        ("SELECT name FROM patients WHERE subject_id <> 5 AND subject_id > 4", []),
        ("SELECT name FROM patients WHERE name LIKE '%smith%'", []),
        ("SELECT subject_id FROM admissions WHERE ward = 'icu'", []),
        ("SELECT subject_id FROM admissions WHERE age = 3", []),
    ],
)
def test_keys_and_texts_that_no_dictionary_knows_whole_are_looked_up(sql: str, asked: list[str]) -> None:
    assert [render(one.program(SCHEMA), SCHEMA) for one in found(sql)] == asked


def test_without_a_dictionary_every_text_is_looked_up() -> None:
    (one,) = found("SELECT subject_id FROM admissions WHERE ward = 'ICU'", None)
    assert render(one.program(SCHEMA), SCHEMA, dialect="tsql").startswith("SELECT TOP 1")


def test_what_was_not_read_from_the_question_is_not_looked_up() -> None:
    program = sql_to_program("SELECT name FROM patients WHERE subject_id = 5", SCHEMA)
    assert not list(look_ups(program, SCHEMA, None))


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "No row of patients has name = 'Waldo'."), ("zh", "patients 中没有 name = “Waldo” 的行。")],
)
def test_what_no_row_holds_is_told(language: str, text: str) -> None:
    told = LookUp(Literal("Waldo", provenance="span", span=(0, 5)), NAME, (0, 5)).told(SCHEMA, language)
    assert (told.text, told.words, told.span, told.column) == (text, "Waldo", (0, 5), "patients.name")


def test_identifiers_that_are_known_by_their_form_are_looked_up() -> None:
    dictionary = ValueDictionary({}, SCHEMA, forms={NAME: ("R9999",)})
    program = tuple(
        replace(one, provenance="dictionary") if isinstance(one, Literal) else one
        for one in read("SELECT gender FROM patients WHERE name = 'R0172'")
    )
    assert [one.column for one in look_ups(program, SCHEMA, dictionary)] == [NAME]
    assert not list(look_ups(program, SCHEMA, WARDS))
