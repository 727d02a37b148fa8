"""What a question must be before anything reads it."""

from __future__ import annotations

import unicodedata

from fastsql.errors import LimitError
from fastsql.limits import DEFAULT, Limits

_UNREADABLE = frozenset({"Cc", "Cs", "Co", "Cn"})
_READ = 10**6
"""Characters that are looked at. What is longer is refused, unless someone set a larger limit, and is not worth the time."""


def clean_question(question: str, limits: Limits = DEFAULT) -> str:
    """The question with control characters as blanks, and without blanks at its end: every character keeps its place.

    Raises TypeError for anything but text, LimitError for too much of it.
    """
    if not isinstance(question, str):
        raise TypeError(f"a question is text, not {type(question).__name__}")
    text = _readable(question).rstrip()
    length = len(text.lstrip()) if len(question) <= _READ else len(question)
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


def _readable(question: str) -> str:
    """The question with one blank for each control character, surrogate, private or unassigned character."""
    return "".join(" " if unicodedata.category(c) in _UNREADABLE else c for c in question[:_READ])
