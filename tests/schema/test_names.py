"""Names, labels and types: one line of a fixture is one case."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.schema import TYPE_CLASSES, classify_type, label_from_name, quote
from fastsql.schema.names import fold, is_reserved, label_from_comment
from fastsql.schema.sqltypes import TYPE_WORDS

FIXTURES = Path(__file__).parents[1] / "fixtures" / "schema"


def cases(name: str) -> list[tuple[str, str]]:
    lines = (FIXTURES / name).read_text(encoding="utf-8").splitlines()[1:]
    return [(line.partition("\t")[0], line.partition("\t")[2]) for line in lines]


@pytest.mark.parametrize(("sql_type", "expected"), cases("types.tsv"))
def test_a_type_has_a_class(sql_type: str, expected: str) -> None:
    assert classify_type(sql_type) == (None if expected == "-" else expected)
    assert classify_type(f"  {sql_type.upper()} ") == classify_type(sql_type)


@given(st.text(max_size=60))
def test_any_text_is_read_as_a_type_without_an_error(sql_type: str) -> None:
    assert classify_type(sql_type) in (*TYPE_CLASSES, None)


@pytest.mark.parametrize(
    "text", ["(" * 100_000, "nullable(" * 100_000, "()" * 100_000, "int" + " " * 100_000]
)
def test_a_monstrous_type_costs_no_time(text: str) -> None:
    assert classify_type(text) in ("number", None)


def test_every_word_of_the_type_lists_is_lower_case() -> None:
    assert all(word == word.lower() for word in TYPE_WORDS)


@pytest.mark.parametrize(("name", "label"), cases("labels.tsv"))
def test_a_label_is_the_words_of_a_name(name: str, label: str) -> None:
    assert label_from_name(name) == label


@pytest.mark.parametrize(("comment", "label"), cases("comments.tsv"))
def test_a_chinese_comment_gives_a_label(comment: str, label: str) -> None:
    assert label_from_comment(comment) == label.replace("-", "", 1)


@given(st.text(min_size=1, max_size=40))
def test_a_name_never_has_an_empty_label(name: str) -> None:
    assert label_from_name(name)


@given(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1, max_size=20)
)
def test_any_name_can_be_quoted(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        (row,) = connection.execute(f"SELECT 7 AS {quote(name)}").fetchall()
    finally:
        connection.close()
    assert row == (7,)


def test_names_compare_as_in_sqlite() -> None:
    assert fold("Subject_ID") == fold("SUBJECT_id")
    assert fold("É") != fold("é")
    assert fold("患者") == "患者"


def test_reserved_names_are_told_whatever_their_case() -> None:
    assert is_reserved("sqlite_sequence")
    assert is_reserved("SQLite_Stat1")
    assert not is_reserved("sqlite")
