"""Small pieces of sqlglot trees, and of the derivation trees that they are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from sqlglot import exp

from fastsql.grammar.program import Node

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


def some(node: Node | None) -> Node:
    """A child that the grammar requires."""
    assert node is not None, "the grammar requires this child"
    return node


def child(node: Node, index: int) -> Node:
    """A child of a node."""
    return some(node.children[index])


def own(node: Node, rest: int) -> Node:
    """The node without the last `rest` children, which belong to the symbol that inlined it."""
    return Node(node.terminal, node.children[: len(node.children) - rest])


def chain(node: Node | None) -> Iterator[Node]:
    """The elements of a list symbol: each element's last child is the rest of the list."""
    while node is not None:
        yield node
        node = node.children[-1]


def distinct(conditions: Iterable[Node]) -> list[Node]:
    """Conditions that AND puts together, each once."""
    return list(dict.fromkeys(conditions))


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
