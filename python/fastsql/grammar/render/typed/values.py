"""Values with their types: columns, literals, aggregates, computations, scalar subqueries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from fastsql.grammar.clauses import child
from fastsql.grammar.program import SMALL, ColumnRef, DerivedRef, Literal, Node
from fastsql.grammar.render.pieces import ARITHMETIC, COMPARISONS
from fastsql.grammar.render.queries import Renderer
from fastsql.grammar.render.typed.coercion import Coercion
from fastsql.grammar.render.typed.dialect import Dialect
from fastsql.grammar.render.typed.grouping import Grouping
from fastsql.grammar.render.typed.types import (
    Kind,
    Type,
    Typed,
    column_type,
    merged_type,
    typed,
    typed_literal,
)
from fastsql.grammar.render.values import AGGREGATES, CASTS, PARTS, Source

if TYPE_CHECKING:
    from fastsql.schema import Schema

_CASTS = {"as_real": Kind.REAL, "as_integer": Kind.INTEGER, "as_text": Kind.TEXT}
_SUBSTRINGS = ("substring", "substring_from", "last_characters")


@dataclass(frozen=True)
class TypedSource(Source):
    """A rendered entry of FROM, with the types of a derived table's items."""

    types: tuple[Type, ...] = ()


class TypedValues(Renderer):
    """Writes values of a dialect that minds types."""

    def __init__(self, schema: Schema, dialect: Dialect, now: str | None = None) -> None:
        super().__init__(schema, now, dialect.naming)
        self.dialect = dialect
        self.coerce = Coercion(dialect)
        self.fixed_now = now
        self.groupings: list[Grouping | None] = []
        """Of each query that is being written: how it groups, None where columns may stand as they are."""

    def value(self, node: Node) -> exp.Expr:
        """A value without its type."""
        return self.typed(node).node

    def operands(self, nodes: list[Node], *, ordering: bool = False) -> list[exp.Expr]:
        """Values that can be compared with one another, `ordering` if by more than equality."""
        return self.sides([self.typed(node) for node in nodes], ordering=ordering)

    def sides(self, values: Sequence[Typed], *, ordering: bool) -> list[exp.Expr]:
        """What operators compare: brought to types that allow it, in parentheses where need be."""
        return [tight(value.node) for value in self.coerce.alike(values, ordering=ordering)]

    # ---------------------------------------------------------------- one value

    def typed(self, node: Node) -> Typed:
        """A column, literal, aggregate, computation or scalar subquery."""
        grouping = self.groupings[-1] if self.groupings else None
        if grouping is not None and grouping.is_key(node):
            with self.of_rows():
                return self._typed(node)
        if grouping is None or not isinstance(node.terminal, ColumnRef | DerivedRef):
            return self._typed(node)
        with self.of_rows():
            return self._of_group(node, grouping)

    @contextmanager
    def of_rows(self) -> Iterator[None]:
        """Inside aggregates and keys columns stand as they are."""
        kept = self.groupings[-1]
        self.groupings[-1] = None
        try:
            yield
        finally:
            self.groupings[-1] = kept

    def _of_group(self, node: Node, grouping: Grouping) -> Typed:
        """A column that is no key of its group: SQLite takes it from the row of the least or greatest, or from any."""
        extreme = grouping.extreme
        if extreme is None:
            value = self._typed(node)
            return value.with_node(self.dialect.some_row(value.node))
        if extreme.children[0] == node:
            return self._typed(extreme)
        value, key = self._typed(node), self.comparable(self._typed(child(extreme, 0)))
        return value.with_node(self.dialect.extreme_row(value.node, key.node, greatest=extreme.name == "max"))

    def _typed(self, node: Node) -> Typed:
        terminal, name = node.terminal, node.name
        if isinstance(terminal, ColumnRef):
            return self.column(terminal.column, self.scopes[-1][terminal.source])
        if isinstance(terminal, DerivedRef):
            return self.output(terminal.item, self.scopes[-1][terminal.source])
        if isinstance(terminal, Literal):
            return typed_literal(terminal.value)
        if name in SMALL:
            return typed_literal(SMALL[name])
        if name in CASTS:
            return self.cast(self.typed(child(node, 0)), name)
        if name in ARITHMETIC or name == "divide":
            return self.arithmetic(name, self.typed(child(node, 0)), self.typed(child(node, 1)))
        if name == "count_all" or name in AGGREGATES:
            return self._aggregate(node)
        return self._computed(node)

    def column(self, index: int, source: Source) -> Typed:
        """A column of a table in FROM."""
        column = self.schema.columns[index]
        return Typed(self.naming.column(column.name, source.name), column_type(column))

    def output(self, item: int, source: Source) -> Typed:
        """A select item of a derived table in FROM."""
        assert isinstance(source, TypedSource)
        return Typed(self.naming.column(source.outputs[item], source.name), source.types[item])

    def cast(self, value: Typed, name: str) -> Typed:
        """CAST, as SQLite reads it."""
        kind = _CASTS[name]
        if kind == Kind.TEXT:
            return self.coerce.text(value)
        if kind == Kind.INTEGER:
            return self.coerce.whole(value)
        return typed(self.dialect.cast(self.coerce.number(value).node, kind), kind)

    def arithmetic(self, name: str, one: Typed, other: Typed) -> Typed:
        """A sum, difference, product, remainder or quotient of what both sides are as numbers; by zero NULL."""
        convert = self.coerce.whole if name == "modulo" else self.coerce.number
        left, right = convert(one), convert(other)
        whole = left.kind == right.kind == Kind.INTEGER
        kind = Kind.INTEGER if whole else Kind.REAL
        if name not in ("divide", "modulo"):
            return typed(ARITHMETIC[name](this=tight(left.node), expression=tight(right.node)), kind)
        divisor = tight(right.node)
        if not right.literal:
            divisor = exp.Nullif(this=right.node, expression=exp.Literal.number(0))
        if name == "modulo":
            return typed(exp.Mod(this=tight(left.node), expression=divisor), kind)
        if whole:
            return typed(self.dialect.quotient(tight(left.node), divisor), kind)
        return typed(exp.Div(this=tight(left.node), expression=divisor, typed=True), kind)

    def _aggregate(self, node: Node) -> Typed:
        if node.name == "count_all":
            return typed(exp.Count(this=exp.Star()), Kind.INTEGER)
        function, distinct = AGGREGATES[node.name]
        with self.of_rows():
            inner = self.typed(child(node, 0))
        kind = Type(Kind.INTEGER)
        if function in (exp.Min, exp.Max):
            inner = self.comparable(inner)
            kind = inner.type
        elif function is not exp.Count:
            inner = self.coerce.number(inner)
            kind = inner.type if function is exp.Sum else Type(Kind.REAL)
            if function is exp.Avg:
                inner = inner.with_node(self.averaged(inner))
        argument = exp.Distinct(expressions=[inner.node]) if distinct else inner.node
        return Typed(self.dialect.aggregated(function(this=argument)), kind)

    def averaged(self, number: Typed) -> exp.Expr:
        """What an average is taken of."""
        cut_off = number.kind == Kind.INTEGER and self.dialect.averages_cut_off
        return self.dialect.cast(number.node, Kind.REAL) if cut_off else number.node

    def comparable(self, value: Typed) -> Typed:
        """A value that has a least and a greatest."""
        if value.kind == Kind.BOOLEAN:
            return self.coerce.number(value)
        return self.coerce.text(value) if value.kind == Kind.OPAQUE else value

    def _computed(self, node: Node) -> Typed:
        name = node.name
        if name == "scalar":
            return self.scalar(child(node, 0))
        if name in ("case", "when"):
            return self._case_of(node)
        if name == "holds":
            condition = self.condition(child(node, 0))
            bare = condition.this if isinstance(condition, exp.Paren) else condition
            return self.dialect.truth(bare)
        if name in _SUBSTRINGS:
            return self._part_of_text(node)
        if name in ("days_between", "hours_between"):
            later, earlier = (self.moment(child(node, side)) for side in (0, 1))
            days = self.dialect.days_between(later, earlier)
            if name == "hours_between":
                days = exp.Mul(this=exp.Literal.number(24), expression=exp.paren(days, copy=False))
            return typed(days, Kind.REAL)
        if name == "date_of":
            return typed(self.dialect.cast(self.moment(child(node, 0)), Kind.DATE), Kind.DATE)
        if name in PARTS:
            return typed(self.dialect.format(self.dated(child(node, 0)), PARTS[name]), Kind.TEXT)
        if name == "now":
            return typed(self.moment_now(), Kind.MOMENT)
        assert name == "months_as_days", name
        return typed_literal(365 * self.count(child(node, 0)) // 12)

    @abstractmethod
    def scalar(self, node: Node) -> Typed:
        """A query as one value: of its first row, where it has several."""

    def _case_of(self, node: Node) -> Typed:
        conditions: list[exp.Expr] = []
        values: list[Typed] = []
        closed = False
        while node.name in ("case", "when") and not closed:
            conditions.append(self.condition(child(node, 0)))
            values.append(self.typed(child(node, 1)))
            closed = node.name == "when"
            node = node if closed else child(node, 2)
        if not closed:
            values.append(self.typed(node))
        type_ = merged_type([value.type for value in values])
        nodes = [value.node if value.type == type_ else self.into(value, type_) for value in values]
        case = exp.Case()
        for condition, result in zip(conditions, nodes, strict=False):
            case.when(condition, result, copy=False)
        if not closed:
            case.else_(nodes[-1], copy=False)
        return Typed(exp.paren(case, copy=False), type_)

    def into(self, value: Typed, type_: Type) -> exp.Expr:
        """A value as one of a type that was merged from its own and others."""
        if type_.kind == Kind.REAL and value.kind == Kind.INTEGER:
            return value.node
        return self.coerce.to(value, type_.kind).node

    def _part_of_text(self, node: Node) -> Typed:
        text = self.coerce.text(self.typed(child(node, 0))).node
        start = self.count(child(node, 1))
        if node.name == "last_characters":
            return typed(self.dialect.last_characters(text, start) if start else text, Kind.TEXT)
        length = self.count(child(node, 2)) if node.name == "substring" else None
        if start == 0:  # a character before the first counts, though there is none
            start, length = 1, None if length is None else max(length - 1, 0)
        return typed(self.dialect.substring(text, start, length), Kind.TEXT)

    # ---------------------------------------------------------------- times

    def moment(self, node: Node) -> exp.Expr:
        """A value as a moment, for calculating."""
        return tight(self.coerce.moment(self.typed(node)).node)

    def dated(self, node: Node) -> exp.Expr:
        """A value as a moment or date, for formatting."""
        value = self.typed(node)
        return value.node if value.kind == Kind.DATE else self.coerce.moment(value).node

    def moment_now(self) -> exp.Expr:
        """The present moment."""
        if self.fixed_now is None:
            return self.dialect.now()
        moment = datetime.fromisoformat(self.fixed_now).isoformat(sep=" ", timespec="seconds")
        return self.dialect.cast(exp.Literal.string(moment), Kind.MOMENT)

    # ---------------------------------------------------------------- queries without FROM

    def bare(self, node: Node) -> exp.Expr:
        """An item of a query without FROM."""
        return self.bare_item(node).node

    def bare_item(self, node: Node) -> Typed:
        """An item of a query without FROM, with its type."""
        name = node.name
        if name == "test":
            return self.bare_item(child(node, 0))
        if name in CASTS:
            return self.cast(self.bare_item(child(node, 0)), name)
        if name not in COMPARISONS and name not in (*ARITHMETIC, "divide"):
            return self.typed(node)
        one, other = (self.bare_item(child(node, k)) for k in (0, 1))
        if name not in COMPARISONS:
            return self.arithmetic(name, one, other)
        left, right = self.sides([one, other], ordering=name not in ("eq", "ne"))
        return self.tested(COMPARISONS[name](this=left, expression=right))

    def tested(self, condition: exp.Expr) -> Typed:
        """A condition as a select item."""
        value = self.dialect.truth(condition)
        return value.with_node(condition) if value.kind == Kind.BOOLEAN else value


def tight(node: exp.Expr) -> exp.Expr:
    """An operand: in parentheses what binds more loosely than what it stands in."""
    loose = isinstance(node, exp.Binary | exp.Between | exp.In | exp.Not) and not isinstance(node, exp.Dot)
    return exp.paren(node, copy=False) if loose else node
