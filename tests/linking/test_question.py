"""What a question must be before anything reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.errors import LimitError
from fastsql.limits import Limits
from fastsql.linking.question import clean_question, has_words


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many patients?", "How many patients?"),
        ("  \t how\nmany \r\n", "    how many"),
        ("a\0b\x1b[31mc\x7f", "a b [31mc"),
        ("\ufeffhow", "\ufeffhow"),
        ("a\ud800b", "a b"),
        ("a\ue000b\uffffc", "a b c"),
        ("🙂 病人", "🙂 病人"),
        ("", ""),
    ],
)
def test_what_cannot_be_read_becomes_a_blank(question: str, text: str) -> None:
    assert clean_question(question) == text


@given(st.text(st.characters(), max_size=50))
def test_characters_keep_their_places(question: str) -> None:
    text = clean_question(question)
    text.encode("utf-8")
    assert len(text) <= len(question)
    assert all(new in (old, " ") for new, old in zip(text, question[: len(text)], strict=True))


def test_the_limit_counts_what_is_left() -> None:
    limits = Limits(question_characters=5)
    assert clean_question("  abcde \0", limits) == "  abcde"
    with pytest.raises(LimitError, match=r"question: 6 is more than the limit of 5 \(question_characters\)"):
        clean_question("abcdef", limits)


@pytest.mark.parametrize("size", [4_001, 100_000, 1_000_001, 5_000_000])
def test_too_long_is_refused_without_being_quoted(size: int) -> None:
    with pytest.raises(LimitError, match=f"{size:,} is more than the limit of 4,000") as error:
        clean_question("q" * size)
    assert "qq" not in str(error.value)


def test_an_endless_blank_is_too_long() -> None:
    assert clean_question(" " * 1_000_000) == ""
    with pytest.raises(LimitError):
        clean_question(" " * 1_000_001)


@pytest.mark.parametrize("question", [None, 3, b"text", ["text"]])
def test_anything_but_text_is_a_type_error(question: object) -> None:
    with pytest.raises(TypeError, match="a question is text, not"):
        clean_question(question)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [("a", True), ("5?", True), ("诊", True), ("", False), ("?!", False), ("🙂🏥", False), ("…—", False)],
)
def test_words_are_letters_digits_and_ideographs(text: str, words: bool) -> None:
    assert has_words(text) is words
