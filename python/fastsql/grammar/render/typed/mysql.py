"""MySQL (8.0.31 and later: INTERSECT, EXCEPT, window functions)."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from fastsql.grammar.render.names import QUOTED, Naming
from fastsql.grammar.render.typed.dialect import Dialect
from fastsql.grammar.render.typed.types import Kind, Typed, typed

_PERIODS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}


class MySQL(Dialect):
    """MySQL."""

    name = "mysql"
    naming = QUOTED
    formats: ClassVar = {"%M": "%i", "%S": "%s"}

    def number_of_truth(self, value: exp.Expr) -> exp.Expr:
        """A boolean is a number already."""
        return value

    def leading_number(self, text: exp.Expr) -> exp.Expr:
        """The number that a text begins with; CAST reads it so."""
        return self.cast(text, Kind.REAL)

    def number_or_null(self, text: exp.Expr) -> exp.Expr:
        """Raises DialectError: CAST takes any text for a number, and TRY_CAST is missing."""
        raise self.unsayable("the comparison of a number with a text that may not be one")

    def moment_or_null(self, text: exp.Expr) -> exp.Expr:
        """The moment that a text is; CAST gives NULL where it is none."""
        return self.cast(text, Kind.MOMENT)

    def moment_of_day(self, clock: exp.Expr) -> exp.Expr:
        """A time of day on 2000-01-01."""
        day = self.cast(exp.Literal.string("2000-01-01"), Kind.DATE)
        return exp.Anonymous(this="TIMESTAMP", expressions=[day, clock])

    def without_fraction(self, number: exp.Expr) -> exp.Expr:
        """A number as an integer, cut off."""
        return self.cast(
            exp.Anonymous(this="TRUNCATE", expressions=[number, exp.Literal.number(0)]), Kind.INTEGER
        )

    def truth(self, condition: exp.Expr) -> Typed:
        """A condition, which is a number here."""
        return typed(exp.paren(condition, copy=False), Kind.INTEGER)

    def like(self, text: exp.Expr, pattern: exp.Expr) -> exp.Expr:
        """LIKE, which minds case where the column's collation does."""
        return exp.Like(this=text, expression=pattern)

    def start_of(self, moment: exp.Expr, unit: str) -> exp.Expr:
        """There is no DATE_TRUNC: by the form of the date, and days or months taken off."""
        if unit == "week":
            days = exp.Anonymous(this="WEEKDAY", expressions=[moment.copy()])
            return exp.Sub(
                this=self.cast(moment, Kind.DATE), expression=exp.Interval(this=days, unit=exp.var("DAY"))
            )
        first = self.cast(self.format(moment, "%Y-01-01" if unit == "year" else "%Y-%m-01"), Kind.DATE)
        if unit != "quarter":
            return first
        month = exp.Extract(this=exp.var("MONTH"), expression=moment.copy())
        before = exp.paren(exp.Sub(this=month, expression=exp.Literal.number(1)), copy=False)
        months = exp.paren(exp.Mod(this=before, expression=exp.Literal.number(3)), copy=False)
        return exp.Sub(this=first, expression=exp.Interval(this=months, unit=exp.var("MONTH")))

    def weekday(self, moment: exp.Expr) -> exp.Expr:
        """DATE_FORMAT has a code for it."""
        return self.format(moment, "%w")

    def format(self, moment: exp.Expr, form: str) -> exp.Expr:
        """DATE_FORMAT."""
        return exp.Anonymous(this="DATE_FORMAT", expressions=[moment, self.form(form)])

    def same_period(self, one: exp.Expr, other: exp.Expr, unit: str, back: int = 0) -> exp.Expr:
        """There is no DATE_TRUNC: the periods are compared as text."""
        period = self.shifted(other, -back, unit) if back else other
        form = _PERIODS[unit]
        return exp.EQ(this=self.format(one, form), expression=self.format(period, form))

    def seconds_between(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        """TIMESTAMPDIFF counts whole seconds."""
        return exp.Anonymous(this="TIMESTAMPDIFF", expressions=[exp.var("SECOND"), earlier, later])

    def days_between(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        """Days with their fraction, which `/` keeps."""
        return exp.Div(this=self.seconds_between(later, earlier), expression=exp.Literal.number(86400))

    def some_row(self, value: exp.Expr) -> exp.Expr:
        """ANY_VALUE."""
        return exp.AnyValue(this=value)

    def membership(self, value: exp.Expr, members: exp.Query, naming: Naming) -> exp.Expr:
        """IN with a subquery; one with LIMIT may stand there only inside another."""
        if members.args.get("limit") is not None:
            inner = members.subquery(naming.identifier("T0"), copy=False)
            members = exp.Select().select(exp.Star()).from_(inner, copy=False)
        return super().membership(value, members, naming)
