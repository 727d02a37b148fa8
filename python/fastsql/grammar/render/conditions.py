"""Conditions, those of the calendar among them."""

from __future__ import annotations

from abc import abstractmethod

from sqlglot import exp

from fastsql.grammar.clauses import chain, child, some
from fastsql.grammar.program import Literal, Node
from fastsql.grammar.render.pieces import COMPARISONS, datetime, negated, strftime
from fastsql.grammar.render.values import Source, Values
from fastsql.schema.names import fold

PATTERNS = {"contains": "%{}%", "begins": "{}%", "ends": "%{}", "like": "{}"}
"""LIKE patterns around a text."""


def contained(text: exp.Expr, part: exp.Expr) -> exp.Expr:
    """Whether a text contains a part. Not by LIKE: a pattern out of a table could take time without bound."""
    place = exp.StrPosition(this=exp.Lower(this=text), substr=exp.Lower(this=part))
    return exp.GT(this=place, expression=exp.Literal.number(0))


class Conditions(Values):
    """Writes conditions."""

    def condition(self, node: Node) -> exp.Expr:
        """A condition of WHERE, HAVING, CASE or a boolean select item."""
        name, parts = node.name, node.children
        if name in COMPARISONS:
            sides = [some(parts[0]), some(parts[1])]
            left, right = self.operands(sides, ordering=name not in ("eq", "ne"))
            return COMPARISONS[name](this=left, expression=right)
        if name in ("between", "not_between"):
            operand, low, high = self.operands([some(part) for part in parts], ordering=True)
            return negated(exp.Between(this=operand, low=low, high=high), name == "not_between")
        if name in ("in", "not_in"):
            return negated(self.membership(some(parts[0]), some(parts[1])), name == "not_in")
        if name in ("in_list", "not_in_list"):
            operand, *literals = self.operands(
                [some(parts[0]), some(parts[1]), *(child(n, 0) for n in chain(parts[2]))]
            )
            return negated(exp.In(this=operand, expressions=literals), name == "not_in_list")
        if name == "not_exists":
            return exp.Not(this=self.existence(some(parts[0]), some(parts[1])))
        if name == "contains_value":
            return self.containing(node)
        if name.removeprefix("not_") in PATTERNS:
            return negated(self.likeness(node), name.startswith("not_"))
        if name in ("is_null", "not_null"):
            return negated(
                exp.Is(this=self.operand(some(parts[0])), expression=exp.Null()), name == "not_null"
            )
        if name in ("or", "and"):
            join = exp.Or if name == "or" else exp.And
            return exp.paren(
                join(this=self.condition(some(parts[0])), expression=self.condition(some(parts[1]))),
                copy=False,
            )
        if name == "not":
            inner = self.condition(some(parts[0]))
            return exp.Not(this=inner if isinstance(inner, exp.Paren) else exp.paren(inner, copy=False))
        return self.time_condition(node)

    @abstractmethod
    def derived(self, node: Node, alias: str) -> Source:
        """A derived table as an entry of FROM."""

    def membership(self, node: Node, query: Node) -> exp.Expr:
        """A value among the rows of a query."""
        members = self.query(query).subquery(copy=False)
        return exp.In(this=self.operand(node), query=members)

    def existence(self, node: Node, query: Node) -> exp.Expr:
        """Whether a query has a row that is equal to a value."""
        rows = self.query(query)
        if self.may_tie(rows):
            member = rows.expressions[0]
        else:
            source = self.derived(query, self.free_alias())
            member = self.naming.column(source.outputs[0], source.name)
            rows = exp.Select().from_(source.node, copy=False)
        return self.tied(
            rows,
            exp.EQ(
                this=exp.paren(member, copy=False) if isinstance(member, exp.Binary) else member,
                expression=self.operand(node),
            ),
        )

    def may_tie(self, rows: exp.Query) -> bool:
        """Whether a condition that names columns of the queries around may stand in a query's WHERE."""
        if not isinstance(rows, exp.Select) or any(
            rows.args.get(clause) for clause in ("group", "distinct", "limit")
        ):
            return False
        if rows.args.get("from_") is None or rows.expressions[0].find(exp.AggFunc, exp.Window) is not None:
            return False
        entries = [rows.args["from_"].this, *(join.this for join in rows.args.get("joins") or [])]
        return self._names_around().isdisjoint(fold(entry.alias_or_name) for entry in entries)

    def free_alias(self) -> str:
        """An alias that no source of the queries around has."""
        return self.naming.fresh_alias(self._names_around())

    def _names_around(self) -> set[str]:
        return {fold(source.name) for scope in self.scopes for source in scope}

    def tied(self, rows: exp.Query, equality: exp.Expr) -> exp.Exists:
        """EXISTS of those rows of a query for which an equality holds."""
        assert isinstance(rows, exp.Select)
        where = rows.args.get("where")
        condition = equality if where is None else exp.And(this=equality, expression=where.this)
        rows.set("where", exp.Where(this=condition))
        rows.set("order", None)
        rows.set("expressions", [exp.Literal.number(1)])
        return exp.Exists(this=rows)

    def containing(self, node: Node) -> exp.Expr:
        """Whether one text contains another, whatever the case of letters."""
        return contained(*(self.value(child(node, side)) for side in (0, 1)))

    def likeness(self, node: Node) -> exp.Expr:
        """A text that contains, begins with, ends with or is like another."""
        text = child(node, 1).terminal
        assert isinstance(text, Literal)
        escaped = str(text.value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        pattern = PATTERNS[node.name.removeprefix("not_")].format(escaped)
        like = exp.Like(this=self.operand(child(node, 0)), expression=exp.Literal.string(pattern))
        if escaped == str(text.value):
            return like
        return exp.Escape(this=like, expression=exp.Literal.string("\\"))

    def time_condition(self, node: Node) -> exp.Expr:
        """A condition of the calendar."""
        verb, _, unit = node.name.partition("_")
        first = self.value(child(node, 0))
        if verb == "in":
            period = f"start of {unit}"
            back = exp.Literal.string(f"-{self.count(child(node, 1))} {unit}")
            return exp.EQ(
                this=datetime(first, exp.Literal.string(period)),
                expression=datetime(self.moment_now(), exp.Literal.string(period), back),
            )
        if verb in ("since", "until"):
            back = exp.Literal.string(f"-{self.count(child(node, 1))} {unit}")
            kind = exp.GTE if verb == "since" else exp.LTE
            return kind(this=datetime(first), expression=datetime(self.moment_now(), back))
        if verb == "date":
            date = child(node, 1).terminal
            assert isinstance(date, Literal)
            return COMPARISONS[unit](
                this=strftime(date.format, first), expression=exp.Literal.string(str(date.value))
            )
        second = self.value(child(node, 1))
        if verb == "within":
            ahead = exp.Literal.string(f"+{self.count(child(node, 2))} {unit}")
            return exp.Between(
                this=datetime(first), low=datetime(second), high=datetime(second.copy(), ahead)
            )
        assert verb == "same"
        modifiers = [] if unit == "time" else [f"start of {unit}"]
        one, two = ([exp.Literal.string(m) for m in modifiers] for _ in range(2))
        return exp.EQ(this=datetime(first, *one), expression=datetime(second, *two))
