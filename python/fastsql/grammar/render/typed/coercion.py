"""Turns values of one type into another, as SQLite would read them there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from fastsql.grammar.render.pieces import literal
from fastsql.grammar.render.typed.dialect import LEADING_NUMBER, Dialect
from fastsql.grammar.render.typed.types import (
    ISO,
    NUMBERS,
    TIMES,
    Kind,
    Type,
    Typed,
    comparison_kind,
    is_moment,
    number_in,
    truth_of,
    typed,
    typed_literal,
)


class Coercion:
    """The conversions of a dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def to(self, value: Typed, kind: Kind) -> Typed:
        """A value as another kind. A text that is no number, or no time, becomes NULL."""
        if value.kind == kind:
            return value
        if kind == Kind.TEXT:
            return self.text(value)
        if kind in NUMBERS:
            if value.kind == Kind.TEXT and value.literal is None:
                return typed(self.dialect.number_or_null(value.node), Kind.REAL)
            return self.number(value)
        if kind == Kind.BOOLEAN:
            return typed(exp.NEQ(this=self.number(value).node, expression=exp.Literal.number(0)), kind)
        return self.moment(value)

    def text(self, value: Typed) -> Typed:
        """A value as SQLite writes it."""
        if value.literal is not None:
            return typed_literal(str(value.literal))
        if value.kind == Kind.TEXT:
            return value
        if value.kind in (Kind.MOMENT, Kind.DATE):
            return typed(self.dialect.format(value.node, ISO[value.kind]), Kind.TEXT)
        node = self.number(value).node if value.kind == Kind.BOOLEAN else value.node
        return typed(self.dialect.cast(node, Kind.TEXT), Kind.TEXT)

    def number(self, value: Typed) -> Typed:
        """A value where a number is needed: of a text the number that it begins with, 0 where it begins with none."""
        if value.kind in NUMBERS:
            return value
        if isinstance(value.literal, str):
            return typed_literal(_leading_number(value.literal))
        if value.kind == Kind.BOOLEAN:
            return typed(self.dialect.number_of_truth(value.node), Kind.INTEGER)
        if value.kind in TIMES:
            unit = "hour" if value.kind == Kind.CLOCK else "year"
            return typed(self.dialect.leading_part(value.node, unit), Kind.INTEGER)
        return typed(self.dialect.leading_number(self.text(value).node), Kind.REAL)

    def whole(self, value: Typed) -> Typed:
        """A value as an integer, cut off."""
        number = self.number(value)
        if number.kind == Kind.INTEGER:
            return number
        return typed(self.dialect.without_fraction(number.node), Kind.INTEGER)

    def moment(self, value: Typed) -> Typed:
        """A value where a moment is needed."""
        if value.kind == Kind.MOMENT:
            return value
        if value.kind == Kind.DATE:
            return typed(self.dialect.cast(value.node, Kind.MOMENT), Kind.MOMENT)
        if value.kind == Kind.CLOCK:
            return typed(self.dialect.moment_of_day(value.node), Kind.MOMENT)
        if value.kind in (*NUMBERS, Kind.BOOLEAN):
            return typed(self.dialect.moment_of_julian(self.number(value).node), Kind.MOMENT)
        return typed(self.dialect.moment_or_null(self.text(value).node), Kind.MOMENT)

    # ---------------------------------------------------------------- values side by side

    def alike(self, values: Sequence[Typed], *, ordering: bool) -> list[Typed]:
        """Values that can be compared with one another. Literals follow the others, as they do in SQLite."""
        written = [value.literal is not None for value in values]
        types = [value.type for value, is_literal in zip(values, written, strict=True) if not is_literal]
        if not types:
            types = [value.type for value in values]
            written = [False] * len(values)
        kind = comparison_kind(types, ordering=ordering)
        others = [v if kind is None or w else self.to(v, kind) for v, w in zip(values, written, strict=True)]
        if not any(written):
            return others
        beside = next(value.type for value, is_literal in zip(others, written, strict=True) if not is_literal)
        expressed = [
            _expressed(value, beside, self.dialect, ordering=ordering) if is_literal else value
            for value, is_literal in zip(others, written, strict=True)
        ]
        if None not in expressed:
            return [value for value in expressed if value is not None]
        if beside.kind == Kind.BOOLEAN and all(isinstance(v.literal, int | float | None) for v in values):
            return [value if w else self.number(value) for value, w in zip(others, written, strict=True)]
        return [self.text(value) for value in others]


def _expressed(value: Typed, beside: Type, dialect: Dialect, *, ordering: bool) -> Typed | None:
    """A literal as one of the type beside it; None where it is none of those."""
    written = value.literal
    assert written is not None
    if beside.kind == Kind.TEXT:
        return typed_literal(str(written))
    if beside.kind in NUMBERS:
        number = number_in(written) if isinstance(written, str) else written
        return None if number is None else typed_literal(number)
    if beside.kind == Kind.BOOLEAN:
        truth = truth_of(written)
        return (
            None if truth is None or ordering else typed(exp.true() if truth else exp.false(), Kind.BOOLEAN)
        )
    if beside.kind in TIMES and isinstance(written, str) and is_moment(written, beside.kind):
        return typed(dialect.cast(literal(written), beside.kind), beside.kind)
    return None


def _leading_number(text: str) -> int | float:
    match = re.match(LEADING_NUMBER, text, re.ASCII | re.DOTALL)
    assert match is not None, "every text matches"
    sign, digits = match[1] or "", match[2]
    return int(sign + digits) if digits.isdecimal() else float(f"{sign}0{digits}")
