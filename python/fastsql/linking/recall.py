"""By which way a gold literal can be had: the measure behind the recall of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.linking.candidate import Candidate
from fastsql.linking.folding import HAN
from fastsql.linking.gold import GoldLiteral
from fastsql.linking.numerals import plain_number

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema, Value

CLOSED_SET: tuple[int, ...] = (0, 1, 2)
"""Literals that the grammar always offers."""

_JOINED = re.compile(rf"[^\W_{HAN}]")


@dataclass(frozen=True)
class LiteralRecall:
    """How the literals of one query can be had: each with its provenance, None where there is none."""

    explained: tuple[tuple[GoldLiteral, str | None], ...]

    @property
    def missing(self) -> tuple[GoldLiteral, ...]:
        """The literals that cannot be had."""
        return tuple(literal for literal, provenance in self.explained if provenance is None)


def literal_recall(
    literals: Iterable[GoldLiteral],
    question: str,
    candidates: Sequence[Candidate],
    schema: Schema,
    dictionary: ValueDictionary | None = None,
) -> LiteralRecall:
    """Explain each of a query's literals (see `explain_literal`)."""
    explained = tuple(
        (literal, explain_literal(literal.value, question, candidates, schema, literal.column, dictionary))
        for literal in literals
    )
    return LiteralRecall(explained)


def explain_literal(
    literal: Value,
    question: str,
    candidates: Sequence[Candidate],
    schema: Schema,
    column: int | None = None,
    dictionary: ValueDictionary | None = None,
) -> str | None:
    """The provenance by which `literal` can stand in SQL, or None.

    In this order: a candidate's source ("number", "ordinal", "date", "quoted", "dictionary", "schema"), "constant" for a
    named constant, "closed" for 0, 1, 2, "span" for text verbatim in the question (in another case where `dictionary` says
    how the column spells it), "schema" for a value standing with the schema (with `column`: with that column).
    A LIKE pattern is explained by what stands between its ``%``.
    """
    number = plain_number(literal)
    for candidate in candidates:
        if candidate.value == literal and isinstance(candidate.value, str) == isinstance(literal, str):
            return candidate.source
    if number is not None:
        for candidate in candidates:
            if candidate.kind == "number" and candidate.value == number:
                return candidate.source
    if any(constant.value == literal for constant in schema.constants):
        return "constant"
    if number in CLOSED_SET and not (isinstance(literal, str) and literal != str(number)):
        return "closed"
    if not isinstance(literal, str):
        return "schema" if _stands_with_schema(literal, schema, column) else None
    if verbatim_span(literal, question) is not None:
        return "span"
    if _stands_with_schema(literal, schema, column):
        return "schema"
    if dictionary is not None and _respelled(literal, question, dictionary, column):
        return "span"
    if len(literal) > 1 and (literal.startswith("%") or literal.endswith("%")):
        return explain_literal(literal.strip("%"), question, candidates, schema, column, dictionary)
    return None


def verbatim_span(text: str, question: str) -> tuple[int, int] | None:
    """Where `text` stands in the question, characters ``[start, end)``, not beginning or ending inside a word."""
    start = question.find(text) if text else -1
    while start >= 0:
        end = start + len(text)
        if not _inside_word(question, start) and not _inside_word(question, end):
            return start, end
        start = question.find(text, start + 1)
    return None


def _stands_with_schema(literal: Value, schema: Schema, column: int | None) -> bool:
    columns = schema.columns if column is None else (schema.columns[column],)
    return any(literal in one.values for one in columns)


def _respelled(literal: str, question: str, dictionary: ValueDictionary, column: int | None) -> bool:
    # Lower case can be longer than upper case for a few letters; a span is then one or two characters off, which is harmless
    # here, where only its text counts.
    span = verbatim_span(literal.lower(), question.lower())
    if span is None:
        return False
    columns = dictionary.columns if column is None else (column,)
    written = question[span[0] : span[1]]
    return any(dictionary.canonical(one, written) == literal for one in columns)


def _inside_word(text: str, position: int) -> bool:
    """Whether `position` separates two letters or digits of one word; Chinese characters are words of their own."""
    if position <= 0 or position >= len(text):
        return False
    return _JOINED.match(text[position - 1]) is not None and _JOINED.match(text[position]) is not None
