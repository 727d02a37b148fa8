"""Small pieces of sqlglot trees, and of the derivation trees that they are made from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

COMPARISONS: dict[str, type[exp.Binary]] = {
    "eq": exp.EQ,
    "ne": exp.NEQ,
    "lt": exp.LT,
    "le": exp.LTE,
    "gt": exp.GT,
    "ge": exp.GTE,
}
ARITHMETIC: dict[str, type[exp.Binary]] = {
    "plus": exp.Add,
    "minus": exp.Sub,
    "times": exp.Mul,
    "modulo": exp.Mod,
}


def literal(value: str | int | float) -> exp.Expr:
    """A string, a number, or a negated number."""
    if isinstance(value, str):
        return exp.Literal.string(value)
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def arithmetic(name: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """A sum, difference, product, remainder or quotient.

    Division is SQLite's: whole numbers give a whole number, and by zero gives NULL.
    """
    if name == "divide":
        return exp.Div(this=left, expression=right, typed=True, safe=True)
    return ARITHMETIC[name](this=left, expression=right)


def concatenation(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Two texts put together; NULL where one of them is."""
    sides = [exp.paren(s, copy=False) if isinstance(s, exp.Binary) else s for s in (left, right)]
    if isinstance(left, exp.DPipe):
        sides[0] = left
    return exp.DPipe(this=sides[0], expression=sides[1], safe=True)


def conjunction(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """One AND of all, without parentheses: conditions that bind more loosely bring their own."""
    return reduce(lambda one, other: exp.And(this=one, expression=other), conditions)


def negated(node: exp.Expr, negative: bool) -> exp.Expr:
    """A condition, or its negation."""
    return exp.Not(this=node) if negative else node


def datetime(moment: exp.Expr, *modifiers: exp.Expr) -> exp.Expr:
    """The function datetime, which puts a moment into SQLite's form."""
    return exp.Anonymous(this="datetime", expressions=[moment, *modifiers])


def strftime(form: str, moment: exp.Expr) -> exp.Expr:
    """The function strftime, which writes a moment in a form."""
    return exp.Anonymous(this="strftime", expressions=[exp.Literal.string(form), moment])
