"""Values: columns, literals, aggregates, computations, scalar subqueries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from fastsql.grammar.clauses import child, some
from fastsql.grammar.program import SMALL, ColumnRef, DerivedRef, Literal, Node
from fastsql.grammar.render.names import SQLITE, Naming
from fastsql.grammar.render.pieces import (
    ARITHMETIC,
    COMPARISONS,
    arithmetic,
    concatenation,
    literal,
    strftime,
)

if TYPE_CHECKING:
    from fastsql.schema import Schema

AGGREGATES: dict[str, tuple[type[exp.AggFunc], bool]] = {
    "count": (exp.Count, False),
    "count_distinct": (exp.Count, True),
    "sum": (exp.Sum, False),
    "sum_distinct": (exp.Sum, True),
    "avg": (exp.Avg, False),
    "avg_distinct": (exp.Avg, True),
    "min": (exp.Min, False),
    "max": (exp.Max, False),
}
PARTS = {
    "year_of": "%Y",
    "month_of": "%m",
    "day_of": "%d",
    "year_month_of": "%Y-%m",
    "date_of": "%Y-%m-%d",
    "month_day_of": "%m-%d",
    "hour_of": "%H",
    "weekday_of": "%w",
}
"""Parts of a time, as strftime formats."""

NOW = "now"
"""The moment of execution, in SQLite's words."""


STARTS = {"year_start": "year", "quarter_start": "quarter", "month_start": "month", "week_start": "week"}
"""Units to whose first day a production goes back; with `_back` behind it, so many of them before today."""
BACKS = {"year_back": "year", "month_back": "month", "day_back": "day"}
FUNCTIONS: dict[str, type[exp.Func]] = {
    "abs": exp.Abs,
    "upper": exp.Upper,
    "lower": exp.Lower,
    "length": exp.Length,
}
"""Functions of one value."""

CASTS = {"as_real": exp.DType.DOUBLE, "as_integer": exp.DType.INT, "as_text": exp.DType.TEXT}
"""Types that a value is turned into: in SQLite REAL, INTEGER, TEXT."""


WINDOWS: dict[str, type[exp.Expr]] = {
    "dense_rank": exp.DenseRank,
    "rank": exp.Rank,
    "row_number": exp.RowNumber,
    "percent_rank": exp.PercentRank,
    "count_rows_over": exp.Count,
    "count_over": exp.Count,
    "sum_over": exp.Sum,
    "avg_over": exp.Avg,
    "min_over": exp.Min,
    "max_over": exp.Max,
    "lag": exp.Lag,
    "lead": exp.Lead,
}
"""Functions over windows."""
RANKS = ("dense_rank", "rank", "row_number", "percent_rank")
"""Those without an argument."""


@dataclass(frozen=True)
class Source:
    """A rendered entry of FROM: the name that qualifies its columns, and a derived table's output names or the table."""

    name: str
    outputs: tuple[str, ...]
    node: exp.Expr
    table: int | None = None


def coalesced(one: exp.Expr, other: exp.Expr) -> exp.Coalesce:
    """The first of two values that is not NULL; one call also for more."""
    rest = [other.this, *other.expressions] if isinstance(other, exp.Coalesce) else [other]
    return exp.Coalesce(this=one, expressions=rest)


JOINED = ("concat", "concat_space")
"""Productions that put texts together."""


def pieces(node: Node) -> Iterator[Node | None]:
    """The texts that are put together, None for a space."""
    while node.name in JOINED:
        yield child(node, 0)
        if node.name == "concat_space":
            yield None
        node = child(node, 1)
    yield node


def _cast(value: exp.Expr, name: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType(this=CASTS[name], nested=False))


class Values:
    """Writes values. Where the grammar inlines a symbol (`= other rest`), a node carries other's children followed by
    those of rest; `own` and indices from the end take them apart.
    """

    def __init__(self, schema: Schema, now: str | None = None, naming: Naming = SQLITE) -> None:
        self.schema = schema
        self.naming = naming
        self.now = now or NOW
        self.scopes: list[list[Source]] = []
        self.results: Mapping[
            int, int
        ] = {}  # numbers that queries are marked with, by the `id` of their nodes

    @abstractmethod
    def query(self, node: Node, names: list[str] | None = None) -> exp.Query:
        """A query or set operation. A derived table passes `names`: it receives the output names, by aliases."""

    @abstractmethod
    def condition(self, node: Node) -> exp.Expr:
        """A condition of WHERE, HAVING, CASE or a boolean select item."""

    def operand(self, node: Node) -> exp.Expr:
        """A value as one side of an operator: what binds more loosely stands in parentheses."""
        value = self.value(node)
        return exp.paren(value, copy=False) if isinstance(value, exp.Binary) else value

    def operands(self, nodes: list[Node], *, ordering: bool = False) -> list[exp.Expr]:
        """Values that are compared with one another, `ordering` if by more than equality."""
        return [self.operand(node) for node in nodes]

    def value(self, node: Node) -> exp.Expr:
        """A column, literal, aggregate, computation or scalar subquery."""
        terminal, name = node.terminal, node.name
        if isinstance(terminal, ColumnRef):
            source = self.scopes[-1][terminal.source]
            return self.naming.column(self.schema.columns[terminal.column].name, source.name)
        if isinstance(terminal, DerivedRef):
            source = self.scopes[-1][terminal.source]
            return self.naming.column(source.outputs[terminal.item], source.name)
        if isinstance(terminal, Literal):
            return literal(terminal.value)
        if name in SMALL:
            return exp.Literal.number(SMALL[name])
        if name in CASTS:
            return _cast(self.value(child(node, 0)), name)
        if name in ARITHMETIC or name == "divide":
            return arithmetic(name, self.operand(child(node, 0)), self.operand(child(node, 1)))
        if name == "count_all":
            return exp.Count(this=exp.Star())
        if name in AGGREGATES:
            kind, distinct = AGGREGATES[name]
            inner = self.value(child(node, 0))
            return kind(this=exp.Distinct(expressions=[inner]) if distinct else inner)
        if name in FUNCTIONS:
            return FUNCTIONS[name](this=self.value(child(node, 0)))
        if name in ("coalesce", "nullif"):
            one, other = (self.value(child(node, side)) for side in (0, 1))
            return exp.Nullif(this=one, expression=other) if name == "nullif" else coalesced(one, other)
        if name == "round":
            return exp.Round(
                this=self.value(child(node, 0)), decimals=exp.Literal.number(self.count(child(node, 1)))
            )
        if name in JOINED:
            parts = [literal(" ") if part is None else self.value(part) for part in pieces(node)]
            return reduce(concatenation, parts)
        return self._special_value(node)

    @abstractmethod
    def window(self, node: Node, function: exp.Expr) -> exp.Expr:
        """A rank, an aggregate over a window, or the value of a neighbouring row: `function` with its window."""

    def _special_value(self, node: Node) -> exp.Expr:
        name = node.name
        if name == "scalar":
            return self.query(child(node, 0)).subquery(copy=False)
        if name in ("case", "when"):
            return exp.paren(self._case(node), copy=False)
        if name == "holds":
            inner = self.condition(child(node, 0))
            return inner if isinstance(inner, exp.Paren) else exp.paren(inner, copy=False)
        if name in ("substring", "substring_from", "last_characters"):
            return self._substring(node)
        if name in WINDOWS:
            return self.window(node, self._over(node))
        if name in ("constant", "label", "over", "on_date"):
            return self.value(child(node, 0))
        if name in STARTS or name.removesuffix("_back") in STARTS or name in BACKS:
            return self._date(node)
        if name == "this_year":
            return strftime("%Y", self.moment_now())
        if name in ("years_between", "seconds_between"):
            return self._between(node)
        if name in ("days_between", "hours_between"):
            days: exp.Expr = exp.Sub(
                this=strftime("%J", self.value(child(node, 0))),
                expression=strftime("%J", self.value(child(node, 1))),
            )
            if name == "days_between":
                return days
            return exp.Mul(this=exp.Literal.number(24), expression=exp.paren(days, copy=False))
        if name in PARTS:
            return strftime(PARTS[name], self.value(child(node, 0)))
        if name == "now":
            return self.moment_now()
        assert name == "months_as_days", name
        # A twelfth of a year a month, in whole days, as the question sets compute spans of months.
        year = exp.Mul(
            this=exp.Literal.number(365), expression=exp.Literal.number(self.count(child(node, 0)))
        )
        return arithmetic("divide", year, exp.Literal.number(12))

    def _over(self, node: Node) -> exp.Expr:
        """What a window is for."""
        kind = WINDOWS[node.name]
        if node.name in RANKS:
            return kind()
        return kind(this=exp.Star() if node.name == "count_rows_over" else self.value(child(node, 1)))

    def _date(self, node: Node) -> exp.Expr:
        """The first day of a period, or a day so long ago."""
        back = node.name.endswith("_back")
        unit = (STARTS | BACKS)[
            node.name if node.name in (STARTS | BACKS) else node.name.removesuffix("_back")
        ]
        moment = self.moment_now() if back else self.value(child(node, 0))
        modifiers: list[exp.Expr] = []
        if node.name in BACKS:
            pass
        elif unit == "week":
            modifiers = [literal("weekday 0"), literal("-6 days")]
        elif unit == "quarter":
            month = arithmetic("minus", strftime("%m", moment.copy()), exp.Literal.number(1))
            months = exp.paren(
                arithmetic("modulo", exp.paren(month, copy=False), exp.Literal.number(3)), copy=False
            )
            modifiers = [
                literal("start of month"),
                concatenation(concatenation(literal("-"), months), literal(" months")),
            ]
        else:
            modifiers = [literal(f"start of {unit}")]
        if back and (count := self.count(child(node, 0))):
            times, of = {"quarter": (3, "month"), "week": (7, "day")}.get(unit, (1, unit))
            modifiers.append(literal(f"-{times * count} {of}s"))
        return exp.Anonymous(this="DATE", expressions=[moment, *modifiers])

    def _between(self, node: Node) -> exp.Expr:
        """Complete years, or seconds, between two moments."""
        later, earlier = (self.value(child(node, side)) for side in (0, 1))
        form = "%Y" if node.name == "years_between" else "%s"
        difference = exp.Sub(this=strftime(form, later), expression=strftime(form, earlier))
        if form == "%s":
            return difference
        sides = [strftime("%m-%d", moment.copy()) for moment in (later, earlier)]
        birthday = exp.paren(exp.LT(this=sides[0], expression=sides[1]), copy=False)
        return exp.Sub(this=difference, expression=birthday)

    def _case(self, node: Node) -> exp.Case:
        """One CASE; a `case` or `when` in the place of ELSE is one more WHEN of it."""
        case = exp.Case()
        while node.name in ("case", "when"):
            case.when(self.condition(child(node, 0)), self.value(child(node, 1)), copy=False)
            if node.name == "when":
                return case
            node = child(node, 2)
        return case.else_(self.value(node), copy=False)

    def _substring(self, node: Node) -> exp.Expr:
        numbers: list[exp.Expr] = [exp.Literal.number(self.count(some(n))) for n in node.children[1:]]
        if node.name == "last_characters":
            numbers = [exp.Neg(this=numbers[0])]
        return exp.Anonymous(this="SUBSTR", expressions=[self.value(child(node, 0)), *numbers])

    def bare(self, node: Node) -> exp.Expr:
        """An item of a query without FROM."""
        if node.name == "test":
            return self.bare(child(node, 0))
        if node.name in CASTS:
            return _cast(self.bare(child(node, 0)), node.name)
        if node.name not in COMPARISONS and node.name not in (*ARITHMETIC, "divide"):
            return self.value(node)
        sides = [self.bare(child(node, k)) for k in (0, 1)]
        left, right = (exp.paren(s, copy=False) if isinstance(s, exp.Binary) else s for s in sides)
        if node.name in COMPARISONS:
            return COMPARISONS[node.name](this=left, expression=right)
        return arithmetic(node.name, left, right)

    def moment_now(self) -> exp.Expr:
        """The present moment."""
        return exp.Literal.string(self.now)

    def count(self, node: Node) -> int:
        """The whole number of a `number` symbol."""
        if isinstance(node.terminal, Literal):
            return int(node.terminal.value)
        return SMALL[node.name]
