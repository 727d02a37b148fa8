"""Conditions, those of the calendar among them."""

from __future__ import annotations

from sqlglot import exp

from fastsql.grammar.program import Literal, Node
from fastsql.grammar.render.pieces import COMPARISONS, chain, child, datetime, negated, some, strftime
from fastsql.grammar.render.values import Values

PATTERNS = {"contains": "%{}%", "begins": "{}%", "ends": "%{}", "like": "{}"}
"""LIKE patterns around a text."""


class Conditions(Values):
    """Writes conditions."""

    def condition(self, node: Node) -> exp.Expr:
        """A condition of WHERE, HAVING, CASE or a boolean select item."""
        name, parts = node.name, node.children
        if name in COMPARISONS:
            sides = [some(parts[0]), some(parts[1])]
            left, right = self.operands(sides, ordering=name not in ("eq", "ne"))
            return COMPARISONS[name](this=left, expression=right)
        if name in ("between", "not_between"):
            operand, low, high = self.operands([some(part) for part in parts], ordering=True)
            return negated(exp.Between(this=operand, low=low, high=high), name == "not_between")
        if name in ("in", "not_in"):
            return negated(self.membership(some(parts[0]), some(parts[1])), name == "not_in")
        if name in ("in_list", "not_in_list"):
            operand, *literals = self.operands(
                [some(parts[0]), some(parts[1]), *(child(n, 0) for n in chain(parts[2]))]
            )
            return negated(exp.In(this=operand, expressions=literals), name == "not_in_list")
        if name.removeprefix("not_") in PATTERNS:
            return negated(self.likeness(node), name.startswith("not_"))
        if name in ("is_null", "not_null"):
            return negated(
                exp.Is(this=self.operand(some(parts[0])), expression=exp.Null()), name == "not_null"
            )
        if name in ("or", "and"):
            join = exp.Or if name == "or" else exp.And
            return exp.paren(
                join(this=self.condition(some(parts[0])), expression=self.condition(some(parts[1]))),
                copy=False,
            )
        if name == "not":
            inner = self.condition(some(parts[0]))
            return exp.Not(this=inner if isinstance(inner, exp.Paren) else exp.paren(inner, copy=False))
        return self.time_condition(node)

    def membership(self, node: Node, query: Node) -> exp.Expr:
        """A value among the rows of a query."""
        members = self.query(query).subquery(copy=False)
        return exp.In(this=self.operand(node), query=members)

    def likeness(self, node: Node) -> exp.Expr:
        """A text that contains, begins with, ends with or is like another."""
        text = child(node, 1).terminal
        assert isinstance(text, Literal)
        escaped = str(text.value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        pattern = PATTERNS[node.name.removeprefix("not_")].format(escaped)
        like = exp.Like(this=self.operand(child(node, 0)), expression=exp.Literal.string(pattern))
        if escaped == str(text.value):
            return like
        return exp.Escape(this=like, expression=exp.Literal.string("\\"))

    def time_condition(self, node: Node) -> exp.Expr:
        """A condition of the calendar."""
        verb, _, unit = node.name.partition("_")
        first = self.value(child(node, 0))
        if verb == "in":
            period = f"start of {unit}"
            back = exp.Literal.string(f"-{self.count(child(node, 1))} {unit}")
            return exp.EQ(
                this=datetime(first, exp.Literal.string(period)),
                expression=datetime(self.moment_now(), exp.Literal.string(period), back),
            )
        if verb in ("since", "until"):
            back = exp.Literal.string(f"-{self.count(child(node, 1))} {unit}")
            kind = exp.GTE if verb == "since" else exp.LTE
            return kind(this=datetime(first), expression=datetime(self.moment_now(), back))
        if verb == "date":
            date = child(node, 1).terminal
            assert isinstance(date, Literal)
            return COMPARISONS[unit](
                this=strftime(date.format, first), expression=exp.Literal.string(str(date.value))
            )
        second = self.value(child(node, 1))
        if verb == "within":
            ahead = exp.Literal.string(f"+{self.count(child(node, 2))} {unit}")
            return exp.Between(
                this=datetime(first), low=datetime(second), high=datetime(second.copy(), ahead)
            )
        assert verb == "same"
        modifiers = [] if unit == "time" else [f"start of {unit}"]
        one, two = ([exp.Literal.string(m) for m in modifiers] for _ in range(2))
        return exp.EQ(this=datetime(first, *one), expression=datetime(second, *two))
