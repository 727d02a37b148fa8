"""DuckDB."""

from __future__ import annotations

from sqlglot import exp

from fastsql.grammar.render.names import SQLITE
from fastsql.grammar.render.typed.dialect import LEADING_NUMBER, Dialect
from fastsql.grammar.render.typed.postgres import RESERVED
from fastsql.grammar.render.typed.types import Kind


class DuckDB(Dialect):
    """DuckDB. Names do not mind case there, whether quoted or not."""

    name = "duckdb"
    naming = type(SQLITE)(SQLITE.plain, RESERVED)

    def leading_number(self, text: exp.Expr) -> exp.Expr:
        """The number that a text begins with; RE2 must be told that a dot is any character."""
        parts = [exp.Literal.string(part) for part in (LEADING_NUMBER, r"\10\2", "s")]
        return self.cast(exp.Anonymous(this="REGEXP_REPLACE", expressions=[text, *parts]), Kind.REAL)

    def without_fraction(self, number: exp.Expr) -> exp.Expr:
        """A number as an integer, NULL beyond 64 bits: DuckDB computes constants when it prepares, and would fail there."""
        truncated = exp.Anonymous(this="TRUNC", expressions=[number])
        return exp.TryCast(this=truncated, to=exp.DataType.build("BIGINT"))

    def moment_of_julian(self, number: exp.Expr) -> exp.Expr:
        """The moment of a Julian day number."""
        origin = self.cast(exp.Literal.string("2000-01-01 12:00:00"), Kind.MOMENT)
        days = exp.paren(exp.Sub(this=number, expression=exp.Literal.number(2451545)), copy=False)
        seconds = exp.Mul(this=days, expression=exp.Literal.number(86400))
        return exp.Add(this=origin, expression=exp.Anonymous(this="TO_SECONDS", expressions=[seconds]))

    def format(self, moment: exp.Expr, form: str) -> exp.Expr:
        """STRFTIME, which takes the moment first."""
        return exp.Anonymous(this="STRFTIME", expressions=[moment, self.form(form)])

    def some_row(self, value: exp.Expr) -> exp.Expr:
        """FIRST."""
        return exp.Anonymous(this="FIRST", expressions=[value])

    def extreme_row(self, value: exp.Expr, key: exp.Expr, *, greatest: bool) -> exp.Expr:
        """ARG_MIN or ARG_MAX, in the form that passes NULL on."""
        return exp.Anonymous(this="ARG_MAX_NULL" if greatest else "ARG_MIN_NULL", expressions=[value, key])
