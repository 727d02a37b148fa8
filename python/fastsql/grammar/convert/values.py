"""Values: columns, literals, aggregates, computations, scalar subqueries, windows."""

from __future__ import annotations

from abc import abstractmethod

from sqlglot import exp

from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.names import Names
from fastsql.grammar.convert.nodes import (
    ARITHMETIC,
    check_sayable,
    literal,
    months_in_days,
    unparen,
)
from fastsql.grammar.convert.times import Moment, julian, read_format
from fastsql.grammar.program import Literal, Production, Terminal
from fastsql.grammar.render import PARTS

_WINDOWS: dict[type[exp.Expr], str] = {
    exp.DenseRank: "dense_rank",
    exp.Rank: "rank",
    exp.RowNumber: "row_number",
    exp.PercentRank: "percent_rank",
}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_PART_NAMES = {form: name for name, form in PARTS.items()}


class Values(Names):
    """Writes the terminals of values."""

    @abstractmethod
    def query(self, node: exp.Expr) -> list[Terminal]:
        """A query, without the parentheses around it."""

    @abstractmethod
    def condition(self, node: exp.Expr, *, calendar: bool = True) -> list[Terminal]:
        """A condition of WHERE or CASE, or, without calendar arithmetic, one of HAVING or SELECT."""

    def value(self, node: exp.Expr) -> list[Terminal]:
        """A column, literal, aggregate, computation or scalar subquery."""
        node = unparen(node)
        if isinstance(node, exp.Column):
            return self._named(node)
        if isinstance(node, (exp.Literal, exp.Neg)):
            return [literal(node)]
        if isinstance(node, (exp.Subquery, exp.Select)):
            return [Production("scalar"), *self.query(node)]
        if type(node) in _AGGREGATES:
            return self._aggregate(node)
        if isinstance(node, (exp.Case, exp.If)):
            return self._case(node)
        months = months_in_days(node)
        if months is not None:
            return [Production("months_as_days"), Literal(months)]
        span = julian(node)
        if span is not None:
            return [Production(span.name), *self._moment(span.later), *self._moment(span.earlier)]
        if type(node) in ARITHMETIC:
            return [Production(ARITHMETIC[type(node)]), *self.value(node.this), *self.value(node.expression)]
        form = read_format(node)
        if form is not None and form[0] in _PART_NAMES:
            return [Production(_PART_NAMES[form[0]]), *self.value(form[1])]
        if isinstance(node, exp.Anonymous):
            raise ConversionError(f"function {node.name.upper()}")
        raise ConversionError(f"value {type(node).__name__}")

    def _named(self, node: exp.Column) -> list[Terminal]:
        meant = self.name(node)
        if isinstance(meant, list):
            return meant
        scope, items = self.scope, self.scope.items
        scope.items = [item for item in items if item.alias.lower() != node.name.lower()]
        try:
            return self.value(meant)
        finally:
            scope.items = items

    def _moment(self, moment: Moment) -> list[Terminal]:
        return [Production("now")] if moment is None else self.value(moment)

    def _aggregate(self, node: exp.Expr) -> list[Terminal]:
        name, inner = _AGGREGATES[type(node)], node.this
        # Numbers are never NULL: COUNT(1) counts rows.
        if isinstance(inner, exp.Star) or (name == "count" and isinstance(inner, exp.Literal)):
            return [Production("count_all")]
        if len(node.expressions) > 0:
            raise ConversionError(f"{name} of several values")
        if isinstance(inner, exp.Distinct):
            if len(inner.expressions) != 1:
                raise ConversionError(f"{name} DISTINCT of several values")
            name = name if name in ("min", "max") else f"{name}_distinct"
            inner = inner.expressions[0]
        return [Production(name), *self.value(inner)]

    def _case(self, node: exp.Expr) -> list[Terminal]:
        """CASE and IIF: one condition a production, the next one in the place of ELSE."""
        branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
        default = node.args.get("false" if isinstance(node, exp.If) else "default")
        if default is None:
            raise ConversionError("CASE without ELSE")
        written: list[Terminal] = []
        for branch in branches:
            when = branch.this
            if isinstance(node, exp.Case) and node.this is not None:
                when = exp.EQ(this=node.this.copy(), expression=when)
            written += [Production("case"), *self.condition(when), *self.value(branch.args["true"])]
        return written + self.value(default)

    def window(self, node: exp.Window) -> list[Terminal]:
        """A rank over one sort key."""
        check_sayable(node)
        order = node.args.get("order")
        if type(node.this) not in _WINDOWS or order is None or len(order.expressions) != 1:
            raise ConversionError("window other than a rank")
        written: list[Terminal] = [Production(_WINDOWS[type(node.this)])]
        for key in node.args.get("partition_by") or []:
            written += [Production("partition"), *self.value(key)]
        return written + self.ordered(order.expressions[0])

    def ordered(self, node: exp.Expr) -> list[Terminal]:
        """A sort key with its direction."""
        check_sayable(node)
        descending = bool(node.args.get("desc"))
        if bool(node.args.get("nulls_first")) == descending:
            raise ConversionError("NULLS FIRST or NULLS LAST")
        return [Production("desc" if descending else "asc"), *self.value(node.this)]
