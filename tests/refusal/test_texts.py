"""What a refusal says has the same sentences in every language."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from fastsql.grammar.compile import load_grammar
from fastsql.refusal.phrases import PHRASES
from fastsql.refusal.texts import CHINESE, ENGLISH, TEXTS, language_of, listed, quoted, sentence

COUNTED = re.compile(r".* \d+")


def places(text: str) -> set[str]:
    """What is filled into a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", TEXTS)
def test_every_language_has_the_same_sentences_with_the_same_places(language: str) -> None:
    assert set(TEXTS[language]) == set(TEXTS[ENGLISH])
    for key, text in TEXTS[language].items():
        assert places(text) == places(TEXTS[ENGLISH][key]), key


@pytest.mark.parametrize("language", PHRASES)
def test_every_language_has_the_same_phrases_with_the_same_places(language: str) -> None:
    """But for those of one count alone: "1 month ago" is no word of its own in every language."""
    plain = {key for key in PHRASES[ENGLISH] if not COUNTED.fullmatch(key)}
    assert {key for key in PHRASES[language] if not COUNTED.fullmatch(key)} == plain
    for key in plain:
        assert places(PHRASES[language][key]) == places(PHRASES[ENGLISH][key]), key
    for key in set(PHRASES[language]) - plain:
        assert places(PHRASES[language][key]) <= places(PHRASES[language][key.rpartition(" ")[0]]), key


def test_phrases_are_those_of_productions_of_the_grammar() -> None:
    own = {
        *(
            "all_columns",
            "any of",
            "column",
            "count of",
            "distinct",
            "equal",
            "from",
            "group",
            "having",
            "join",
        ),
        *("joined on", "limit", "of", "offset", "order", "query", "value", "where"),
        *("and words", "comma", "or words"),
    }
    unknown = {key for key in PHRASES[ENGLISH] if not COUNTED.fullmatch(key)} - set(
        load_grammar().productions
    )
    assert unknown <= own


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How many patients were prescribed warfarin?", ENGLISH),
        ("How many patients are in 内科?", ENGLISH),
        ("有多少病人服用了 warfarin？", CHINESE),
        ("病人", CHINESE),
        ("¿Cuántos pacientes hay?", ENGLISH),
        ("", ENGLISH),
    ],
)
def test_the_script_of_the_question_tells_the_language(question: str, language: str) -> None:
    assert language_of(question) == language


def test_lists_and_long_quotes_are_shortened_to_what_can_be_read() -> None:
    assert listed(ENGLISH, ["a"]) == "a"
    assert listed(ENGLISH, ["a", "b", "c"]) == "a, b and c"
    assert listed(ENGLISH, ["a", "b"], "before last or") == "a or b"
    assert listed(CHINESE, ["a", "b", "c"]) == "a、b和c"
    assert len(quoted(ENGLISH, "x" * 500)) < 90
    assert (
        sentence(CHINESE, "no such name", words=quoted(CHINESE, "护士"))
        == "此数据库结构中没有叫“护士”的内容。"
    )
