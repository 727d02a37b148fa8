"""A schema under the words of its names, which models that were trained so read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.worlds.toy_model import WORDPIECE

from fastsql.linking.relations import SchemaLinks
from fastsql.model.tokenizer import Tokenizer
from fastsql.schema import Schema

WARD = Schema.from_ddl(
    """
    CREATE TABLE patient (patient_no INTEGER PRIMARY KEY, dob DATE, bloodgroup TEXT);
    CREATE TABLE ENCOUNTER (ENCOUNTER_NO INTEGER PRIMARY KEY, ENCOUNTERCLASS TEXT, bodysite_code TEXT, readm_dt DATE,
        patient_no INTEGER REFERENCES patient (patient_no));
    """
)


def labels(schema: Schema) -> dict[str, str]:
    return {column.name: column.label for column in schema.columns}


def test_glued_and_shortened_names_are_cut_and_spelled_out() -> None:
    read = labels(WARD.spelled)
    assert read["ENCOUNTERCLASS"] == "encounter class"
    assert read["bodysite_code"] == "body site code"
    assert read["bloodgroup"] == "blood group"
    assert read["dob"] == "date of birth"


def test_the_plain_label_stays_as_a_synonym() -> None:
    column = next(column for column in WARD.spelled.columns if column.name == "bodysite_code")
    assert column.synonyms == ("bodysite code",)


def test_a_name_in_plain_words_stays_as_it_is() -> None:
    clear = Schema.from_ddl("CREATE TABLE visit (visit_reason TEXT, doctor TEXT)")
    assert clear.spelled == clear


def test_a_label_that_somebody_gave_is_kept_and_the_words_are_its_synonym() -> None:
    called = replace(
        WARD,
        columns=tuple(
            replace(one, label="setting of care") if one.name == "ENCOUNTERCLASS" else one
            for one in WARD.columns
        ),
    )
    column = next(column for column in called.spelled.columns if column.name == "ENCOUNTERCLASS")
    assert (column.label, column.synonyms) == ("setting of care", ("encounter class",))


def test_names_and_keys_and_places_are_those_of_the_schema() -> None:
    read = WARD.spelled
    assert [column.name for column in read.columns] == [column.name for column in WARD.columns]
    assert (read.foreign_keys, read.tables[1].columns) == (WARD.foreign_keys, WARD.tables[1].columns)


def test_twice_is_as_good_as_once() -> None:
    assert labels(WARD.spelled.spelled) == labels(WARD.spelled)


def test_chinese_labels_and_names_are_left_alone() -> None:
    chinese = Schema.from_ddl("CREATE TABLE 病人 (姓名 TEXT, 出生日期 DATE)")
    assert chinese.spelled == chinese


@pytest.mark.parametrize("question", ["class of the encounter", "the body site code", "Her date of birth?"])
def test_words_of_a_question_are_linked_to_what_they_name(question: str) -> None:
    offsets = tokens(WORDPIECE, question)
    plain = SchemaLinks(WARD).name_matches(question, offsets)
    read = SchemaLinks(WARD.spelled).name_matches(question, offsets)
    assert (read >= plain).all()
    assert read.sum() > plain.sum()


def tokens(tokenizer: Tokenizer, text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    return tokenizer.tokenize(text).offsets
