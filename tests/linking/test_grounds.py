"""Which literals of a question exist, by a dictionary that knows columns whole."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import numpy as np

from fastsql.grammar.grounding import NO_GROUNDS, Grounds
from fastsql.linking import ValueDictionary, find_candidates
from fastsql.linking.grounds import _Tokens, find_grounds
from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.linking.value_parts import BEGUN, ENDED, WITHIN, Said
from fastsql.schema import Schema

from ..worlds.toy_model import WORDPIECE
from ..worlds.valued_hospital import SCHEMA, VALUES

DRUG = SCHEMA.column_index("prescriptions", "drug")
DOSE = SCHEMA.column_index("prescriptions", "dose")
TITLE = SCHEMA.column_index("diagnoses", "title")


def dictionary(*whole: int) -> ValueDictionary:
    """The hospital's values, some columns known whole."""
    known = ValueDictionary.from_mapping(VALUES, SCHEMA)
    known.whole = frozenset(whole)
    return known


def ask(question: str) -> Prepared:
    """The question, linked."""
    candidates = find_candidates(question, SCHEMA, dictionary())
    return prepare(question, SchemaLinks(SCHEMA), WORDPIECE, candidates=candidates)


def spelled(question: str, grounds: Grounds) -> set[tuple[int, str]]:
    """The columns and texts of the spans."""
    offsets = ask(question).offsets
    return {
        (column, question[int(offsets[first, 0]) : int(offsets[last, 1])])
        for column, first, last in grounds.spans
    }


def test_without_a_column_known_whole_nothing_is_bound() -> None:
    prepared = ask("heparin")
    assert find_grounds(prepared, None) is NO_GROUNDS
    assert find_grounds(prepared, dictionary()) is NO_GROUNDS


def test_values_that_lie_in_longer_ones_can_be_said() -> None:
    question = "who had Chronic Kidney Disease, stage 3?"
    found = spelled(question, find_grounds(ask(question), dictionary(TITLE)))
    assert found == {(TITLE, "Chronic Kidney Disease"), (TITLE, "Chronic Kidney Disease, stage 3")}


def test_words_that_are_no_value_as_they_stand_are_not_said() -> None:
    question = "swabs, aspirin low dose, cafe au lait"
    grounds = find_grounds(ask(question), dictionary(DRUG, SCHEMA.column_index("samples", "specimen")))
    assert spelled(question, grounds) == {(DRUG, "aspirin")}


def test_numbers_are_held_by_text_columns_that_have_them() -> None:
    question = "5 mg of heparin, 7 times"
    prepared = ask(question)
    grounds = find_grounds(prepared, dictionary(DOSE))
    assert {prepared.candidates[number].value for _, number in grounds.candidates} == {5}


def test_columns_that_are_not_known_whole_are_left_out() -> None:
    grounds = find_grounds(ask("heparin 5"), dictionary(TITLE))
    assert grounds.columns == {TITLE}
    assert spelled("heparin 5", grounds) == {(TITLE, "heparin")}
    assert not grounds.candidates


def test_a_database_tells_which_columns_it_was_read_of_whole() -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(
            """
            CREATE TABLE wards (name TEXT, code, note TEXT, free TEXT, many TEXT, blank TEXT);
            INSERT INTO wards VALUES ('icu', 'a', 'short', NULL, 'x', '');
            INSERT INTO wards VALUES ('er', 7, printf('%.*c', 300, 'n'), NULL, 'y', 'z');
            INSERT INTO wards (many) VALUES ('1'), ('2'), ('3');
            """
        )
        schema = Schema.from_sqlite(connection)
        every = [(schema.tables[c.table].name, c.name) for c in schema.columns]
        read = ValueDictionary.from_database(connection, schema, every, max_values=4)
    assert {schema.columns[column].name for column in read.whole} == {"name", "blank"}


def test_what_is_known_whole_outlives_a_file_and_another_order_of_columns(tmp_path: Path) -> None:
    known = ValueDictionary.from_mapping(VALUES, SCHEMA, whole=True)
    assert known.whole == frozenset(known.columns)
    known.save(tmp_path / "values")
    assert ValueDictionary.load(tmp_path / "values", SCHEMA).whole == known.whole
    tables = [{**table, "columns": table["columns"][::-1]} for table in SCHEMA.to_dict()["tables"][::-1]]
    turned = Schema.from_dict({"tables": tables})
    names = {turned.qualified_name(column) for column in known.bound_to(turned).whole}
    assert names == {SCHEMA.qualified_name(column) for column in known.whole}
    fewer = ValueDictionary.from_mapping(
        {**VALUES, ("samples", "specimen"): ["swab", "s" * 300]}, SCHEMA, whole=True
    )
    assert known.whole - fewer.whole == {SCHEMA.column_index("samples", "specimen")}


def test_words_that_are_a_part_of_a_token_bind_no_pattern_to_it() -> None:
    """Chinese characters are words; a token may be several of them, and a value may begin or end within it."""
    words = Said.of("平均科室").words
    assert len(words) == 4
    tokens = _Tokens.of(words, np.asarray([[0, 2], [2, 4]], np.int32))
    run = partial(tokens.of_run, exact=True)
    assert run(WITHIN, 0, 0) is None
    assert run(WITHIN, 0, 1) == (0, 0)
    assert run(WITHIN, 1, 3) == (1, 1)
    assert run(BEGUN, 0, 2) == (0, 0)
    assert run(BEGUN, 1, 3) is None
    assert run(ENDED, 3, 1) == (1, 1)
    assert run(ENDED, 2, 0) is None
