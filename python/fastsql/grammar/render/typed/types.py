"""Types of values, as far as a dialect with types minds them.

SQLite compares anything with anything; PostgreSQL and its like ask what a value is. Here is what is known of it without a
database: of a column its declared type, of everything else what the grammar makes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from sqlglot import exp

from fastsql.grammar.render.pieces import literal
from fastsql.schema.model import Column


class Kind(Enum):
    """What a value is. OPAQUE values equal only each other: UUIDs, enumerations, JSON."""

    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TEXT = "text"
    MOMENT = "moment"
    DATE = "date"
    CLOCK = "clock"
    OPAQUE = "opaque"


NUMBERS = frozenset((Kind.INTEGER, Kind.REAL))
TIMES = frozenset((Kind.MOMENT, Kind.DATE, Kind.CLOCK))
ISO = {Kind.MOMENT: "%Y-%m-%d %H:%M:%S", Kind.DATE: "%Y-%m-%d", Kind.CLOCK: "%H:%M:%S"}
"""How SQLite stores times, as text."""

_WHOLE = re.compile(r"int|serial|long|year|counter|oid", re.IGNORECASE)
_TEXTS = re.compile(
    r"$|(n?var|n|bp|native |national |varying )?char|(n|tiny|medium|long)?text|string|clob|name|citext"
)
_UNSAID = ("", "other", "others")
_TRUE, _FALSE = ("1", "t", "true", "y", "yes"), ("0", "f", "false", "n", "no")
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)


@dataclass(frozen=True)
class Type:
    """A kind, and of an opaque value the declared type."""

    kind: Kind
    declared: str = ""


@dataclass(frozen=True)
class Typed:
    """An expression and its type; `literal` is the value of one that is written down."""

    node: exp.Expr
    type: Type
    literal: str | int | float | None = None

    @property
    def kind(self) -> Kind:
        """The kind of its type."""
        return self.type.kind

    def with_node(self, node: exp.Expr) -> Typed:
        """Another expression of the same type."""
        return replace(self, node=node, literal=None)


def typed(node: exp.Expr, kind: Kind) -> Typed:
    """An expression of a kind."""
    return Typed(node, Type(kind))


def typed_literal(value: str | int | float) -> Typed:
    """A literal with the type that it has by itself."""
    kind = Kind.TEXT if isinstance(value, str) else Kind.INTEGER if isinstance(value, int) else Kind.REAL
    return Typed(literal(value), Type(kind), value)


def column_type(column: Column) -> Type:
    """The type of a schema's column."""
    declared = column.sql_type.strip().lower()
    if column.type == "number":
        return Type(Kind.INTEGER if _WHOLE.search(declared) else Kind.REAL)
    if column.type == "boolean":
        return Type(Kind.BOOLEAN)
    if column.type == "time":
        word = re.split(r"\W", declared)[0]
        return Type({"date": Kind.DATE, "time": Kind.CLOCK, "timetz": Kind.CLOCK}.get(word, Kind.MOMENT))
    plain = _TEXTS.match(declared) if column.type == "text" else declared in _UNSAID
    return Type(Kind.TEXT) if plain else Type(Kind.OPAQUE, declared)


def comparison_kind(types: Sequence[Type], *, ordering: bool) -> Kind | None:
    """What values of these types must be turned into to be compared; None where they may stand as they are.

    A number meets a text as a number where sizes matter, and as text where only equality does: ids are often stored so.
    """
    kinds = {one.kind for one in types}
    if len(set(types)) == 1 or kinds <= NUMBERS:
        return None
    if kinds <= NUMBERS | {Kind.BOOLEAN}:
        return Kind.INTEGER
    if kinds <= TIMES:
        return Kind.MOMENT if Kind.CLOCK in kinds else None
    if kinds <= NUMBERS | {Kind.TEXT} and (ordering or Kind.REAL in kinds):
        return Kind.REAL
    return Kind.TEXT


def merged_type(types: Sequence[Type]) -> Type:
    """The type of a column or CASE that takes its values from several expressions."""
    kinds = {one.kind for one in types}
    if len(set(types)) == 1:
        return types[0]
    if kinds <= NUMBERS:
        return Type(Kind.REAL)
    if kinds <= NUMBERS | {Kind.BOOLEAN}:
        return Type(Kind.REAL if Kind.REAL in kinds else Kind.INTEGER)
    return Type(Kind.MOMENT if kinds <= TIMES else Kind.TEXT)


def number_in(text: str) -> int | float | None:
    """The number that a text is; None where it is none."""
    if not _NUMBER.fullmatch(text):
        return None
    return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)


def truth_of(value: str | int | float) -> bool | None:
    """The truth value that a literal stands for beside a boolean column; None where it is none."""
    folded = str(value).lower()
    return True if folded in _TRUE else False if folded in _FALSE else None


def is_moment(text: str, kind: Kind) -> bool:
    """Whether a text is a time, written as SQLite stores those of a kind."""
    try:
        return datetime.strptime(text, ISO[kind]).strftime(ISO[kind]) == text  # noqa: DTZ007 - no zone is meant
    except ValueError:
        return False
