"""Transact-SQL (SQL Server 2016 and later)."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from fastsql.grammar.render.names import QUOTED
from fastsql.grammar.render.typed.dialect import Dialect
from fastsql.grammar.render.typed.types import Kind, Typed, typed


class TSQL(Dialect):
    """Transact-SQL. Conditions are no values there."""

    name = "tsql"
    naming = QUOTED
    formats: ClassVar = {"%Y": "yyyy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss"}
    escaped = "%_["
    sorts_anywhere = False
    averages_cut_off = True

    def leading_number(self, text: exp.Expr) -> exp.Expr:
        """Raises DialectError: there are no regular expressions."""
        raise self.unsayable("arithmetic on text")

    def moment_of_day(self, clock: exp.Expr) -> exp.Expr:
        """A time of day on 2000-01-01."""
        day = self.cast(exp.Literal.string("2000-01-01"), Kind.MOMENT)
        midnight = self.cast(exp.Literal.string("00:00:00"), Kind.CLOCK)
        return self._function("DATEADD", "second", self._function("DATEDIFF", "second", midnight, clock), day)

    def without_fraction(self, number: exp.Expr) -> exp.Expr:
        """A number as an integer; CAST cuts off."""
        return self.cast(number, Kind.INTEGER)

    def truth(self, condition: exp.Expr) -> Typed:
        """A condition as 1, 0 or NULL."""
        false = exp.Not(this=exp.paren(condition.copy(), copy=False))
        case = exp.Case().when(condition, exp.Literal.number(1), copy=False)
        return typed(exp.paren(case.when(false, exp.Literal.number(0), copy=False), copy=False), Kind.INTEGER)

    def quotient(self, one: exp.Expr, other: exp.Expr) -> exp.Expr:
        """Whole numbers divide to whole numbers."""
        return exp.Div(this=one, expression=other, typed=True)

    def substring(self, text: exp.Expr, start: int, length: int | None) -> exp.Expr:
        """SUBSTRING takes a length always; more than there is does no harm."""
        return super().substring(text, start, 2**31 - 1 if length is None else length)

    def like(self, text: exp.Expr, pattern: exp.Expr) -> exp.Expr:
        """LIKE, which minds case where the column's collation does."""
        return exp.Like(this=text, expression=pattern)

    def format(self, moment: exp.Expr, form: str) -> exp.Expr:
        """FORMAT."""
        return exp.Anonymous(this="FORMAT", expressions=[moment, self.form(form)])

    def now(self) -> exp.Expr:
        """SYSDATETIME."""
        return exp.Anonymous(this="SYSDATETIME")

    def shifted(self, moment: exp.Expr, count: int, unit: str) -> exp.Expr:
        """DATEADD."""
        return self._function("DATEADD", unit, exp.Literal.number(count), moment)

    def start_of(self, moment: exp.Expr, unit: str) -> exp.Expr:
        """As many periods after a Monday that began a year as lie between them."""
        origin = self.cast(exp.Literal.string("1900-01-01"), Kind.DATE)
        if unit != "week":
            return self._function(
                "DATEADD", unit, self._function("DATEDIFF", unit, origin.copy(), moment), origin
            )
        days = self._function("DATEDIFF", "day", origin.copy(), moment)
        weeks = exp.Div(this=days, expression=exp.Literal.number(7), typed=True)
        return self._function("DATEADD", "day", exp.Mul(this=weeks, expression=exp.Literal.number(7)), origin)

    def weekday(self, moment: exp.Expr) -> exp.Expr:
        """Days since a Sunday; DATEPART would depend on a setting."""
        sunday = self.cast(exp.Literal.string("1899-12-31"), Kind.DATE)
        days = self._function("DATEDIFF", "day", sunday, moment)
        return self.cast(exp.Mod(this=days, expression=exp.Literal.number(7)), Kind.TEXT)

    def same_period(self, one: exp.Expr, other: exp.Expr, unit: str, back: int = 0) -> exp.Expr:
        """DATEDIFF counts the borders between the two."""
        return exp.EQ(this=self._function("DATEDIFF", unit, one, other), expression=exp.Literal.number(back))

    def seconds_between(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        """DATEDIFF_BIG counts whole seconds."""
        return self._function("DATEDIFF_BIG", "second", earlier, later)

    def days_between(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        """Days with their fraction."""
        seconds = self.seconds_between(later, earlier)
        return exp.Div(this=seconds, expression=exp.Literal.number("86400.0"), typed=True)

    def leading_part(self, moment: exp.Expr, unit: str) -> exp.Expr:
        """DATEPART."""
        return self._function("DATEPART", unit, moment)

    def some_row(self, value: exp.Expr) -> exp.Expr:
        """Raises DialectError: no aggregate takes the values of one row, whichever it is."""
        raise self.unsayable("the column of some row of a group")

    def aggregated(self, node: exp.Expr) -> exp.Expr:
        """An aggregate. Raises DialectError for one of a subquery."""
        if node.find(exp.Query) is not None:
            raise self.unsayable("an aggregate of a subquery")
        return node

    def _function(self, name: str, unit: str, *arguments: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=[exp.var(unit.upper()), *arguments])
