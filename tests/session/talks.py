"""Conversations with the toy, each had once."""

from __future__ import annotations

import random
from functools import cache

from fastsql.parser import Parser
from fastsql.refusal.suggestions import UnknownWords
from fastsql.session import Session, Turn

from ..worlds.toy_bundle import QUESTIONS
from ..worlds.toy_model import SCHEMA

MORE = (*QUESTIONS, "only the women", "and in 2101?", "their last admission", "只要女性", "sort them by dob")
WIDE = 12
"""Hypotheses enough for several of the toy's to have words."""


def talked(parser: Parser, count: int = 6, **options: str) -> Session:
    """A session after so many questions, one of its own for who asks; the answers are found once."""
    return _talked(parser, count, **options).branch()


@cache
def _talked(parser: Parser, count: int, **options: str) -> Session:
    if not count:
        return parser.session(SCHEMA, **options)  # type: ignore[arg-type]
    session = talked(parser, count - 1, **options)
    session.ask(MORE[(count - 1) % len(MORE)])
    return session


@cache
def rambling(parser: Parser) -> tuple[tuple[Turn, ...], ...]:
    """Twelve conversations of words in any order; not to be changed."""
    generator = random.Random(5)
    words = " ".join(MORE).split()
    sessions = [parser.session(SCHEMA) for _ in range(12)]
    return tuple(
        tuple(session.ask(" ".join(generator.sample(words, 6))) for _ in range(8)) for session in sessions
    )


def refused(question: str, words: str) -> Turn:
    """A turn that was refused because nothing is called `words`."""
    start = question.index(words)
    unknown = UnknownWords("", (words,), ((start, start + len(words)),))
    return Turn(question, None, 0.1, abstained=True, reason="?", suggestions=(unknown,))
