"""Tokens keep their place in the question."""

from __future__ import annotations

import pickle

import pytest

from fastsql.errors import ModelError
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
