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
    place,
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
_CASTS = {
    "as_real": {exp.DType.FLOAT, exp.DType.DOUBLE},
    "as_integer": {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT},
    "as_text": {exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR},
}
_PART_NAMES = {form: name for name, form in PARTS.items()}


def cast_name(node: exp.Cast) -> str:
    """The production of CAST to a type, by the affinity that SQLite gives it."""
    kind = node.args["to"].this
    for name, kinds in _CASTS.items():
        if kind in kinds:
            return name
    raise ConversionError("CAST to another type than REAL, INTEGER or TEXT")


class Values(Names):
    """Writes the terminals of values."""

    @abstractmethod
    def query(self, node: exp.Expr) -> list[Terminal]:
        """A query, without the parentheses around it."""

    @abstractmethod
    def condition(self, node: exp.Expr, *, dates: bool = True) -> list[Terminal]:
        """A condition; `dates`: a part of a time is compared with a date, as in WHERE, not with any text."""

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
        if isinstance(node, exp.Cast):
            return [Production(cast_name(node)), *self.value(node.this)]
        if isinstance(node, exp.Substring):
            return self._substring(node)
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
        if isinstance(node, (exp.Predicate, exp.Not, exp.Connector)) and not isinstance(
            node, exp.SubqueryPredicate
        ):
            return [Production("holds"), *self.condition(node)]
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
        if isinstance(default, exp.Null):
            default = None
        written: list[Terminal] = []
        for branch in branches:
            when = branch.this
            if isinstance(node, exp.Case) and node.this is not None:
                when = exp.EQ(this=node.this.copy(), expression=when)
            last = default is None and branch is branches[-1]
            written += [Production("when" if last else "case"), *self.condition(when)]
            written += self.value(branch.args["true"])
        return written if default is None else written + self.value(default)

    def _substring(self, node: exp.Substring) -> list[Terminal]:
        """SUBSTR of a column, at places that are numbers."""
        start, length = node.args.get("start"), node.args.get("length")
        column = unparen(node.this)
        if not isinstance(column, exp.Column) or self.find(column) is None:
            raise ConversionError("SUBSTR of other than a column")
        if length is None and isinstance(start, exp.Neg):
            return [Production("last_characters"), self.column(column), *place(start.this)]
        places = [*place(start), *([] if length is None else place(length))]
        return [Production("substring_from" if length is None else "substring"), self.column(column), *places]

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
