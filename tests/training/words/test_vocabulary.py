"""The tokens of a vocabulary: everything that texts are written in, then the words that they and the language use."""

from __future__ import annotations

import string

from fastsql.training.words.vocabulary import SPECIAL, choose_tokens

WORDS = {"患者", "医院", "人数", "飞机", "患者人数统计表", "a1"}
FREQUENCIES = {
    "患者": 5,
    "医院": 90,
    "人数": 7,
    "飞机": 50,
    "的": 900,
    "是": 800,
    "医": 9,
    "院": 8,
    "飞": 7,
    "机": 6,
    "龘": 1,
}
TEXTS = ["患者人数🙂？"] * 5 + ["Age 患者"]
LATIN = ["the", "age", "of"]


def chosen(size: int) -> list[str]:
    return choose_tokens(TEXTS, WORDS, FREQUENCIES, LATIN, size)


def test_special_tokens_come_first_and_every_token_once() -> None:
    tokens = chosen(400)
    assert tuple(tokens[: len(SPECIAL)]) == SPECIAL
    assert len(set(tokens)) == len(tokens)


def test_every_character_that_texts_are_written_in_has_a_token() -> None:
    tokens = set(chosen(400))
    assert {"患", "者", "人", "数", "🙂", "？"} <= tokens
    assert {c for c in string.printable if c.isprintable() and not c.isspace()} - set(
        string.ascii_uppercase
    ) <= tokens
    assert not {" ", "A"} & tokens


def test_words_of_the_texts_come_before_those_of_the_language() -> None:
    tokens = chosen(400)
    assert tokens.index("患者") < tokens.index("医院") < tokens.index("飞机")
    assert tokens.index("的") < tokens.index("是") < tokens.index("龘")
    assert "患者人数统计表" not in tokens  # read as several


def test_a_vocabulary_has_no_more_tokens_than_asked_for() -> None:
    assert len(chosen(85)) <= 85
    assert "飞机" in chosen(400)
    assert "飞机" not in chosen(85)
