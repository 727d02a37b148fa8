"""Values that do not exist are told with those that do and are written alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql import Schema, ValueDictionary
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, TableRef
from fastsql.refusal.texts import ENGLISH
from fastsql.refusal.values import Absent, Values, absent_values, is_misspelt, mended

SCHEMA = Schema.from_ddl("CREATE TABLE rx (id INTEGER PRIMARY KEY, drug TEXT, ward TEXT, note TEXT)")
DRUG, WARD, NOTE = 1, 2, 3
DICTIONARY = ValueDictionary.from_mapping(
    {
        ("rx", "drug"): ["ceftriaxone", "cefazolin", "metoprolol tartrate", "warfarin"],
        ("rx", "ward"): ["intensive care", "surgery"],
    },
    SCHEMA,
    whole=True,
)
VALUES = Values(DICTIONARY, SCHEMA, ENGLISH)


def equals(column: int, literal: Literal, sign: str = "eq") -> Program:
    """Part of a program: a column compared with a literal."""
    return (TableRef(0), Production(sign), ColumnRef(column, 0), literal, Production("all_columns"))


def said(words: str, provenance: str = "span") -> Literal:
    return Literal(words, provenance=provenance, span=(5, 5 + len(words)))


def test_a_literal_that_its_column_does_not_hold_is_absent() -> None:
    assert absent_values(equals(DRUG, said("ceftriaxon")), DICTIONARY) == (
        Absent("ceftriaxon", (5, 15), DRUG),
    )
    assert absent_values(equals(DRUG, said("surgery", "quoted"), "ne"), DICTIONARY)


@pytest.mark.parametrize(
    "program",
    [
        equals(DRUG, said("Warfarin")),
        equals(NOTE, said("ceftriaxon")),  # a column that nobody read
        equals(DRUG, said("ceftriaxon"), "lt"),  # compares with more than values
        equals(DRUG, Literal("2100", provenance="date", span=(5, 9))),
        equals(DRUG, Literal("ceftriaxon", provenance="schema")),  # no word of the question
    ],
)
def test_what_exists_or_cannot_be_known_is_not_absent(program: Program) -> None:
    assert absent_values(program, DICTIONARY) == ()


def test_the_nearest_values_of_the_column_come_first() -> None:
    value = VALUES.unknown(Absent("ceftriaxon", (5, 15), DRUG), sure=True)
    assert value is not None
    assert (value.words, value.span, value.column) == ("ceftriaxon", (5, 15), "rx.drug")
    assert value.nearest[0].value == "ceftriaxone"
    assert value.nearest[0].columns == ("rx.drug",)
    assert value.text.startswith("No value like 'ceftriaxon' in rx.drug; the nearest ")
    assert is_misspelt(value)
    assert mended(equals(DRUG, said("ceftriaxon")), (value,)) == equals(
        DRUG, Literal("ceftriaxone", provenance="span", span=(5, 15))
    )


def test_a_value_of_another_column_is_told_where_the_column_is_sure() -> None:
    absent = Absent("surgery", (5, 12), DRUG)
    value = VALUES.unknown(absent, sure=True)
    assert value is not None
    assert value.text == "rx.drug has no value 'surgery', but rx.ward has it."
    assert VALUES.unknown(absent, sure=False) is None


def test_a_slip_is_found_in_any_column_and_what_is_only_a_little_alike_is_not() -> None:
    value = VALUES.unknown(Absent("warfarn", (5, 12), WARD), sure=True)
    assert value is not None
    assert (value.text, value.column) == (
        "No known value is 'warfarn'; the nearest is 'warfarin' (rx.drug).",
        "",
    )
    assert VALUES.unknown(Absent("playstation", (5, 16), WARD), sure=True) is None
    assert VALUES.misspelt("care", (5, 9)) is None


def test_a_value_that_only_shares_words_may_not_have_been_meant() -> None:
    value = VALUES.unknown(Absent("metoprolol", (5, 15), DRUG), sure=True)
    assert value is not None
    assert value.nearest[0].value == "metoprolol tartrate"
    assert not is_misspelt(value)


def test_known_are_values_in_the_singular_and_the_plural() -> None:
    assert VALUES.known("Warfarin")
    assert VALUES.known("warfarins")
    assert not VALUES.known("care")


def test_no_refusal_waits_for_the_index_of_a_large_dictionary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.refusal.values.SMALL", 3)
    fresh = ValueDictionary.from_mapping(
        {("rx", "drug"): ["aspirin", "warfarin", "heparin", "insulin"]}, SCHEMA
    )
    absent = Absent("warfarn", (5, 12), DRUG)
    assert Values(fresh, SCHEMA, ENGLISH).unknown(absent, sure=True) is None
    assert not fresh.has_near
    fresh.save(tmp_path / "values")
    opened = ValueDictionary.load(tmp_path / "values", SCHEMA)
    assert opened.has_near
    found = Values(opened, SCHEMA, ENGLISH).unknown(absent, sure=True)
    assert found is not None
    assert found.nearest[0].value == "warfarin"
