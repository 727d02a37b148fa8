"""Pieces become text as people write it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fastsql.model.tokenizer import Tokenizer
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.reverse.generation import Written
from fastsql.reverse.source import Copied, Source, SourceReader
from fastsql.reverse.wording import Wording
from fastsql.schema import Schema

from ..worlds.toy_reverse import program


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return open_model(DEFAULT_MODEL).tokenizer()


@pytest.fixture(scope="module")
def wording(tokenizer: Tokenizer) -> Wording:
    return Wording(tokenizer)


def written(tokenizer: Tokenizer, text: str, source: Source | None = None) -> Written:
    """A question as if all that stands in the source had been copied."""
    pieces = tokenizer.tokenize(text).ids.tolist()
    places = [-1] * len(pieces)
    if source is not None:
        ids = source.ids.tolist()
        for span in source.spans:
            inside = ids[span.start : span.end]
            for start in range(len(pieces) - len(inside) + 1):
                if pieces[start : start + len(inside)] == inside:
                    places[start : start + len(inside)] = range(span.start, span.end)
    return Written(tuple(pieces), tuple(places), 0.0)


NONE = np.zeros(0, dtype=np.int32)
EMPTY = Source(NONE, NONE, NONE)


@pytest.mark.parametrize(
    "text",
    [
        "How many patients were admitted in 2100-01-12 13:00:00?",
        "What is the patient's first-year score, in mg/dl?",
        'Which drugs are called "aspirin" or "heparin"?',
        "List the names (and ages) of all patients.",
        "What are the averages above 3.5, and the sums?",
        "Don't show it: who's 50% older?",
    ],
)
def test_punctuation_comes_back_where_it_was(wording: Wording, tokenizer: Tokenizer, text: str) -> None:
    assert wording.text(written(tokenizer, text), EMPTY) == text


def source_of(tokenizer: Tokenizer, schema: Schema, sql: str) -> Source:
    numbers = {"other": tokenizer.vocabulary}
    return SourceReader(schema, tokenizer, numbers).read(program(sql, schema))


DRUGS = Schema.from_ddl("CREATE TABLE drugs (name TEXT, form TEXT, 药名 TEXT, 剂量 INTEGER)")


@pytest.mark.parametrize("value", ["McCune-Albright", "ÉPINÉPHRINE 1:1000", "肺炎", "P.O. (bid)", "x" * 200])
def test_copied_values_are_written_as_the_database_has_them(
    wording: Wording, tokenizer: Tokenizer, value: str
) -> None:
    source = source_of(tokenizer, DRUGS, f"SELECT form FROM drugs WHERE name = '{value}'")
    asked = written(tokenizer, f"what is the form of {value} ?", source)
    assert wording.text(asked, source) == f"What is the form of {value}?"


def test_a_word_that_only_looks_like_a_value_stays_a_word(wording: Wording, tokenizer: Tokenizer) -> None:
    source = source_of(tokenizer, DRUGS, "SELECT name FROM drugs WHERE form = 'A'")
    pieces = written(tokenizer, "is there a drug of form a?")
    value = next(span for span in source.spans if span.value)
    places = list(pieces.copied)
    last = max(place for place, piece in enumerate(pieces.pieces) if piece == source.ids[value.start])
    places[last] = value.start
    asked = Written(pieces.pieces, tuple(places), 0.0)
    assert wording.text(asked, source) == "Is there a drug of form A?"


def test_letters_that_the_tokenizer_does_not_know_come_from_the_label(
    wording: Wording, tokenizer: Tokenizer
) -> None:
    schema = Schema.from_ddl("CREATE TABLE ꦱꦶ (ꦥꦱ TEXT)")
    source = source_of(tokenizer, schema, 'SELECT "ꦥꦱ" FROM "ꦱꦶ"')
    ids = source.ids.tolist()
    span = next(one for one in source.spans if one.text == "ꦥꦱ")
    assert ids[span.start : span.end] == [wording.unknown]
    asked = Written(tuple(ids[span.start : span.end]), tuple(range(span.start, span.end)), 0.0)
    assert wording.text(asked, source) == "ꦥꦱ"


def test_chinese_is_written_without_spaces(wording: Wording, tokenizer: Tokenizer) -> None:
    assert wording.text(written(tokenizer, "中 文 的 name"), EMPTY) == "中文的 name"


def test_pieces_that_stand_for_no_text_are_known(wording: Wording, tokenizer: Tokenizer) -> None:
    vocabulary = json.loads(tokenizer.json_text)["model"]["vocab"]
    assert {vocabulary[name] for name in ("[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]")} <= set(
        wording.special
    )
    assert vocabulary["["] not in wording.special


def test_the_longest_of_several_values_is_taken(wording: Wording, tokenizer: Tokenizer) -> None:
    (ids,) = tokenizer.encode_texts(["new york"])
    row = np.asarray(ids[1:-1], dtype=np.int32)
    zeros = np.zeros_like(row)
    source = Source(row, zeros, zeros, (Copied(0, 1, "New", True), Copied(0, 2, "New York", True)))
    assert wording.text(Written(tuple(row.tolist()), (0, 1), 0.0), source) == "New York"
