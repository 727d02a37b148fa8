"""Functions of values, windows and computed dates of a dialect that minds types."""

from __future__ import annotations

from datetime import datetime
from functools import reduce

from sqlglot import exp

from fastsql.grammar.clauses import child
from fastsql.grammar.program import Literal, Node
from fastsql.grammar.render.pieces import concatenation, literal
from fastsql.grammar.render.typed.types import Kind, Type, Typed, merged_type, typed, typed_literal
from fastsql.grammar.render.typed.values import TypedValues
from fastsql.grammar.render.values import BACKS, FUNCTIONS, JOINED, RANKS, STARTS, WINDOWS, coalesced, pieces

_INSTEAD = ("constant", "label", "over")
"""Productions that say only where their value stands."""


class TypedFunctions(TypedValues):
    """Writes functions, windows and computed dates."""

    def _computed(self, node: Node) -> Typed:
        name = node.name
        if name in _INSTEAD:
            return self.typed(child(node, 0))
        if name in FUNCTIONS or name in ("round", *JOINED):
            return self._function(node)
        if name == "coalesce":
            values = [self.typed(child(node, side)) for side in (0, 1)]
            type_ = merged_type([value.type for value in values])
            one, other = (v.node if v.type == type_ else self.into(v, type_) for v in values)
            return Typed(coalesced(one, other), type_)
        if name == "nullif":
            return self._nullif(self.typed(child(node, 0)), self.typed(child(node, 1)))
        if name in WINDOWS:
            function = self.typed_over(node)
            return function.with_node(self.window(node, function.node))
        if name in ("years_between", "seconds_between"):
            return self._time_between(node)
        return self._date_of(node) or super()._computed(node)

    def _function(self, node: Node) -> Typed:
        name = node.name
        if name in JOINED:
            parts = [
                literal(" ") if part is None else self.coerce.text(self.typed(part)).node
                for part in pieces(node)
            ]
            return typed(reduce(concatenation, parts), Kind.TEXT)
        value = self.typed(child(node, 0))
        if name == "round":
            number = self.coerce.number(value).node
            return typed(self.dialect.rounded(number, self.count(child(node, 1))), Kind.REAL)
        if name == "abs":
            magnitude = self.coerce.number(value)
            return magnitude.with_node(exp.Abs(this=magnitude.node))
        text = FUNCTIONS[name](this=self.coerce.text(value).node)
        return typed(text, Kind.INTEGER if name == "length" else Kind.TEXT)

    def _nullif(self, one: Typed, other: Typed) -> Typed:
        """A value as what it is compared as, said once: NULL where it equals another."""
        if one.kind == Kind.TEXT and other.literal is None:
            left, right = one, self.coerce.text(other)
        else:
            left, right = self.coerce.alike([one, other], ordering=False)
        return left.with_node(exp.Nullif(this=left.node, expression=right.node))

    # ---------------------------------------------------------------- windows

    def typed_over(self, node: Node) -> Typed:
        """What a window is for, with its type."""
        name, kind = node.name, WINDOWS[node.name]
        if name in RANKS:
            return typed(kind(), Kind.REAL if name == "percent_rank" else Kind.INTEGER)
        if name == "count_rows_over":
            return typed(kind(this=exp.Star()), Kind.INTEGER)
        value = self.typed(child(node, 1))
        if name in ("sum_over", "avg_over"):
            value = self.coerce.number(value)
            if name == "avg_over":
                value = typed(self.averaged(value), Kind.REAL)
        elif name in ("min_over", "max_over"):
            value = self.comparable(value)
        type_ = Type(Kind.INTEGER) if name == "count_over" else value.type
        return Typed(kind(this=value.node), type_)

    # ---------------------------------------------------------------- times

    def _date_of(self, node: Node) -> Typed | None:
        """A date that is computed; None for anything else."""
        name = node.name
        period = STARTS.get(name.removesuffix("_back"))
        if period is not None and not name.endswith("_back"):
            return typed(self.dialect.start_of(self.moment(child(node, 0)), period), Kind.DATE)
        if period is not None or name in BACKS:
            day = self.dialect.cast(self.moment_now(), Kind.DATE)
            if period is not None:
                day = self.dialect.start_of(self.moment_now(), period)
            times, unit = {"quarter": (3, "month"), "week": (7, "day")}.get(
                period or "", (1, period or BACKS.get(name, ""))
            )
            count = times * self.count(child(node, 0))
            return typed(self.dialect.days_back(day, count, unit) if count else day, Kind.DATE)
        if name == "this_year":
            return typed(self.dialect.format(self.moment_now(), "%Y"), Kind.TEXT)
        if name == "weekday_of":
            return typed(self.dialect.weekday(self.moment(child(node, 0))), Kind.TEXT)
        return self._written_date(child(node, 0)) if name == "on_date" else None

    def _written_date(self, node: Node) -> Typed:
        """A date that is written down, as a moment; NULL for one that is none."""
        assert isinstance(node.terminal, Literal)
        text = str(node.terminal.value)
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return self.coerce.moment(typed_literal(text))
        return typed(self.dialect.cast(literal(text), Kind.MOMENT), Kind.MOMENT)

    def _time_between(self, node: Node) -> Typed:
        """Complete years, or seconds, between two moments."""
        later, earlier = (self.moment(child(node, side)) for side in (0, 1))
        if node.name == "seconds_between":
            seconds = self.dialect.seconds_between(later, earlier)
            return typed(self.dialect.cast(seconds, Kind.INTEGER), Kind.INTEGER)
        one, other = (self.dialect.leading_part(moment.copy(), "year") for moment in (later, earlier))
        before = exp.LT(
            this=self.dialect.format(later, "%m-%d"), expression=self.dialect.format(earlier, "%m-%d")
        )
        birthday = (
            exp.Case()
            .when(before, exp.Literal.number(1), copy=False)
            .else_(exp.Literal.number(0), copy=False)
        )
        years = exp.Sub(this=one, expression=other)
        return typed(exp.Sub(this=years, expression=exp.paren(birthday, copy=False)), Kind.INTEGER)
