"""Conditions of WHERE, HAVING, CASE and the select list, and the order of what AND joins."""

from __future__ import annotations

from sqlglot import exp

from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.nodes import (
    COMPARISONS,
    check_sayable,
    is_literal,
    literal_last,
    months_in_days,
    read_pattern,
    unparen,
)
from fastsql.grammar.convert.times import time_condition
from fastsql.grammar.convert.values import Values
from fastsql.grammar.program import ColumnRef, Literal, Production, Terminal
from fastsql.grammar.render import PARTS

_OPPOSITES = {
    "in": "not_in",
    "in_list": "not_in_list",
    "between": "not_between",
    "is_null": "not_null",
    **{name: f"not_{name}" for name in ("contains", "begins", "ends", "like")},
    **{f"not_{name}": name for name in ("contains", "begins", "ends", "like")},
}
# Conditions are ordered by what they are: restrictions through other tables, then plain ones, then those of time.
_RANKS = {"in": 0, "not_in": 0, "in_list": 1, "not_in_list": 1, "not_between": 1, "is_null": 2, "not_null": 2}
_RANKS |= {"not_begins": 1, "not_ends": 1, "not_like": 1}


class Conditions(Values):
    """Writes the terminals of conditions."""

    def condition(self, node: exp.Expr, *, dates: bool = True) -> list[Terminal]:
        """A condition; `dates`: a part of a time is compared with a date, as in WHERE, not with any text."""
        node = literal_last(unparen(node))
        check_sayable(node)
        timed = time_condition(node)
        if timed is not None and (dates or not any(date.format in PARTS.values() for date in timed.rest)):
            return [
                Production(timed.name),
                *(t for column in timed.columns for t in self.value(column)),
                *timed.rest,
            ]
        if isinstance(node, exp.Not):
            return self._negation(node)
        if type(node) in COMPARISONS:
            return [Production(COMPARISONS[type(node)]), *self.value(node.this), *self.value(node.expression)]
        if isinstance(node, exp.Between):
            parts = [self.value(node.this), self.value(node.args["low"]), self.value(node.args["high"])]
            return [Production("between"), *(t for part in parts for t in part)]
        if isinstance(node, exp.In):
            return self._membership(node)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return [Production("is_null"), *self.value(node.this)]
        if isinstance(node, (exp.Like, exp.Escape)):
            return self._likeness(node)
        if isinstance(node, (exp.Or, exp.And)):
            name = "or" if isinstance(node, exp.Or) else "and"
            return [Production(name), *self.condition(node.this), *self.condition(node.expression)]
        raise ConversionError(f"condition {type(node).__name__}")

    def _likeness(self, node: exp.Expr) -> list[Terminal]:
        escape, like = "", node
        if isinstance(node, exp.Escape):
            escape, like = node.expression.name, node.this
            check_sayable(like)
        pattern = like.expression.name if isinstance(like.expression, exp.Literal) else ""
        read = read_pattern(pattern, escape) if isinstance(like, exp.Like) else None
        if read is None or not isinstance(like.expression, exp.Literal):
            raise ConversionError("LIKE with a wildcard inside its pattern, or of another value")
        name, text = read
        return [
            Production(f"not_{name}" if like.args.get("negate") else name),
            *self.value(like.this),
            Literal(text),
        ]

    def _membership(self, node: exp.In) -> list[Terminal]:
        if node.args.get("query") is not None:
            return [Production("in"), *self.value(node.this), *self.query(node.args["query"])]
        if not node.expressions or not all(
            is_literal(e) or months_in_days(unparen(e)) is not None for e in node.expressions
        ):
            raise ConversionError("IN with other than literals or a query")
        written = [Production("in_list"), *self.value(node.this), *self.value(node.expressions[0])]
        for element in node.expressions[1:]:
            written += [Production("also"), *self.value(element)]
        return written

    def _negation(self, node: exp.Not) -> list[Terminal]:
        inner = self.condition(node.this)
        head = inner[0]
        assert isinstance(head, Production)
        if head.name in _OPPOSITES:
            return [Production(_OPPOSITES[head.name]), *inner[1:]]
        return [Production("not"), *inner]


def conjunct_rank(terminals: list[Terminal]) -> tuple[int, str]:
    """Place of a conjunct in the canonical order: by kind, then by the columns it names."""
    head = terminals[0]
    assert isinstance(head, Production)
    through_query = head.name in ("in", "not_in") or any(t == Production("scalar") for t in terminals[:4])
    kind = 0 if through_query else _RANKS.get(head.name, 3 if "_" in head.name else 1)
    shape = " ".join("literal" if isinstance(t, Literal) else repr(t) for t in terminals)
    columns = " ".join(f"{t.column:05d}" for t in terminals[:3] if isinstance(t, ColumnRef))
    return kind, columns + shape
