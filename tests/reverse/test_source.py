"""A program becomes the words of its schema and the symbols of its productions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fastsql.errors import LimitError
from fastsql.grammar.program import ColumnRef, Literal, Production, TableRef, TurnRef
from fastsql.reverse.source import OTHER, Kind, Source, SourceReader
from fastsql.schema import Schema

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reverse import QUERIES, SCHEMA, make_config, program

NUMBERS = make_config().numbers
NAMES = {number: name for name, number in NUMBERS.items()}


def read(sql: str, schema: Schema = SCHEMA, style: str = OTHER) -> Source:
    return SourceReader(schema, WORDPIECE, NUMBERS).read(program(sql, schema), style)


def symbols(source: Source) -> list[str]:
    return [NAMES[number] for number in source.ids.tolist() if number in NAMES]


@pytest.mark.parametrize("sql", QUERIES)
def test_every_piece_of_a_span_is_where_it_says(sql: str) -> None:
    source = read(sql)
    assert len(source.ids) == len(source.kinds) == len(source.tables)
    for span in source.spans:
        (ids,) = WORDPIECE.encode_texts([span.text])
        assert source.ids[span.start : span.end].tolist() == ids[1:-1]


def test_the_style_comes_first() -> None:
    assert symbols(read(QUERIES[0], style="ward"))[0] == "ward"


def test_what_can_be_written_in_two_ways_is_one_source() -> None:
    one = read("SELECT COUNT(*) FROM patients AS p WHERE p.gender = 'F'")
    assert one.ids.tolist() == read(QUERIES[0]).ids.tolist()


def test_pieces_of_a_column_bear_the_mark_of_their_table() -> None:
    source = read(QUERIES[1])
    marks = {span.text: int(source.tables[span.start]) for span in source.spans}
    assert marks["admissions"] == marks["type"]
    assert marks["patients"] == marks["age"]
    assert marks["patients"] != marks["admissions"]


def test_the_only_key_between_two_tables_is_not_said() -> None:
    assert "subject id" not in [span.text for span in read(QUERIES[1]).spans]


def test_one_of_two_keys_between_the_same_tables_is_said() -> None:
    schema = Schema.from_ddl(
        """
        CREATE TABLE doctors (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE visits (
            id INTEGER PRIMARY KEY, seen_by INTEGER REFERENCES doctors (id), sent_by INTEGER REFERENCES doctors (id)
        );
        """
    )
    query = "SELECT visits.id FROM visits JOIN doctors ON visits.{} = doctors.id WHERE doctors.name = 'Li'"
    seen, sent = (read(query.format(key), schema) for key in ("seen_by", "sent_by"))
    assert "seen by" in [span.text for span in seen.spans]
    assert "sent by" in [span.text for span in sent.spans]


def test_first_pieces_are_told_from_those_that_follow() -> None:
    source = read(QUERIES[0])
    gender, value = (next(span for span in source.spans if span.text == text) for text in ("gender", "F"))
    assert source.kinds[gender.start] == Kind.COLUMN
    assert source.kinds[value.start] == Kind.TEXT
    patients = next(span for span in source.spans if span.text == "patients")
    (admissions,) = (span for span in read(QUERIES[1]).spans if span.text == "admissions")
    assert source.kinds[patients.start] == Kind.TABLE
    kinds = read(QUERIES[1]).kinds[admissions.start : admissions.end]
    assert set(kinds[1:].tolist()) == {Kind.TABLE_MORE}


def test_chinese_names_are_read_as_unknown_pieces_with_their_text_kept() -> None:
    source = read(QUERIES[2])
    assert [span.text for span in source.spans] == ["就诊", "诊断", "肺炎", "编号"]
    assert source.ids.dtype == np.int32


def test_a_huge_literal_is_cut() -> None:
    reader = SourceReader(SCHEMA, WORDPIECE, NUMBERS)
    huge = (TableRef(0), Production("eq"), ColumnRef(1, 0), Literal("sepsis " * 10_000), Production("end"))
    (value,) = (span for span in reader.read(huge).spans if span.value)
    assert value.end - value.start <= 32


def test_a_program_that_is_too_long_is_refused_without_its_text() -> None:
    reader = SourceReader(SCHEMA, WORDPIECE, NUMBERS)
    with pytest.raises(LimitError, match="more than the 768") as refused:
        reader.read((Literal("Jane Doe"),) * 200)
    assert "Jane" not in str(refused.value)


def test_what_the_model_was_never_told_of_is_read_as_something_else() -> None:
    source = SourceReader(SCHEMA, WORDPIECE, NUMBERS).read((Production("brand_new"), TurnRef(0)))
    assert symbols(source) == [OTHER] * 3


def test_synonyms_are_drawn_and_kept_throughout_a_source() -> None:
    schema = SCHEMA.annotated({"patients": {"synonyms": ["people"]}, "patients.age": {"synonyms": ["years"]}})
    reader = SourceReader(schema, WORDPIECE, NUMBERS)
    both = program("SELECT age FROM patients ORDER BY age", schema)
    drawn = [reader.read(both, OTHER, random.Random(seed)) for seed in range(40)]
    called = [{span.text for span in source.spans} for source in drawn]
    assert {"years", "age"} <= set().union(*called)
    assert not any({"years", "age"} <= names for names in called)
    plain = {span.text for span in reader.read(both).spans}
    assert plain == {"patients", "age"}
