"""What dialects with types say differently, one method a construct. The defaults are what most of them share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from sqlglot import exp

from fastsql.errors import DialectError
from fastsql.grammar.render.names import SQLITE, Naming
from fastsql.grammar.render.typed.types import Kind, Typed, typed

_SQL_TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "TEXT",
    Kind.MOMENT: "TIMESTAMP",
    Kind.DATE: "DATE",
    Kind.CLOCK: "TIME",
}
LEADING_NUMBER = r"^\s*(-)?\+?(\d*\.?\d*(?:[eE][-+]?\d+)?).*$"
r"""What SQLite reads of a text where it needs a number, as two groups: `\10\2` is a number even where both are empty."""
WHOLE_NUMBER = r"^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$"
"""A text that is a number, all of it."""


class Dialect:
    """A dialect. Its methods make sqlglot trees of others, which they own afterwards."""

    name: ClassVar[str]
    naming: ClassVar[Naming] = SQLITE
    formats: ClassVar[Mapping[str, str]] = {}
    """What stands for each of strftime's codes; empty where those are the dialect's own."""
    escaped: ClassVar[str] = "%_"
    """Characters that LIKE reads specially, beside the backslash."""
    sorts_anywhere: ClassVar[bool] = True
    """Whether ORDER BY may stand in a subquery that has no LIMIT."""

    averages_cut_off: ClassVar[bool] = False
    """Whether the average of integers is an integer."""

    # ---------------------------------------------------------------- casts

    def cast(self, node: exp.Expr, kind: Kind) -> exp.Expr:
        """CAST to the type that stands for a kind."""
        return exp.Cast(this=node, to=exp.DataType.build(_SQL_TYPES[kind]))

    def number_of_truth(self, value: exp.Expr) -> exp.Expr:
        """1 for true, 0 for false. PostgreSQL casts a boolean to INTEGER, and to no other number."""
        return exp.Cast(this=value, to=exp.DataType.build("INT"))

    def leading_number(self, text: exp.Expr) -> exp.Expr:
        """The number that a text begins with, 0 where it begins with none."""
        groups = [exp.Literal.string(part) for part in (LEADING_NUMBER, r"\10\2")]
        return self.cast(exp.Anonymous(this="REGEXP_REPLACE", expressions=[text, *groups]), Kind.REAL)

    def number_or_null(self, text: exp.Expr) -> exp.Expr:
        """The number that a text is, NULL where it is none."""
        return exp.TryCast(this=text, to=exp.DataType.build("DOUBLE"))

    def moment_or_null(self, text: exp.Expr) -> exp.Expr:
        """The moment that a text is, NULL where it is none."""
        return exp.TryCast(this=text, to=exp.DataType.build("TIMESTAMP"))

    def moment_of_day(self, clock: exp.Expr) -> exp.Expr:
        """A time of day on the day on which SQLite puts one: 2000-01-01."""
        return exp.Add(this=self.cast(exp.Literal.string("2000-01-01"), Kind.DATE), expression=clock)

    def moment_of_julian(self, number: exp.Expr) -> exp.Expr:
        """The moment of a Julian day number. Raises DialectError where it cannot be said."""
        raise self.unsayable("a number that is read as a time")

    def without_fraction(self, number: exp.Expr) -> exp.Expr:
        """A number as an integer, cut off rather than rounded."""
        return self.cast(exp.Anonymous(this="TRUNC", expressions=[number]), Kind.INTEGER)

    def truth(self, condition: exp.Expr) -> Typed:
        """A condition as a value."""
        return typed(exp.paren(condition, copy=False), Kind.BOOLEAN)

    # ---------------------------------------------------------------- arithmetic and text

    def quotient(self, one: exp.Expr, other: exp.Expr) -> exp.Expr:
        """A division of whole numbers, cut off."""
        return exp.IntDiv(this=one, expression=other)

    def substring(self, text: exp.Expr, start: int, length: int | None) -> exp.Expr:
        """A part of a text from a character, the first being 1, all the rest where there is no length."""
        size = None if length is None else exp.Literal.number(length)
        return exp.Substring(this=text, start=exp.Literal.number(start), length=size)

    def last_characters(self, text: exp.Expr, count: int) -> exp.Expr:
        """The end of a text."""
        return exp.Anonymous(this="RIGHT", expressions=[text, exp.Literal.number(count)])

    def like(self, text: exp.Expr, pattern: exp.Expr) -> exp.Expr:
        """LIKE, whatever the case of letters."""
        return exp.ILike(this=text, expression=pattern)

    def rounded(self, number: exp.Expr, digits: int) -> exp.Expr:
        """A number with so many digits behind the point."""
        return exp.Round(this=number, decimals=exp.Literal.number(digits))

    # ---------------------------------------------------------------- times

    def now(self) -> exp.Expr:
        """The present moment, as the server's clock on the wall shows it."""
        return exp.Localtimestamp()

    def format(self, moment: exp.Expr, form: str) -> exp.Expr:
        """A moment as text, in one of strftime's formats."""
        raise NotImplementedError

    def form(self, form: str) -> exp.Expr:
        """A format of strftime in the dialect's words."""
        return exp.Literal.string(re.sub(r"%\w", lambda code: self.formats.get(code[0], code[0]), form))

    def truncated(self, moment: exp.Expr, unit: str) -> exp.Expr:
        """The beginning of the year, month or day that a moment lies in."""
        return exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(unit), moment])

    def start_of(self, moment: exp.Expr, unit: str) -> exp.Expr:
        """The first day of the year, quarter, month or week (from Monday) that a moment lies in."""
        return self.cast(self.truncated(moment, unit), Kind.DATE)

    def days_back(self, day: exp.Expr, count: int, unit: str) -> exp.Expr:
        """A day so many years, months or days earlier."""
        return self.cast(self.shifted(day, -count, unit), Kind.DATE)

    def weekday(self, moment: exp.Expr) -> exp.Expr:
        """The day of the week as a text, 0 for Sunday."""
        return self.cast(exp.Extract(this=exp.var("DOW"), expression=moment), Kind.TEXT)

    def shifted(self, moment: exp.Expr, count: int, unit: str) -> exp.Expr:
        """A moment `count` years, months, days or hours later, earlier where that is negative."""
        interval = exp.Interval(this=exp.Literal.string(str(abs(count))), unit=exp.var(unit.upper()))
        return (exp.Add if count >= 0 else exp.Sub)(this=moment, expression=interval)

    def same_period(self, one: exp.Expr, other: exp.Expr, unit: str, back: int = 0) -> exp.Expr:
        """Whether a moment lies `back` years, months or days before the period that the other lies in."""
        period = self.truncated(other, unit)
        return exp.EQ(
            this=self.truncated(one, unit), expression=self.shifted(period, -back, unit) if back else period
        )

    def seconds_between(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        """Seconds from one moment to another."""
        difference = exp.paren(exp.Sub(this=later, expression=earlier), copy=False)
        return exp.Extract(this=exp.var("EPOCH"), expression=difference)

    def days_between(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        """Days from one moment to another, with their fraction."""
        seconds = self.seconds_between(later, earlier)
        return exp.Div(this=seconds, expression=exp.Literal.number(86400), typed=True)

    def leading_part(self, moment: exp.Expr, unit: str) -> exp.Expr:
        """The year of a moment, or the hour of a time of day."""
        return exp.Extract(this=exp.var(unit.upper()), expression=moment)

    # ---------------------------------------------------------------- queries

    def some_row(self, value: exp.Expr) -> exp.Expr:
        """The value of some row of a group, of the same row for all values of a query."""
        raise NotImplementedError

    def extreme_row(self, value: exp.Expr, key: exp.Expr, *, greatest: bool) -> exp.Expr:
        """The value of the row of a group that has the least or greatest key. Raises DialectError."""
        raise self.unsayable("the row of a group that has the least or greatest of another column")

    def membership(self, value: exp.Expr, members: exp.Query, naming: Naming) -> exp.Expr:
        """IN with a subquery."""
        return exp.In(this=value, query=members.subquery(copy=False))

    def aggregated(self, node: exp.Expr) -> exp.Expr:
        """An aggregate. Raises DialectError where one may not be taken of such an expression."""
        return node

    def unsayable(self, what: str) -> DialectError:
        """The error for what this dialect has no words for."""
        return DialectError(
            f"has no words for {what}",
            where=f"dialect {self.name!r}",
            remedy="Ask in another way, or use a dialect such as 'postgres'.",
        )
