"""Reading single nodes of a sqlglot tree: what the grammar can say of them, parentheses, literals, patterns."""

from __future__ import annotations

import re

from sqlglot import exp

from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.program import Literal, Terminal

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
}
ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divide",
    exp.Mod: "modulo",
}
_MIRRORED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_SAYABLE: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        {
            "with_",
            "expressions",
            "distinct",
            "from_",
            "joins",
            "where",
            "group",
            "having",
            "order",
            "limit",
            "offset",
        }
    ),
    exp.SetOperation: frozenset({"with_", "this", "expression", "distinct"}),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.Table: frozenset({"this", "alias", "db", "catalog"}),
    exp.Join: frozenset({"this", "on", "side", "kind", "using"}),
    exp.Group: frozenset({"expressions"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Window: frozenset({"this", "partition_by", "order", "over"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Is: frozenset({"this", "expression"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
}
"""What of a node the grammar can say; whatever else sqlglot has read is a reason to refuse, never to be dropped."""


def check_sayable(node: exp.Expr) -> None:
    """Raises ConversionError for a node with a part that the grammar cannot say."""
    kind = exp.SetOperation if isinstance(node, exp.SetOperation) else type(node)
    if kind in _SAYABLE:
        for name, part in node.args.items():
            if part and name not in _SAYABLE[kind]:
                raise ConversionError(f"{name.rstrip('_')} of {kind.__name__}")


def unparen(node: exp.Expr) -> exp.Expr:
    """The node inside any parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def unalias(node: exp.Expr) -> exp.Expr:
    """A select item without its alias."""
    return node.this if isinstance(node, exp.Alias) else node


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """What AND joins, however nested; a TRUE on its own is nothing."""
    node = unparen(node)
    if isinstance(node, exp.And):
        return conjuncts(node.this) + conjuncts(node.expression)
    return [] if isinstance(node, exp.Boolean) and node.this else [node]


def is_literal(node: exp.Expr) -> bool:
    """Whether a node is a literal, or a negated one."""
    return isinstance(unparen(node), (exp.Literal, exp.Neg))


def literal_last(node: exp.Expr) -> exp.Expr:
    """A comparison whose literal, if it has one, stands on the right; anything else as it is."""
    if type(node) in _MIRRORED and is_literal(node.this) and not is_literal(node.expression):
        return _MIRRORED[type(node)](this=node.expression, expression=node.this)
    return node


def literal(node: exp.Expr) -> Terminal:
    """The terminal of a literal, or of a negated number."""
    if isinstance(node, exp.Neg):
        inner = node.this
        if not isinstance(inner, exp.Literal) or inner.is_string:
            raise ConversionError("negation of an expression")
        return Literal(-_number(inner.this))
    return Literal(str(node.this)) if node.is_string else Literal(_number(str(node.this)))


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"\d+", text) else float(text)


def whole_number(node: exp.Expr) -> list[Terminal]:
    """The number of LIMIT or OFFSET."""
    if not isinstance(node, exp.Literal) or node.is_string:
        raise ConversionError("LIMIT or OFFSET that is not a number")
    return [Literal(_number(str(node.this)))]


def place(node: exp.Expr | None, function: str = "SUBSTR") -> list[Terminal]:
    """A position or length in a text, or another whole number that a function takes."""
    node = None if node is None else unparen(node)
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdecimal():
        raise ConversionError(f"{function} at other than written places")
    return [Literal(int(node.this))]


def read_pattern(pattern: str, escape: str) -> tuple[str, str] | None:
    """Name and text of a LIKE pattern `%text%`, `text%`, `%text` or `text`; None for another pattern."""
    if pattern == "%":
        return "begins", ""
    before = pattern.startswith("%")
    plain, position, after = "", int(before), False
    while position < len(pattern):
        if escape and pattern[position] == escape:
            position += 1
        elif pattern[position] in "%_":
            after = pattern[position] == "%" and position == len(pattern) - 1
            if not after:
                return None
            break
        plain += pattern[position : position + 1]
        position += 1
    if position > len(pattern):
        return None  # it ends with its escape character
    return {(True, True): "contains", (False, True): "begins", (True, False): "ends"}.get(
        (before, after), "like"
    ), plain


def months_in_days(node: exp.Expr) -> int | None:
    """Months in `1 * 365/4`, the data sets' way of writing a span of months in days, and in `365 * 3 / 12`, ours."""
    if type(node) not in ARITHMETIC:
        return None
    written = node.sql(dialect="sqlite")
    if ours := re.fullmatch(r"365 \* (\d+) / 12", written):
        return int(ours[1])
    match = re.fullmatch(r"(?:1 \* )?365(?: / (\d+))?", written)
    divisor = int(match[1] or 1) if match else 0
    return 12 // divisor if divisor and 12 % divisor == 0 else None
