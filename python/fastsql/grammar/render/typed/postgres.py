"""PostgreSQL (14 and later)."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from fastsql.grammar.render.names import KEYWORDS, LOWER_CASE
from fastsql.grammar.render.typed.dialect import WHOLE_NUMBER, Dialect
from fastsql.grammar.render.typed.types import Kind

_RESERVED = """
ANALYSE ASYMMETRIC AUTHORIZATION BOTH COALESCE COLLATION CONCURRENTLY CURRENT_ROLE EXTRACT FREEZE GREATEST GROUPING
INOUT LEADING LEAST NATIONAL NONE NORMALIZE NULLIF ONLY OVERLAY PLACING POSITION PRECISION SETOF SIMILAR SUBSTRING
SYMMETRIC TRAILING TREAT TRIM USER VARIADIC VERBOSE XMLATTRIBUTES XMLCONCAT XMLELEMENT XMLEXISTS XMLFOREST
XMLNAMESPACES XMLPARSE XMLPI XMLROOT XMLSERIALIZE XMLTABLE AT COLUMNS LAMBDA POSITIONAL SUMMARIZE TRY_CAST TUPLE UNPACK
"""
RESERVED = KEYWORDS | frozenset(_RESERVED.split())
"""Keywords of PostgreSQL and DuckDB (`pg_get_keywords`, `duckdb_keywords`) that are more than names, with SQLite's."""
_MOMENT = (
    r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?$"
)


class Postgres(Dialect):
    """PostgreSQL. Names without quotes are folded to lower case there, so others are quoted."""

    name = "postgres"
    naming = type(LOWER_CASE)(LOWER_CASE.plain, RESERVED, LOWER_CASE.letters)
    formats: ClassVar = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "HH24", "%M": "MI", "%S": "SS"}

    def number_or_null(self, text: exp.Expr) -> exp.Expr:
        """The number that a text is, NULL where it is none; there is no TRY_CAST."""
        return self.cast(_matching(text, WHOLE_NUMBER), Kind.REAL)

    def moment_or_null(self, text: exp.Expr) -> exp.Expr:
        """The moment that a text is, NULL where it does not look like one. One such as 30 February is an error."""
        return self.cast(_matching(text, _MOMENT), Kind.MOMENT)

    def moment_of_julian(self, number: exp.Expr) -> exp.Expr:
        """The moment of a Julian day number."""
        origin = self.cast(exp.Literal.string("2000-01-01 12:00:00"), Kind.MOMENT)
        days = exp.paren(exp.Sub(this=number, expression=exp.Literal.number(2451545)), copy=False)
        day = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("DAY"))
        return exp.Add(this=origin, expression=exp.Mul(this=days, expression=day))

    def quotient(self, one: exp.Expr, other: exp.Expr) -> exp.Expr:
        """DIV: the sum of a column of big integers is no integer here, and `/` would not cut it off."""
        return exp.Anonymous(this="DIV", expressions=[one, other])

    def rounded(self, number: exp.Expr, digits: int) -> exp.Expr:
        """ROUND of a NUMERIC, since that of a floating number takes no digits."""
        exact = exp.Cast(this=number, to=exp.DataType.build("DECIMAL"))
        return self.cast(super().rounded(exact, digits), Kind.REAL)

    def format(self, moment: exp.Expr, form: str) -> exp.Expr:
        """TO_CHAR."""
        return exp.Anonymous(this="TO_CHAR", expressions=[moment, self.form(form)])

    def some_row(self, value: exp.Expr) -> exp.Expr:
        """The first of an array of all. ANY_VALUE came with version 16, and may take values of different rows."""
        return _first(exp.ArrayAgg(this=value))

    def extreme_row(self, value: exp.Expr, key: exp.Expr, *, greatest: bool) -> exp.Expr:
        """The first of an array of all, in the order of the key."""
        order = exp.Ordered(this=key, desc=greatest, nulls_first=False)
        return _first(exp.ArrayAgg(this=exp.Order(this=value, expressions=[order])))


def _matching(text: exp.Expr, pattern: str) -> exp.Expr:
    """A text that matches a regular expression, NULL where it does not."""
    return exp.Substring(this=text, start=exp.Literal.string(pattern))


def _first(array: exp.Expr) -> exp.Expr:
    return exp.Bracket(this=exp.paren(array, copy=False), expressions=[exp.Literal.number(0)], offset=0)
