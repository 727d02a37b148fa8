"""Arithmetic in words: differences and ratios of amounts that belong together, and shares of rows."""

from __future__ import annotations

import random
from collections.abc import Callable

from sqlglot import exp

from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.clauses import counts_rows
from fastsql.synthesis.schema.kinds import AMOUNT
from fastsql.synthesis.schema.words import UnsayableError, Words

SayItem = Callable[[exp.Expr], str]
"""Says an operand as a select item: "average cost"."""
SayRows = Callable[[exp.Expr], str]
"""Says the rows that meet a condition: "visits whose cost is above 5"."""


class Arithmetic:
    """Puts minus, divide and counts of what meets a condition into words."""

    def __init__(self, words: Words, rng: random.Random) -> None:
        self._words = words
        self._rng = rng

    def say(self, node: exp.Expr, item: SayItem, rows: SayRows, *, many: bool) -> str:
        """An expression. Raises UnsayableError where its operands are not of one group, or whole numbers are divided."""
        node = _bare(node)
        condition = counted_condition(node)
        if condition is not None:
            return f"number of {rows(condition)}"
        s = "s" if many else ""
        match node:
            case exp.Sub(this=left, expression=right):
                one, other = self._operands(left, right, item, rows)
                return f"{self._any(f'difference{s} between')} the {one} and the {other}"
            case exp.Div(this=left, expression=right) if node.find(exp.Cast):
                share = self._share(left, right, rows)
                if share:
                    return share
                one, other = self._operands(left, right, item, rows)
                return f"ratio{s} of the {one} to the {other}"
        raise UnsayableError(type(node).__name__)

    def _share(self, left: exp.Expr, right: exp.Expr, rows: SayRows) -> str:
        """As "percentage of visits whose cost is above 5"; empty for another ratio."""
        product = _bare(left)
        factors = [_bare(product.this), _bare(product.expression)] if isinstance(product, exp.Mul) else []
        parts = [one for one in factors if not (isinstance(one, exp.Literal) and one.name == "100")]
        if len(factors) != 2 or len(parts) != 1:
            return ""
        condition = counted_condition(parts[0])
        if condition is None or not counts_rows(_bare(right)):
            return ""
        return f"{self._any('percentage|share in percent')} of {rows(condition)}"

    def _operands(self, left: exp.Expr, right: exp.Expr, item: SayItem, rows: SayRows) -> tuple[str, str]:
        left, right = _bare(left), _bare(right)
        conditions = [counted_condition(side) for side in (left, right)]
        if all(one is not None for one in conditions):
            one, other = (f"number of {rows(condition)}" for condition in conditions if condition is not None)
            return one, other
        if type(left) is not type(right) and {type(left), type(right)} != {exp.Max, exp.Min}:
            raise UnsayableError("arithmetic of unlike operands")
        columns = [side.this if isinstance(side, exp.AggFunc) else side for side in (left, right)]
        if left == right or (type(left) is not type(right) and columns[0] != columns[1]):
            raise UnsayableError("arithmetic of unlike operands")
        if not all(isinstance(one, exp.Column) and self._words.kind(one) == AMOUNT for one in columns):
            raise UnsayableError("arithmetic of no amounts")
        groups = {self._words.group(one) for one in columns if isinstance(one, exp.Column)}
        if columns[0] != columns[1] and (len(groups) > 1 or "" in groups):
            raise UnsayableError("arithmetic of amounts that do not belong together")
        return item(left), item(right)

    def _any(self, pattern: str) -> str:
        return expand(pattern, self._rng)


def counted_condition(node: exp.Expr) -> exp.Expr | None:
    """The condition of a sum or count of 1 for each row that meets it; None for anything else."""
    if not isinstance(node, (exp.Sum, exp.Count)):
        return None
    inner = _bare(node.this)
    if not isinstance(inner, exp.Case) or inner.this is not None or len(inner.args["ifs"]) != 1:
        return None
    branch, default = inner.args["ifs"][0], inner.args.get("default")
    ends = (branch.args["true"].name, "" if default is None else default.name)
    if ends == ("1", "0") and isinstance(node, exp.Sum):
        return _condition(branch)
    if ends[0] == "1" and default is None and isinstance(node, exp.Count):
        return _condition(branch)
    return None


def _condition(branch: exp.Expr) -> exp.Expr:
    condition: exp.Expr = branch.this
    return condition


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, (exp.Paren, exp.Cast)):
        node = node.this
    return node
