"""By which way a gold literal can be had: the measure behind the recall of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.linking.candidate import Candidate
from fastsql.linking.folding import HAN
from fastsql.linking.numerals import plain_number

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema, Value

CLOSED_SET: tuple[int, ...] = (0, 1, 2)
"""Literals that the grammar always offers."""

_MODIFIER = re.compile(r"[-+]?(?P<count>[0-9]+) (?:year|month|day|hour|minute|second)s?")
_STRUCTURAL = re.compile(r"start of (?:year|month|day)|(?:%[a-zA-Z][-: ]?)+|now|localtime|utc|weekday [0-6]")
_JOINED = re.compile(rf"[^\W_{HAN}]")


@dataclass(frozen=True)
class GoldLiteral:
    """A literal of a gold query that the parser must be able to write. `column` is the one it meets, where that is plain."""

    value: Value
    column: int | None = None


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


def gold_literals(sql: str, schema: Schema | None = None, dialect: str = "sqlite") -> tuple[GoldLiteral, ...]:
    """The distinct literals of a query that a parser has to find.

    Left out is what belongs to the grammar: strftime formats, "start of year", the 24 hours of a day. A modifier such as
    ``'-8 month'`` asks for the number 8, and so do days written as months, ``1 * 365 / 4``, for 3. With `schema`, a literal
    compared with a column knows it, where the query or the schema says which one that is.
    Raises sqlglot's ParseError for SQL that sqlglot cannot read.
    """
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read=dialect)
    found: dict[GoldLiteral, None] = {}
    for node in tree.find_all(exp.Literal):
        if node.is_string:
            modifier = _MODIFIER.fullmatch(node.this)
            if modifier is not None:
                found.setdefault(GoldLiteral(int(modifier["count"])))
            elif not _STRUCTURAL.fullmatch(node.this):
                found.setdefault(GoldLiteral(node.this, _compared_column(node, schema)))
        else:
            number = _asked_number(node)
            if number is not None:
                found.setdefault(GoldLiteral(number))
    return tuple(found)


def _asked_number(node: object) -> int | float | None:
    """The number that a numeric literal asks for; None for one that belongs to calendar arithmetic."""
    from sqlglot import exp

    if not isinstance(node, exp.Literal):
        return None
    number = plain_number(node.this)
    if isinstance(node.parent, exp.Neg):
        return None if number is None else -number
    top: exp.Expression = node
    while isinstance(top.parent, exp.Mul | exp.Div | exp.Paren):
        top = top.parent
    factors = [plain_number(factor.this) for factor in top.find_all(exp.Literal) if not factor.is_string]
    if 365 in factors:
        months: float = 12
        for factor in factors:
            if factor and factor != 365:
                months = months / factor if factor in {2, 3, 4, 6, 12} else months * factor
        return int(months) if number == 365 else None
    is_day_count = any(stamp.args.get("format") is not None for stamp in top.find_all(exp.TimeToStr))
    return None if number in {24, 60, 3600, 86400} and is_day_count else number


def _compared_column(node: object, schema: Schema | None) -> int | None:
    from sqlglot import exp

    parent = getattr(node, "parent", None)
    if schema is None or not isinstance(parent, exp.EQ | exp.NEQ | exp.In | exp.Like):
        return None
    column = parent.this
    if not isinstance(column, exp.Column):
        return None
    if column.table and (index := schema.find_column(column.table, column.name)) is not None:
        return index
    named = [index for index, one in enumerate(schema.columns) if one.name.lower() == column.name.lower()]
    return named[0] if len(named) == 1 else None


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
