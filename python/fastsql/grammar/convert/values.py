"""Values: columns, literals, aggregates, computations, scalar subqueries."""

from __future__ import annotations

from abc import abstractmethod

from sqlglot import exp

from fastsql.grammar.convert.dates import Back, between, computed_date, concatenated, written_moment
from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.names import Names
from fastsql.grammar.convert.nodes import (
    ARITHMETIC,
    literal,
    months_in_days,
    place,
    unparen,
)
from fastsql.grammar.convert.times import DATE_SHAPES, Moment, is_now, julian, read_format
from fastsql.grammar.program import SMALL, ColumnRef, Literal, Production, Terminal
from fastsql.grammar.render import PARTS

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
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Abs: "abs",
    exp.Upper: "upper",
    exp.Lower: "lower",
    exp.Length: "length",
}
"""Functions of one value."""
_YEARS: dict[type[exp.Expr], str] = {exp.Year: "year_of", exp.Month: "month_of", exp.Day: "day_of"}
"""Parts of a time as numbers, which SQLite has as texts."""


def cast_name(node: exp.Cast) -> str:
    """The production of CAST to a type, by the affinity that SQLite gives it."""
    kind = node.args["to"].this
    for name, kinds in _CASTS.items():
        if kind in kinds:
            return name
    raise ConversionError("CAST to another type than REAL, INTEGER or TEXT")


_NONE = exp.Literal.number(0)


def _is_space(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string and node.this == " "


def _without_date(node: exp.Expr) -> exp.Expr:
    """A time, without the functions around it that only say that it is one."""
    while isinstance(node, (exp.Date, exp.TsOrDsToDate, exp.TsOrDsToTimestamp)) and node.this is not None:
        node = node.this
    return node


class Values(Names):
    """Writes the terminals of values."""

    @abstractmethod
    def query(self, node: exp.Expr) -> list[Terminal]:
        """A query, without the parentheses around it."""

    @abstractmethod
    def condition(self, node: exp.Expr, *, dates: bool = True) -> list[Terminal]:
        """A condition; `dates`: a part of a time is compared with a date, as in WHERE, not with any text."""

    @abstractmethod
    def window(self, node: exp.Window) -> list[Terminal]:
        """A window, where an expression holds one."""

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
        if isinstance(node, exp.Boolean):
            return [Literal(int(node.this))]
        if isinstance(node, exp.Window):
            return self.window(node)
        if isinstance(node, exp.Substring):
            return self._substring(node)
        function = self._function(node)
        return function if function is not None else self._computed(node)

    def _function(self, node: exp.Expr) -> list[Terminal] | None:
        """A function of values, or None for anything else."""
        if type(node) in _FUNCTIONS:
            return [Production(_FUNCTIONS[type(node)]), *self.value(node.this)]
        if type(node) in _YEARS:
            return [Production("as_integer"), *self._part(_YEARS[type(node)], _without_date(node.this))]
        if isinstance(node, exp.Nullif):
            return [Production("nullif"), *self.value(node.this), *self.value(node.expression)]
        if isinstance(node, exp.Coalesce):
            *firsts, last = [node.this, *node.expressions]
            return [t for one in firsts for t in (Production("coalesce"), *self.value(one))] + self.value(
                last
            )
        if isinstance(node, exp.Round):
            return [
                Production("round"),
                *self.value(node.this),
                *place(node.args.get("decimals") or _NONE, "ROUND"),
            ]
        if isinstance(node, (exp.DPipe, exp.Concat)):
            return self._concatenation(concatenated(node))
        return None

    def _concatenation(self, parts: list[exp.Expr]) -> list[Terminal]:
        """Texts put together; a space in between comes with the production.

        Raises ConversionError for other than columns, counts and written texts, which could grow without bound.
        """
        written: list[Terminal] = []
        for number, part in enumerate(parts):
            space, last = _is_space(part), number == len(parts) - 1
            if space and number > 0 and not last and not _is_space(parts[number - 1]):
                continue  # said by the production before it
            if not last:
                spaced = _is_space(parts[number + 1]) and number + 2 < len(parts)
                written.append(Production("concat_space" if spaced and not space else "concat"))
            written += self._piece(unparen(part))
        return written

    def _piece(self, node: exp.Expr) -> list[Terminal]:
        if isinstance(node, exp.Cast) and cast_name(node) == "as_text":
            node = unparen(node.this)  # || reads anything as text
        if isinstance(node, exp.Literal):
            text = str(node.this)
            small = not node.is_string and text in map(str, SMALL.values())
            return [literal(node) if small else Literal(text)]
        written = self.value(node) if isinstance(node, (exp.Column, exp.Count)) else []
        if not written or (isinstance(node, exp.Column) and not isinstance(written[0], ColumnRef)):
            raise ConversionError(f"{type(node).__name__} in a text put together")
        return written

    def _computed(self, node: exp.Expr) -> list[Terminal]:
        """Arithmetic, times, and conditions as values."""
        months = months_in_days(node)
        if months is not None:
            return [Production("months_as_days"), Literal(months)]
        span = julian(node) or between(node)
        if span is not None:
            return [Production(span.name), *self._moment(span.later), *self._moment(span.earlier)]
        if type(node) in ARITHMETIC:
            right = unparen(node.expression)
            if isinstance(node, exp.Div) and isinstance(right, exp.Nullif) and right.expression.name == "0":
                right = right.this  # by zero gives NULL anyway
            return [Production(ARITHMETIC[type(node)]), *self.value(node.this), *self.value(right)]
        date = computed_date(node)
        if isinstance(date, Back):
            return [Production(date.name), Literal(date.periods)]
        if date is not None:
            return [Production(date.name), *self.value(date.time)]
        form = read_format(node)
        if form is not None and form[0] in _PART_NAMES:
            return self._part(_PART_NAMES[form[0]], form[1])
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

    def _part(self, name: str, time: exp.Expr) -> list[Terminal]:
        if name == "year_of" and is_now(time):
            return [Production("this_year")]
        return [Production(name), *self.value(time)]

    def _moment(self, moment: Moment) -> list[Terminal]:
        if moment is None:
            return [Production("now")]
        written = written_moment(moment, DATE_SHAPES)
        return self.value(moment) if written is None else [Production("on_date"), written]

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
