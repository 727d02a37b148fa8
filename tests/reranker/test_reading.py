"""A question and a program become one row of tokens."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.grammar.program import Literal, Program
from fastsql.model.tokenizer import Tokenizer
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.reranker.reading import (
    ASKED_TOKENS,
    EARLIER,
    EARLIER_QUESTIONS,
    KINDS,
    MAX_TOKENS,
    PROGRAM_TOKENS,
    QUESTION,
    QUESTION_TOKENS,
    Row,
    asked,
    row,
)
from fastsql.reverse.source import Kind, Source, SourceReader

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reranker import make_config
from ..worlds.toy_reverse import QUERIES, SCHEMA, program

CONFIG = make_config()
READER = SourceReader(SCHEMA, WORDPIECE, CONFIG.numbers)
SOURCES = [READER.read(program(sql)) for sql in QUERIES]
CLS, SEP = WORDPIECE.cls, WORDPIECE.sep
LETTERS = "a b c d e f g h i j k l m n o p q r s t u v w x y z "
"""26 tokens, so that a cut shows where it was made."""


def pieces(text: str, tokenizer: Tokenizer = WORDPIECE) -> list[int]:
    ids: list[int] = tokenizer.tokenize(text).ids.tolist()
    return ids


def read(question: str, source: Source, *earlier: str) -> Row:
    return row(asked(question, earlier, WORDPIECE), source)


def marked(found: Row, *, of_the_program: bool) -> list[int]:
    """The pieces of one side that are marked as shared."""
    side = (found.kinds < len(Kind)) == of_the_program
    ids: list[int] = found.ids[side & (found.shared == 1)].tolist()
    return ids


def test_a_row_is_earlier_questions_the_question_and_the_program() -> None:
    source = SOURCES[1]
    found = read("how many?", source, "gender of patients", "admission id")
    earlier = [*pieces("gender of patients"), SEP, *pieces("admission id"), SEP]
    assert found.ids.tolist() == [CLS, *earlier, *pieces("how many?"), SEP, *source.ids.tolist()]


def test_a_question_that_stands_alone_is_between_cls_and_sep() -> None:
    assert asked("how many?", (), WORDPIECE).ids.tolist() == [CLS, *pieces("how many?"), SEP]
    assert asked("", (), WORDPIECE).ids.tolist() == [CLS, SEP]


def test_kinds_tell_earlier_questions_the_question_and_the_program_apart() -> None:
    source = SOURCES[1]
    found = read("how many?", source, "gender", "id")
    own = [QUESTION] * (len(pieces("how many?")) + 1)
    assert found.kinds.tolist() == [QUESTION, *[EARLIER] * 4, *own, *source.kinds.tolist()]
    assert sorted({*map(int, Kind), QUESTION, EARLIER}) == list(range(KINDS))


def test_only_pieces_of_a_program_belong_to_tables() -> None:
    source = SOURCES[1]
    found = read("patients of an admission", source, "patients?")
    assert set(source.tables.tolist()) == {0, 1, 2}
    assert found.tables[-len(source.ids) :].tolist() == source.tables.tolist()
    assert not found.tables[: -len(source.ids)].any()


@pytest.mark.parametrize("source", SOURCES, ids=QUERIES)
def test_all_of_a_token_is_told_as_int32(source: Source) -> None:
    found = read("how many patients?", source, "of gender f")
    for one in (found.ids, found.kinds, found.tables, found.shared):
        assert one.dtype == np.int32
        assert one.shape == found.ids.shape


def test_pieces_that_stand_on_both_sides_are_marked_on_both() -> None:
    found = read("how many patients of gender f, f or m?", SOURCES[0])
    (patients,), (gender,), (f,) = pieces("patients"), pieces("gender"), pieces("f")
    assert marked(found, of_the_program=False) == [patients, gender, f, f]
    assert sorted(marked(found, of_the_program=True)) == sorted([patients, gender, f])


def test_pieces_of_one_side_are_not_marked() -> None:
    found = read("how big?", SOURCES[0])
    assert set(found.shared.tolist()) == {0}


def test_pieces_of_earlier_questions_are_shared_like_those_of_the_question() -> None:
    found = read("and those with an id?", SOURCES[0], "patients?", "gender!")
    (patients,), (gender,) = pieces("patients"), pieces("gender")
    assert marked(found, of_the_program=False) == [patients, gender]
    assert sorted(marked(found, of_the_program=True)) == sorted([patients, gender])


def test_neither_what_stands_around_questions_nor_a_symbol_is_ever_shared() -> None:
    said = f"[CLS] [SEP] {LETTERS}"
    values: Program = (*program(QUERIES[0]), Literal(said[:50]), Literal(said[50:]))
    found = read(said, READER.read(values), said, "[SEP]")
    assert found.shared.sum() > len(LETTERS) / 2
    assert (found.ids == CLS).sum() == 1
    assert (found.ids == SEP).sum() == 3
    assert not found.shared[(found.ids == CLS) | (found.ids == SEP) | (found.ids >= CONFIG.pieces)].any()


def test_a_long_question_is_cut_behind_its_beginning() -> None:
    own = pieces(LETTERS * 6)
    assert len(own) > QUESTION_TOKENS
    assert asked(LETTERS * 6, (), WORDPIECE).ids.tolist() == [CLS, *own[:QUESTION_TOKENS], SEP]


@pytest.mark.parametrize("question", ["how many?", LETTERS * 3, LETTERS * 6], ids=len)
def test_of_long_earlier_questions_the_latest_are_kept(question: str) -> None:
    earlier = [f"0 {LETTERS}{LETTERS}", f"1 {LETTERS}{LETTERS}", f"2 {LETTERS}"]
    before = [piece for one in earlier for piece in (*pieces(one), SEP)]
    own = pieces(question)[:QUESTION_TOKENS]
    found = asked(question, earlier, WORDPIECE)
    kept = ASKED_TOKENS - len(own)
    assert len(before) > kept
    assert found.ids.tolist() == [CLS, *before[-kept:], *own, SEP]
    assert found.kinds.tolist() == [QUESTION, *[EARLIER] * kept, *[QUESTION] * (len(own) + 1)]


def test_only_the_latest_earlier_questions_are_read() -> None:
    earlier = ["gender", "patients", "id", "admission"]
    every, last, fewer = (asked("how many?", earlier[start:], WORDPIECE).ids.tolist() for start in (0, 1, 2))
    assert len(earlier) == EARLIER_QUESTIONS + 1
    assert every == last
    assert every != fewer


def test_the_longest_row_has_as_many_tokens_as_are_read() -> None:
    longest = Source(*np.ones((3, PROGRAM_TOKENS), dtype=np.int32))
    found = read(LETTERS * 6, longest, LETTERS, LETTERS)
    assert len(found.ids) == MAX_TOKENS


def test_chinese_is_read_by_characters_with_blanks_or_without() -> None:
    known = pieces("诊断")
    found = read("诊断为5的", SOURCES[2])
    assert len(known) == 2
    assert found.ids[1:3].tolist() == known
    assert found.ids.tolist() == read("诊断 为 5 的", SOURCES[2]).ids.tolist()
    assert found.shared[1:3].all()
    assert set(known) <= set(marked(found, of_the_program=True))
    other = read("patients 5", SOURCES[2])
    assert not set(known) & set(marked(other, of_the_program=True))


def test_what_no_word_stands_for_is_never_shared() -> None:
    bundled = open_model(DEFAULT_MODEL).tokenizer()
    reader = SourceReader(SCHEMA, bundled, config_for_bundled(bundled))
    source = reader.read(program("SELECT age FROM patients WHERE gender = '[SEP] 肾 [CLS] age'"))
    found = row(asked("[SEP] 炎 age", (), bundled), source)
    assert len(set(found.ids.tolist()) & set(bundled.ids_of(["[SEP]", "[CLS]", "[UNK]"]))) == 3
    (age,) = bundled.tokenize("age").ids.tolist()
    assert set(found.ids[found.shared == 1].tolist()) == {age}


def config_for_bundled(tokenizer: Tokenizer) -> dict[str, int]:
    return {name: tokenizer.vocabulary + number for number, name in enumerate(CONFIG.symbols)}
