"""Renders a program as SQL: a sqlglot tree first, then text in SQLite's dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

from sqlglot import exp, tokens
from sqlglot.generators.sqlite import SQLiteGenerator

from fastsql.errors import DialectError
from fastsql.grammar.compile import Grammar, load_grammar
from fastsql.grammar.program import SMALL, ColumnRef, DerivedRef, Literal, Node, Program, TableRef
from fastsql.grammar.sqlite_keywords import SQLITE_KEYWORDS
from fastsql.grammar.tree import read_tree

if TYPE_CHECKING:
    from fastsql.schema import Schema

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "eq": exp.EQ,
    "ne": exp.NEQ,
    "lt": exp.LT,
    "le": exp.LTE,
    "gt": exp.GT,
    "ge": exp.GTE,
}
_ARITHMETIC: dict[str, type[exp.Binary]] = {"plus": exp.Add, "minus": exp.Sub, "times": exp.Mul}
_SET_OPERATIONS: dict[str, tuple[type[exp.SetOperation], bool]] = {
    "union": (exp.Union, True),
    "union_all": (exp.Union, False),
    "intersect": (exp.Intersect, True),
    "except": (exp.Except, True),
}
_AGGREGATES: dict[str, tuple[type[exp.AggFunc], bool]] = {
    "count": (exp.Count, False),
    "count_distinct": (exp.Count, True),
    "sum": (exp.Sum, False),
    "sum_distinct": (exp.Sum, True),
    "avg": (exp.Avg, False),
    "avg_distinct": (exp.Avg, True),
    "min": (exp.Min, False),
    "max": (exp.Max, False),
}
_WINDOWS = {
    "dense_rank": exp.DenseRank,
    "rank": exp.Rank,
    "row_number": exp.RowNumber,
    "percent_rank": exp.PercentRank,
}
PARTS = {"year_of": "%Y", "month_of": "%m", "day_of": "%d", "year_month_of": "%Y-%m", "date_of": "%Y-%m-%d"}
"""Parts of a time, as strftime formats."""

NOW = "now"
"""The moment of execution, in SQLite's words."""


@dataclass(frozen=True)
class _Source:
    """A rendered entry of FROM: the name that qualifies its columns, and a derived table's output names."""

    name: str
    outputs: tuple[str, ...]
    node: exp.Expr


def render(
    program: Program,
    schema: Schema,
    *,
    dialect: str = "sqlite",
    now: str | None = None,
    grammar: Grammar | None = None,
) -> str:
    """SQL text of a complete program.

    `now` fixes the clock: a literal such as "2100-12-31 23:59:00" instead of the moment of execution.
    Raises DialectError for a dialect that fastsql does not write.
    """
    if dialect != "sqlite":
        raise DialectError(
            f"SQL cannot be rendered for dialect {dialect!r}", where="dialect", remedy="Use dialect='sqlite'."
        )
    tree = read_tree(program, grammar or load_grammar())
    sql: str = _Generator(dialect="sqlite").generate(Renderer(schema, now).query(tree))
    return sql


class Renderer:
    """Turns derivation trees into sqlglot trees. One per query; the methods mirror the symbols of the grammar.

    Where the grammar inlines a symbol (`= other rest`), a node carries other's children followed by those of rest;
    `_own` and indices from the end take them apart.
    """

    def __init__(self, schema: Schema, now: str | None = None) -> None:
        self.schema = schema
        self.now = now or NOW
        self.scopes: list[list[_Source]] = []

    # ---------------------------------------------------------------- queries

    def query(self, node: Node, names: list[str] | None = None) -> exp.Query:
        """A query or set operation. A derived table passes `names`: it receives the output names, by aliases."""
        if node.name in _SET_OPERATIONS:
            kind, distinct = _SET_OPERATIONS[node.name]
            left = self.query(_child(node, 0), names)
            right = self.query(_child(node, 1), None if names is None else [])
            return kind(this=left, expression=right, distinct=distinct)
        self.scopes.append([])
        try:
            return self._bare(node, names) if node.name == "bare" else self._select(node, names)
        finally:
            self.scopes.pop()

    def _bare(self, node: Node, names: list[str] | None) -> exp.Select:
        items = [self.bare(_child(node, 0)), *(self.bare(_own(n, 1)) for n in _chain(node.children[1]))]
        return exp.Select().select(*_named(items, names), copy=False)

    def _select(self, node: Node, names: list[str] | None) -> exp.Select:
        select = exp.Select()
        joins, where, body = node.children[-3:]
        self._from(select, node, list(_chain(joins)))
        conditions = [self.condition(_own(n, 1)) for n in _chain(where)]
        if conditions:
            select.set("where", exp.Where(this=_conjunction(conditions)))
        self._body(select, _some(body), names)
        return select

    def _from(self, select: exp.Select, first: Node, joins: list[Node]) -> None:
        scope = self.scopes[-1]
        nodes = [first, *(_child(join, 0) for join in joins)]
        tables = [n.terminal.table for n in nodes if isinstance(n.terminal, TableRef)]
        taken = {self.schema.tables[t].name.lower() for t in tables}
        for node, join in zip(nodes, [None, *joins], strict=True):
            alias = _fresh_alias(taken)
            if isinstance(node.terminal, TableRef):
                table = node.terminal.table
                name = self.schema.tables[table].name
                if tables.count(table) > 1:
                    taken.add(alias.lower())
                    scope.append(
                        _Source(alias, (), exp.alias_(exp.Table(this=_identifier(name)), alias, table=True))
                    )
                else:
                    scope.append(_Source(name, (), exp.Table(this=_identifier(name))))
            else:
                taken.add(alias.lower())
                outputs: list[str] = []
                inner = self.query(_child(node, 0), outputs)
                scope.append(_Source(alias, tuple(outputs), inner.subquery(alias, copy=False)))
            if join is None:
                select.from_(scope[-1].node, copy=False)
                continue
            pairs = [
                (join.children[1], join.children[2]),
                *(tuple(on.children[:2]) for on in _chain(join.children[3])),
            ]
            equal = [exp.EQ(this=self.value(_some(a)), expression=self.value(_some(b))) for a, b in pairs]
            side = "left" if join.name == "left_join" else ""
            select.join(scope[-1].node, on=_conjunction(equal), join_type=side, copy=False)

    # ---------------------------------------------------------------- SELECT and what frames it

    def _body(self, select: exp.Select, node: Node, names: list[str] | None) -> None:
        tail = node.children[-1]
        if node.name == "group":
            key, groups, having, items = node.children[:4]
            keys = [self.value(_some(key)), *(self.value(_child(g, 0)) for g in _chain(groups))]
            select.group_by(*keys, copy=False)
            clauses = [self.condition(_child(clause, 0)) for clause in _chain(having)]
            if clauses:
                select.set("having", exp.Having(this=_conjunction(clauses)))
            self._items(select, _some(items), names)
        else:
            self._items(select, _own(node, 1), names)
        self._tail(select, tail)

    def _items(self, select: exp.Select, node: Node, names: list[str] | None) -> None:
        """`node`: distinct, or the first item; its last child is the rest of the list."""
        if node.name == "distinct":
            select.distinct(copy=False)
            first = _child(node, 0)
        else:
            first = _own(node, 1)
        nodes = [first, *(_own(n, 1) for n in _chain(node.children[-1]))]
        select.select(*_named([self.item(n) for n in nodes], names), copy=False)

    def item(self, node: Node) -> exp.Expr:
        """A select item."""
        if node.name == "test":
            return self.condition(_child(node, 0))
        if node.name in _WINDOWS:
            return self._window(node)
        return self.value(node)

    def _window(self, node: Node) -> exp.Expr:
        key, partition = _child(node, 0), []
        while key.name == "partition":
            partition.append(self.value(_child(key, 0)))
            key = _child(key, 1)
        order = exp.Order(expressions=[self._ordered(key)])
        return exp.Window(this=_WINDOWS[node.name](), partition_by=partition, order=order)

    def _ordered(self, node: Node) -> exp.Ordered:
        return exp.Ordered(
            this=self.value(_child(node, 0)), desc=node.name == "desc", nulls_first=node.name == "asc"
        )

    def _tail(self, select: exp.Select, node: Node | None) -> None:
        while node is not None and node.name in ("asc", "desc"):
            select.order_by(self._ordered(node), copy=False)
            node = node.children[1]
        if node is not None and node.name == "limit":
            select.limit(self.value(_child(node, 0)), copy=False)
            offset = _child(node, 1)
            if offset.name == "offset":
                select.offset(self.value(_child(offset, 0)), copy=False)

    # ---------------------------------------------------------------- conditions

    def condition(self, node: Node) -> exp.Expr:
        """A condition of WHERE, HAVING, CASE or a boolean select item."""
        name, parts = node.name, node.children
        if name in _COMPARISONS:
            return _COMPARISONS[name](
                this=self.operand(_some(parts[0])), expression=self.operand(_some(parts[1]))
            )
        if name in ("between", "not_between"):
            low, high = self.operand(_some(parts[1])), self.operand(_some(parts[2]))
            return _negated(
                exp.Between(this=self.operand(_some(parts[0])), low=low, high=high), name == "not_between"
            )
        if name in ("in", "not_in"):
            inner = self.query(_some(parts[1])).subquery(copy=False)
            return _negated(exp.In(this=self.operand(_some(parts[0])), query=inner), name == "not_in")
        if name in ("in_list", "not_in_list"):
            literals = [self.value(_some(parts[1])), *(self.value(_child(n, 0)) for n in _chain(parts[2]))]
            return _negated(
                exp.In(this=self.operand(_some(parts[0])), expressions=literals), name == "not_in_list"
            )
        if name in ("contains", "not_contains"):
            return _negated(self._contains(node), name == "not_contains")
        if name in ("is_null", "not_null"):
            return _negated(
                exp.Is(this=self.operand(_some(parts[0])), expression=exp.Null()), name == "not_null"
            )
        if name in ("or", "and"):
            join = exp.Or if name == "or" else exp.And
            return exp.paren(
                join(this=self.condition(_some(parts[0])), expression=self.condition(_some(parts[1]))),
                copy=False,
            )
        if name == "not":
            negated = self.condition(_some(parts[0]))
            return exp.Not(this=negated if isinstance(negated, exp.Paren) else exp.paren(negated, copy=False))
        return self._time_condition(node)

    def _contains(self, node: Node) -> exp.Expr:
        text = _child(node, 1).terminal
        assert isinstance(text, Literal)
        escaped = str(text.value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        like = exp.Like(this=self.operand(_child(node, 0)), expression=exp.Literal.string(f"%{escaped}%"))
        if escaped == text.value:
            return like
        return exp.Escape(this=like, expression=exp.Literal.string("\\"))

    def _time_condition(self, node: Node) -> exp.Expr:
        verb, _, unit = node.name.partition("_")
        first = self.value(_child(node, 0))
        if verb == "in":
            period = f"start of {unit}"
            back = exp.Literal.string(f"-{self._count(_child(node, 1))} {unit}")
            return exp.EQ(
                this=_datetime(first, exp.Literal.string(period)),
                expression=_datetime(self._now(), exp.Literal.string(period), back),
            )
        if verb in ("since", "until"):
            back = exp.Literal.string(f"-{self._count(_child(node, 1))} {unit}")
            kind = exp.GTE if verb == "since" else exp.LTE
            return kind(this=_datetime(first), expression=_datetime(self._now(), back))
        if verb == "date":
            date = _child(node, 1).terminal
            assert isinstance(date, Literal)
            return _COMPARISONS[unit](
                this=_strftime(date.format, first), expression=exp.Literal.string(str(date.value))
            )
        second = self.value(_child(node, 1))
        if verb == "within":
            ahead = exp.Literal.string(f"+{self._count(_child(node, 2))} {unit}")
            return exp.Between(
                this=_datetime(first), low=_datetime(second), high=_datetime(second.copy(), ahead)
            )
        assert verb == "same"
        modifiers = [] if unit == "time" else [f"start of {unit}"]
        one, two = ([exp.Literal.string(m) for m in modifiers] for _ in range(2))
        return exp.EQ(this=_datetime(first, *one), expression=_datetime(second, *two))

    def _count(self, node: Node) -> int:
        """The whole number of a `number` symbol."""
        if isinstance(node.terminal, Literal):
            return int(node.terminal.value)
        return SMALL[node.name]

    def _now(self) -> exp.Expr:
        return exp.Literal.string(self.now)

    # ---------------------------------------------------------------- values

    def operand(self, node: Node) -> exp.Expr:
        """A value as one side of an operator: what binds more loosely stands in parentheses."""
        value = self.value(node)
        return exp.paren(value, copy=False) if isinstance(value, exp.Binary) else value

    def value(self, node: Node) -> exp.Expr:
        """A column, literal, aggregate, computation or scalar subquery."""
        terminal, name = node.terminal, node.name
        if isinstance(terminal, ColumnRef):
            source = self.scopes[-1][terminal.source]
            return _column(self.schema.columns[terminal.column].name, source.name)
        if isinstance(terminal, DerivedRef):
            source = self.scopes[-1][terminal.source]
            return _column(source.outputs[terminal.item], source.name)
        if isinstance(terminal, Literal):
            return _literal(terminal.value)
        if name in SMALL:
            return exp.Literal.number(SMALL[name])
        if name in _ARITHMETIC or name == "divide":
            return _arithmetic(name, self.operand(_child(node, 0)), self.operand(_child(node, 1)))
        if name == "count_all":
            return exp.Count(this=exp.Star())
        if name in _AGGREGATES:
            kind, distinct = _AGGREGATES[name]
            inner = self.value(_child(node, 0))
            return kind(this=exp.Distinct(expressions=[inner]) if distinct else inner)
        return self._special_value(node)

    def _special_value(self, node: Node) -> exp.Expr:
        name = node.name
        if name == "scalar":
            return self.query(_child(node, 0)).subquery(copy=False)
        if name == "case":
            return exp.paren(self._case(node), copy=False)
        if name in ("days_between", "hours_between"):
            days: exp.Expr = exp.Sub(
                this=_strftime("%J", self.value(_child(node, 0))),
                expression=_strftime("%J", self.value(_child(node, 1))),
            )
            if name == "days_between":
                return days
            return exp.Mul(this=exp.Literal.number(24), expression=exp.paren(days, copy=False))
        if name in PARTS:
            return _strftime(PARTS[name], self.value(_child(node, 0)))
        if name == "now":
            return self._now()
        assert name == "months_as_days", name
        # A twelfth of a year a month, in whole days, as the question sets compute spans of months.
        year = exp.Mul(
            this=exp.Literal.number(365), expression=exp.Literal.number(self._count(_child(node, 0)))
        )
        return _arithmetic("divide", year, exp.Literal.number(12))

    def _case(self, node: Node) -> exp.Case:
        """One CASE; a `case` in the place of ELSE is one more WHEN of it."""
        case = exp.Case()
        while node.name == "case":
            case.when(self.condition(_child(node, 0)), self.value(_child(node, 1)), copy=False)
            node = _child(node, 2)
        return case.else_(self.value(node), copy=False)

    def bare(self, node: Node) -> exp.Expr:
        """An item of a query without FROM."""
        if node.name == "test":
            return self.bare(_child(node, 0))
        if node.name not in _COMPARISONS and node.name not in (*_ARITHMETIC, "divide"):
            return self.value(node)
        sides = [self.bare(_child(node, k)) for k in (0, 1)]
        left, right = (exp.paren(s, copy=False) if isinstance(s, exp.Binary) else s for s in sides)
        if node.name in _COMPARISONS:
            return _COMPARISONS[node.name](this=left, expression=right)
        return _arithmetic(node.name, left, right)


class _Generator(SQLiteGenerator):
    """Writes negation where people write it: `x IS NOT NULL`, `x NOT IN (...)`."""

    def not_sql(self, expression: exp.Not) -> str:
        inner = expression.this
        if isinstance(inner, exp.Is):
            return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"
        if isinstance(inner, (exp.In, exp.Between, exp.Like)):
            left = self.sql(inner, "this")
            return f"{left} NOT{self.sql(inner).removeprefix(left)}"
        sql: str = super().not_sql(expression)
        return sql


# ---------------------------------------------------------------- pieces


def _some(node: Node | None) -> Node:
    assert node is not None, "the grammar requires this child"
    return node


def _child(node: Node, index: int) -> Node:
    return _some(node.children[index])


def _own(node: Node, rest: int) -> Node:
    """The node without the last `rest` children, which belong to the symbol that inlined it."""
    return Node(node.terminal, node.children[: len(node.children) - rest])


def _chain(node: Node | None) -> Iterator[Node]:
    """The elements of a list symbol: each element's last child is the rest of the list."""
    while node is not None:
        yield node
        node = node.children[-1]


def _fresh_alias(taken: set[str]) -> str:
    number = 1
    while f"t{number}" in taken:
        number += 1
    return f"T{number}"


def _named(items: list[exp.Expr], names: list[str] | None) -> list[exp.Expr]:
    """Items as they are, or (in a derived table) each under an output name of its own, which `names` receives."""
    if names is None:
        return items
    plain = [i.name.lower() if isinstance(i, exp.Column) else None for i in items]
    named = []
    for number, (item, name) in enumerate(zip(items, plain, strict=True), 1):
        if name is not None and plain.count(name) == 1 and name not in _NAMELESS:
            names.append(item.name)
            named.append(item)
            continue
        alias = f"C{number}"
        while alias.lower() in plain:
            alias += "_"
        names.append(alias)
        named.append(exp.alias_(item, alias))
    return named


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=not _PLAIN.fullmatch(name) or name.upper() in _reserved())


_NAMELESS = ("true", "false")
"""Names that SQLite does not give to a subquery's columns: it calls them column1 and so on."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@lru_cache(maxsize=1)
def _reserved() -> frozenset[str]:
    """Every word that SQLite's tokenizer in sqlglot treats as a keyword: quoted where it is a name."""
    words = (w for w in tokens.Tokenizer.KEYWORDS if _PLAIN.fullmatch(w))
    return frozenset(words) | SQLITE_KEYWORDS


def _column(name: str, table: str) -> exp.Column:
    return exp.Column(this=_identifier(name), table=_identifier(table))


def _literal(value: str | int | float) -> exp.Expr:
    if isinstance(value, str):
        return exp.Literal.string(value)
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def _arithmetic(name: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    if name == "divide":  # as SQLite divides: whole numbers give whole numbers, and by zero gives NULL
        return exp.Div(this=left, expression=right, typed=True, safe=True)
    return _ARITHMETIC[name](this=left, expression=right)


def _conjunction(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """One AND of all, without parentheses: conditions that bind more loosely bring their own."""
    return reduce(lambda one, other: exp.And(this=one, expression=other), conditions)


def _negated(node: exp.Expr, negative: bool) -> exp.Expr:
    return exp.Not(this=node) if negative else node


def _datetime(moment: exp.Expr, *modifiers: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="datetime", expressions=[moment, *modifiers])


def _strftime(form: str, moment: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="strftime", expressions=[exp.Literal.string(form), moment])
