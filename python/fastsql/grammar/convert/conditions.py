"""Conditions of WHERE, HAVING, CASE and the select list, and the order of what AND joins."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from sqlglot import exp

from fastsql.grammar.convert.dates import concatenated
from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.existence import correlation
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
from fastsql.grammar.convert.windows import Windows
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
_RANKS |= {"not_begins": 1, "not_ends": 1, "not_like": 1, "contains_value": 1}


class Conditions(Windows):
    """Writes the terminals of conditions."""

    def condition(self, node: exp.Expr, *, dates: bool = True) -> list[Terminal]:
        """A condition; `dates`: a part of a time is compared with a date, as in WHERE, not with any text."""
        plain = _is_plain(node)
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
        if isinstance(node, exp.Exists):
            # The same as IN, but under NOT: where the value is NULL, IN is neither true nor false.
            below = itertools.takewhile(lambda n: not isinstance(n, exp.Query), _ancestors(node))
            heads = ("not", "not_exists") if any(isinstance(n, exp.Not) for n in below) else ("in",)
            return [*map(Production, heads), *self._correlated(node)]
        if isinstance(node, exp.Column):
            return self._truth(node)
        if (
            isinstance(node, exp.GT)
            and isinstance(unparen(node.this), exp.StrPosition)
            and node.expression.name == "0"
        ):
            return self._containment(unparen(node.this))
        caseless = _caseless(node) if plain else None
        if caseless is not None:
            value, text = caseless
            return [Production("not_like" if isinstance(node, exp.NEQ) else "like"), *self.value(value), text]
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

    def _containment(self, node: exp.Expr) -> list[Terminal]:
        """`INSTR(LOWER(text), LOWER(part)) > 0`, which minds no case, as LIKE does not."""
        sides = node.this, node.args["substr"]
        if not all(isinstance(unparen(side), (exp.Lower, exp.Upper)) for side in sides):
            raise ConversionError("INSTR that minds case")
        return [Production("contains_value"), *(t for side in sides for t in self.value(_folded(side)))]

    def _correlated(self, node: exp.Expr) -> list[Terminal]:
        outer, query = correlation(node, self.schema)
        return [*self.value(outer), *self.query(query)]

    def _truth(self, node: exp.Column) -> list[Terminal]:
        """A column as a condition: whether it is true, or a number other than 0."""
        column = self.value(node)
        found = column[0]
        kind = self.schema.columns[found.column].type if isinstance(found, ColumnRef) else ""
        if kind not in ("boolean", "number"):
            raise ConversionError("condition Column")
        return (
            [Production("eq"), *column, Literal(1)]
            if kind == "boolean"
            else [Production("ne"), *column, Literal(0)]
        )

    def _likeness(self, node: exp.Expr) -> list[Terminal]:
        escape, like = "", node
        if isinstance(node, exp.Escape):
            escape, like = node.expression.name, node.this
            check_sayable(like)
        if not isinstance(like, exp.Like):
            raise ConversionError(f"condition {type(like).__name__}")
        # LIKE does not mind case, whatever is done about it on either side.
        value, pattern = _folded(like.this), _folded(like.expression)
        if isinstance(pattern, exp.Literal):
            read = read_pattern(str(pattern.this), escape)
            if read is None:
                raise ConversionError("LIKE with a wildcard inside its pattern")
            name, text = read
            written = [*self.value(value), Literal(text)]
        else:
            parts = concatenated(pattern)
            if len(parts) != 3 or not all(
                isinstance(p, exp.Literal) and p.this == "%" for p in (parts[0], parts[2])
            ):
                raise ConversionError("LIKE with a pattern that is computed")
            name, written = "contains_value", [*self.value(value), *self.value(_folded(parts[1]))]
        if not like.args.get("negate"):
            return [Production(name), *written]
        negated = _OPPOSITES.get(name)
        return [Production(negated), *written] if negated else [Production("not"), Production(name), *written]

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
        negated = unparen(node.this)
        if isinstance(negated, exp.Exists):
            return [Production("not_exists"), *self._correlated(negated)]
        inner = self.condition(node.this)
        head = inner[0]
        assert isinstance(head, Production)
        if head.name in _OPPOSITES:
            return [Production(_OPPOSITES[head.name]), *inner[1:]]
        return [Production("not"), *inner]


def _is_plain(node: exp.Expr) -> bool:
    """Whether a condition stands in WHERE, ON or WHEN, not as a value or in HAVING, where LIKE is not said."""
    while isinstance(node.parent, (exp.And, exp.Or, exp.Not, exp.Paren)):
        node = node.parent
    return isinstance(node.parent, (exp.Where, exp.Join)) or (
        isinstance(node.parent, exp.If) and node.arg_key == "this"
    )


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    while node.parent is not None:
        node = node.parent
        yield node


def _folded(node: exp.Expr) -> exp.Expr:
    """A text without the functions around it that change the case of its letters."""
    node = unparen(node)
    while isinstance(node, (exp.Lower, exp.Upper)):
        node = unparen(node.this)
    return node


def _caseless(node: exp.Expr) -> tuple[exp.Expr, Literal] | None:
    """Value and text of `LOWER(value) = 'text'`, where LOWER could give the text; None for anything else.

    SQLite's LIKE minds case no more than its LOWER does, so it says the same.
    """
    if not isinstance(node, (exp.EQ, exp.NEQ)) or not isinstance(unparen(node.this), (exp.Lower, exp.Upper)):
        return None
    text, fold = _folded(node.expression), unparen(node.this)
    if not isinstance(text, exp.Literal) or not text.is_string:
        return None
    written = str(text.this)
    folded = isinstance(unparen(node.expression), (exp.Lower, exp.Upper))
    if not folded and written != (written.lower() if isinstance(fold, exp.Lower) else written.upper()):
        return None
    return _folded(node.this), Literal(written)


def conjunct_rank(terminals: list[Terminal]) -> tuple[int, str]:
    """Place of a conjunct in the canonical order: by kind, then by the columns it names."""
    head = terminals[0]
    assert isinstance(head, Production)
    through_query = head.name in ("in", "not_in", "not_exists") or any(
        t == Production("scalar") for t in terminals[:4]
    )
    kind = 0 if through_query else _RANKS.get(head.name, 3 if "_" in head.name else 1)
    shape = " ".join("literal" if isinstance(t, Literal) else repr(t) for t in terminals)
    columns = " ".join(f"{t.column:05d}" for t in terminals[:3] if isinstance(t, ColumnRef))
    return kind, columns + shape
