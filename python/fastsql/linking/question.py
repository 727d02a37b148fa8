"""What a question must be before anything reads it."""

from __future__ import annotations

import unicodedata

from fastsql.errors import LimitError
from fastsql.limits import DEFAULT, Limits


def clean_question(question: str, limits: Limits = DEFAULT) -> str:
    """The question with control characters as blanks and no blanks at its ends.

    Raises TypeError for anything but text, LimitError for too much of it.
    """
    if not isinstance(question, str):
        raise TypeError(f"a question is text, not {type(question).__name__}")
    text = "".join(
        " " if unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") else c for c in question[: 10**6]
    ).strip()
    length = len(text) if len(question) <= 10**6 else len(question)
    if length > limits.question_characters:
        raise LimitError.exceeded(
            "question_characters",
            length,
            limits.question_characters,
            where="question",
            remedy="Ask a shorter question.",
        )
    return text


def has_words(text: str) -> bool:
    """Whether there is a letter, digit or ideograph to read."""
    return any(c.isalnum() for c in text)
