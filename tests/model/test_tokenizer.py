"""Tokens keep their place in the question."""

from __future__ import annotations

import json
import pickle
import time

import pytest

from fastsql.errors import LimitError, ModelError
from fastsql.model.tokenizer import TEXT_TOKENS, Tokenizer

from ..worlds.toy_model import WORDPIECE


def pieces(text: str) -> list[str]:
    tokens = WORDPIECE.tokenize(text)
    assert tokens.offsets.shape == (len(tokens.ids), 2)
    return [text[start:end] for start, end in tokens.offsets]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Patients?", ["Patients", "?"]),
        ("admissions", ["admission", "s"]),
        ("诊断id", ["诊", "断", "id"]),
        ("a\u0000\n b", ["a", "b"]),
        ("🙂 id", ["🙂", "id"]),
        ("", []),
        (" \t", []),
    ],
)
def test_offsets_count_characters_of_the_question(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def unspaced(*tokens: str) -> Tokenizer:
    """A tokenizer of a language that writes no blanks between words."""
    vocabulary = ["[UNK]", "[CLS]", "[SEP]", *tokens]
    text = json.loads(WORDPIECE.json_text)
    text["added_tokens"] = []
    text["normalizer"] = {**(text["normalizer"] or {}), **BERT, "handle_chinese_chars": False}
    text["model"] |= {
        "continuing_subword_prefix": "",
        "vocab": {token: number for number, token in enumerate(vocabulary)},
    }
    return Tokenizer(json.dumps(text))


BERT = {"type": "BertNormalizer", "clean_text": True, "strip_accents": None, "lowercase": True}
CHINESE = unspaced("患者", "患", "者", "人", "数", "人数", "a", "b", "1", "10", "？")


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in CHINESE.tokenize(text).offsets]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("患者人数", ["患者", "人数"]),
        ("者患 数", ["者", "患", "数"]),
        ("患者10人数？", ["患者", "10", "人数", "？"]),
        ("患者猫人数", ["患者", "猫", "人数"]),
        ("患者🙂人数", ["患者", "🙂", "人数"]),
        ("Á患者b", ["Á", "患者", "b"]),
        ("", []),
        (" ", []),
    ],
)
def test_words_are_found_in_a_run_of_characters(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_one_unknown_character_hides_no_other() -> None:
    ids = CHINESE.tokenize("患者猫人数").ids.tolist()
    assert [number for number, one in enumerate(ids) if one == 0] == [1]


def test_a_long_run_is_read_to_its_end_in_time() -> None:
    text = "患者人数" * 250
    start = time.perf_counter()
    assert "".join(cut(text)) == text
    assert time.perf_counter() - start < 1
    with pytest.raises(LimitError):
        cut(text * 4)


def test_labels_without_blanks_are_cut_alike() -> None:
    assert CHINESE.encode_texts(["患者猫人数"])[0][1:-1] == CHINESE.tokenize("患者猫人数").ids.tolist()


def test_labels_are_cut_and_framed() -> None:
    (ids,) = WORDPIECE.encode_texts(["id " * 100])
    assert len(ids) == TEXT_TOKENS + 2
    assert (ids[0], ids[-1]) == (WORDPIECE.cls, WORDPIECE.sep)


def test_a_tokenizer_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(WORDPIECE))
    assert copy.tokenize("gender id").ids.tolist() == WORDPIECE.tokenize("gender id").ids.tolist()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"model": {"type": "none"}}'])
def test_a_damaged_tokenizer_is_a_model_error(text: str) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        Tokenizer(text)
