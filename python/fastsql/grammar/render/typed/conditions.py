"""Conditions of a dialect that minds types, those of the calendar among them."""

from __future__ import annotations

from abc import abstractmethod

from sqlglot import exp

from fastsql.grammar.clauses import child
from fastsql.grammar.program import Literal, Node
from fastsql.grammar.render.conditions import PATTERNS, contained
from fastsql.grammar.render.pieces import COMPARISONS
from fastsql.grammar.render.typed.closed import Closed
from fastsql.grammar.render.typed.functions import TypedFunctions
from fastsql.grammar.render.typed.types import comparison_kind
from fastsql.grammar.render.typed.values import tight


class TypedConditions(TypedFunctions):
    """Writes conditions."""

    closed: Closed
    """The query that was written last."""

    @abstractmethod
    def unsorted(self, query: exp.Query) -> None:
        """Drops an ORDER BY that says nothing, where the dialect wants none."""

    def membership(self, node: Node, query: Node) -> exp.Expr:
        """A value among the rows of a query."""
        value = self.typed(node)
        members = self.query(query)
        member = self.closed.types[0]
        kind = comparison_kind([value.type, member], ordering=False)
        if kind is not None:
            value = self.coerce.to(value, kind)
            self.closed.convert(0, lambda item: self.coerce.to(item, kind), self.naming)
        self.unsorted(members)
        return self.dialect.membership(tight(value.node), members, self.naming)

    def existence(self, node: Node, query: Node) -> exp.Expr:
        """Whether a query has a row that is equal to a value."""
        value, rows = self.typed(node), self.query(query)
        if self.may_tie(rows):
            member = self.closed.operands[0][1][0]
        else:
            source = self.derived(query, self.free_alias())
            member = self.output(0, source)
            rows = exp.Select().from_(source.node, copy=False)
        left, right = self.sides([member, value], ordering=False)
        return self.tied(rows, exp.EQ(this=left, expression=right))

    def containing(self, node: Node) -> exp.Expr:
        """Whether one text contains another, whatever the case of letters."""
        return contained(*(self.coerce.text(self.typed(child(node, side))).node for side in (0, 1)))

    def likeness(self, node: Node) -> exp.Expr:
        """A text that contains, begins with, ends with or is like another, whatever the case of letters."""
        text = child(node, 1).terminal
        assert isinstance(text, Literal)
        written = str(text.value)
        escaped = "".join(f"\\{c}" if c in f"\\{self.dialect.escaped}" else c for c in written)
        pattern = PATTERNS[node.name.removeprefix("not_")].format(escaped)
        operand = tight(self.coerce.text(self.typed(child(node, 0))).node)
        like = self.dialect.like(operand, exp.Literal.string(pattern))
        if escaped == written:
            return like
        return exp.Escape(this=like, expression=exp.Literal.string("\\"))

    def time_condition(self, node: Node) -> exp.Expr:
        """A condition of the calendar."""
        verb, _, unit = node.name.partition("_")
        dialect = self.dialect
        if verb == "date":
            date = child(node, 1).terminal
            assert isinstance(date, Literal)
            written = dialect.format(self.dated(child(node, 0)), date.format)
            return COMPARISONS[unit](this=written, expression=exp.Literal.string(str(date.value)))
        first = self.moment(child(node, 0))
        if verb == "in":
            return dialect.same_period(first, self.moment_now(), unit, self.count(child(node, 1)))
        if verb in ("since", "until"):
            kind = exp.GTE if verb == "since" else exp.LTE
            then = self._shifted(self.moment_now(), -self.count(child(node, 1)), unit)
            return kind(this=first, expression=then)
        second = self.moment(child(node, 1))
        if verb == "within":
            ahead = self._shifted(second.copy(), self.count(child(node, 2)), unit)
            return exp.Between(this=first, low=second, high=ahead)
        assert verb == "same"
        if unit == "time":
            return exp.EQ(this=first, expression=second)
        return dialect.same_period(first, second, unit)

    def _shifted(self, moment: exp.Expr, count: int, unit: str) -> exp.Expr:
        return self.dialect.shifted(moment, count, unit) if count else moment
