"""Converts SQL into programs of the action grammar, over sqlglot's tree.

Only what the grammar can say is converted; anything else raises ConversionError with the construct that stands in
the way, so that coverage can be counted by reason. Conjuncts are put into one canonical order: paraphrases of a
question then have one program, and a decoder need not learn an order that means nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from fastsql.grammar.compile import load_grammar
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Production, Program, TableRef, Terminal
from fastsql.grammar.render import PARTS
from fastsql.grammar.times import Moment, julian, read_format, time_condition
from fastsql.grammar.tree import ProgramError, read_tree

if TYPE_CHECKING:
    from fastsql.schema import Schema

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
}
_MIRRORED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divide",
}
_WINDOWS: dict[type[exp.Expr], str] = {
    exp.DenseRank: "dense_rank",
    exp.Rank: "rank",
    exp.RowNumber: "row_number",
    exp.PercentRank: "percent_rank",
}
_JOINS = {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_PART_NAMES = {form: name for name, form in PARTS.items()}
_SAYABLE: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        {"expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit", "offset"}
    ),
    exp.SetOperation: frozenset({"this", "expression", "distinct"}),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.Table: frozenset({"this", "alias", "db", "catalog"}),
    exp.Join: frozenset({"this", "on", "side", "kind"}),
    exp.Group: frozenset({"expressions"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Window: frozenset({"this", "partition_by", "order", "over"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Is: frozenset({"this", "expression"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
}
"""What of a node the grammar can say; whatever else sqlglot has read is a reason to refuse, never to be dropped."""
# Conditions are ordered by what they are: restrictions through other tables, then plain ones, then those of time.
_RANKS = {"in": 0, "not_in": 0, "in_list": 1, "not_in_list": 1, "not_between": 1, "is_null": 2, "not_null": 2}


class ConversionError(ValueError):
    """SQL that the grammar cannot say. `construct` names what stands in the way, without any literal."""

    def __init__(self, construct: str) -> None:
        super().__init__(construct)
        self.construct = construct


def sql_to_program(sql: str, schema: Schema, *, dialect: str = "sqlite") -> Program:
    """The program of a query, which the grammar derives. Raises ConversionError for SQL that cannot be parsed or said."""
    try:
        tree = sqlglot.parse_one(sql.strip().rstrip(";"), read=dialect)
    except (SqlglotError, RecursionError) as error:
        raise ConversionError(f"sqlglot cannot parse it: {type(error).__name__}") from error
    if not isinstance(tree, exp.Query):
        raise ConversionError(type(tree).__name__)
    program = tuple(_Converter(schema).query(tree))
    try:
        read_tree(program, load_grammar())
    except ProgramError as error:
        raise ConversionError(error.reason) from error
    return program


@dataclass
class _Source:
    """An entry of FROM by its names: what qualifies it, its table or its output names."""

    name: str
    table: int | None
    outputs: list[str] = field(default_factory=list)


class _Converter:
    """Writes terminals in the grammar's order; one scope per query under conversion."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.scopes: list[list[_Source]] = []
        self.outputs: list[str] = []
        """Output names of the query converted last."""

    # ---------------------------------------------------------------- queries

    def query(self, node: exp.Expr) -> list[Terminal]:
        """A query, without the parentheses around it."""
        while isinstance(node, (exp.Subquery, exp.Paren)):
            _check_sayable(node)
            node = node.this
        _check_sayable(node)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node)
        if not isinstance(node, exp.Select):
            raise ConversionError(type(node).__name__)
        self.scopes.append([])
        try:
            return self._bare(node) if node.args.get("from_") is None else self._select(node)
        finally:
            self.scopes.pop()

    def _set_operation(self, node: exp.SetOperation) -> list[Terminal]:
        name = {exp.Union: "union", exp.Intersect: "intersect", exp.Except: "except"}[type(node)]
        if name == "union" and not node.args.get("distinct"):
            name = "union_all"
        left = self.query(node.this)
        outputs = self.outputs
        right = self.query(node.expression)
        self.outputs = outputs
        return [Production(name), *left, *right]

    def _bare(self, node: exp.Select) -> list[Terminal]:
        if any(node.args.get(k) for k in ("where", "group", "order", "limit", "distinct")):
            raise ConversionError("clauses without FROM")
        written: list[Terminal] = [Production("bare")]
        names = []
        for number, item in enumerate(node.expressions, 1):
            written += self._bare_item(_unalias(item))
            names.append(item.alias or f"C{number}")
        self.outputs = names
        return [*written, Production("end")]

    def _bare_item(self, node: exp.Expr) -> list[Terminal]:
        node = _unparen(node)
        if type(node) in _COMPARISONS:
            name = _COMPARISONS[type(node)]
            return [
                Production("test"),
                Production(name),
                *self._bare_value(node.this),
                *self._bare_value(node.expression),
            ]
        return self._bare_value(node)

    def _bare_value(self, node: exp.Expr) -> list[Terminal]:
        node = _unparen(node)
        if isinstance(node, (exp.Subquery, exp.Select)):
            return [Production("scalar"), *self.query(node)]
        if type(node) in _ARITHMETIC:
            return [
                Production(_ARITHMETIC[type(node)]),
                *self._bare_value(node.this),
                *self._bare_value(node.expression),
            ]
        raise ConversionError(f"{type(node).__name__} without FROM")

    def _select(self, node: exp.Select) -> list[Terminal]:
        written = self._from(node)
        where = node.args.get("where")
        if where is not None:
            conjuncts = [self.condition(c) for c in _conjuncts(where.this)]
            for conjunct in sorted(conjuncts, key=self._rank):
                written += conjunct
        group = node.args.get("group")
        if group is not None:
            _check_sayable(group)
            for key in group.expressions:
                written += [Production("group"), *self.value(key)]
        having = node.args.get("having")
        if having is not None:
            if group is None:
                raise ConversionError("HAVING without GROUP BY")
            for clause in _conjuncts(having.this):
                written += [Production("having"), *self.condition(clause, calendar=False)]
        written += self._items(node)
        return written + self._tail(node)

    def _from(self, node: exp.Select) -> list[Terminal]:
        written = self._source(node.args["from_"].this)
        for join in node.args.get("joins") or []:
            _check_sayable(join)
            if (join.side, join.kind) not in _JOINS:
                raise ConversionError(" ".join(filter(None, (join.side, join.kind, "JOIN"))))
            on = join.args.get("on")
            if on is None:
                raise ConversionError("JOIN without ON")
            written.append(Production("left_join" if join.side == "LEFT" else "join"))
            written += self._source(join.this)
            for number, pair in enumerate(_conjuncts(on)):
                if number:
                    written.append(Production("on"))
                written += self._pair(pair)
        return written

    def _source(self, node: exp.Expr) -> list[Terminal]:
        scope = self.scopes[-1]
        _check_sayable(node)
        if isinstance(node, exp.Table):
            table = self._table(node.name)
            scope.append(_Source((node.alias or node.name).lower(), table))
            return [TableRef(table)]
        if isinstance(node, exp.Subquery):
            inner = self.query(node.this)
            scope.append(_Source(node.alias.lower(), None, [name.lower() for name in self.outputs]))
            return [Production("derived"), *inner]
        raise ConversionError(f"{type(node).__name__} in FROM")

    def _table(self, name: str) -> int:
        for index, table in enumerate(self.schema.tables):
            if table.name.lower() == name.lower():
                return index
        raise ConversionError("a table that the schema lacks")

    def _pair(self, node: exp.Expr) -> list[Terminal]:
        node = _unparen(node)
        if not (
            isinstance(node, exp.EQ)
            and isinstance(node.this, exp.Column)
            and isinstance(node.expression, exp.Column)
        ):
            raise ConversionError("ON without an equality of columns")
        sides = [self.column(node.this), self.column(node.expression)]
        newest = len(self.scopes[-1]) - 1
        if sides[0].source == newest:
            sides.reverse()
        if sides[1].source != newest or sides[0].source == newest:
            raise ConversionError("ON that does not link the new source with an earlier one")
        return list(sides)

    # ---------------------------------------------------------------- SELECT and what frames it

    def _items(self, node: exp.Select) -> list[Terminal]:
        written: list[Terminal] = []
        distinct = node.args.get("distinct")
        if distinct is not None:
            _check_sayable(distinct)
            written.append(Production("distinct"))
        names = []
        for number, item in enumerate(node.expressions, 1):
            inner = _unalias(item)
            written += self._item(_unparen(inner))
            names.append(item.alias or (inner.name if isinstance(inner, exp.Column) else f"_{number}"))
        self.outputs = names
        return written

    def _item(self, node: exp.Expr) -> list[Terminal]:
        if isinstance(node, exp.Window):
            return self._window(node)
        if isinstance(node, (exp.Predicate, exp.Not)) and not isinstance(node, exp.SubqueryPredicate):
            return [Production("test"), *self.condition(node, calendar=False)]
        return self.value(node)

    def _window(self, node: exp.Window) -> list[Terminal]:
        _check_sayable(node)
        order = node.args.get("order")
        if type(node.this) not in _WINDOWS or order is None or len(order.expressions) != 1:
            raise ConversionError("window other than a rank")
        written: list[Terminal] = [Production(_WINDOWS[type(node.this)])]
        for key in node.args.get("partition_by") or []:
            written += [Production("partition"), *self.value(key)]
        return written + self._ordered(order.expressions[0])

    def _ordered(self, node: exp.Expr) -> list[Terminal]:
        _check_sayable(node)
        descending = bool(node.args.get("desc"))
        if bool(node.args.get("nulls_first")) == descending:
            raise ConversionError("NULLS FIRST or NULLS LAST")
        return [Production("desc" if descending else "asc"), *self.value(node.this)]

    def _tail(self, node: exp.Select) -> list[Terminal]:
        written: list[Terminal] = []
        order, limit, offset = (node.args.get(k) for k in ("order", "limit", "offset"))
        for key in order.expressions if order is not None else []:
            written += self._ordered(key)
        if limit is None:
            return [*written, Production("end")]
        written += [Production("limit"), *_whole(limit.expression)]
        return (
            [*written, Production("offset"), *_whole(offset.expression)]
            if offset is not None
            else [*written, Production("end")]
        )

    # ---------------------------------------------------------------- conditions

    def _rank(self, terminals: list[Terminal]) -> tuple[int, str]:
        """Place of a conjunct in the canonical order: by kind, then by the columns it names."""
        head = terminals[0]
        assert isinstance(head, Production)
        through_query = head.name in ("in", "not_in") or any(t == Production("scalar") for t in terminals[:4])
        kind = 0 if through_query else _RANKS.get(head.name, 3 if "_" in head.name else 1)
        shape = " ".join("literal" if isinstance(t, Literal) else repr(t) for t in terminals)
        columns = " ".join(f"{t.column:05d}" for t in terminals[:3] if isinstance(t, ColumnRef))
        return kind, columns + shape

    def condition(self, node: exp.Expr, *, calendar: bool = True) -> list[Terminal]:
        """A condition of WHERE or CASE, or, without calendar arithmetic, one of HAVING or SELECT."""
        node = _literal_last(_unparen(node))
        _check_sayable(node)
        timed = time_condition(node) if calendar else None
        if timed is not None:
            return [
                Production(timed.name),
                *(t for column in timed.columns for t in self.value(column)),
                *timed.rest,
            ]
        if isinstance(node, exp.Not):
            return self._negation(node)
        if type(node) in _COMPARISONS:
            return self._comparison(node)
        if isinstance(node, exp.Between):
            parts = [self.value(node.this), self.value(node.args["low"]), self.value(node.args["high"])]
            return [Production("between"), *(t for part in parts for t in part)]
        if isinstance(node, exp.In):
            return self._membership(node)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return [Production("is_null"), *self.value(node.this)]
        if isinstance(node, (exp.Like, exp.Escape)):
            return self._likeness(node)
        if isinstance(node, (exp.Or, exp.And)):
            name = "or" if isinstance(node, exp.Or) else "and"
            return [Production(name), *self.condition(node.this), *self.condition(node.expression)]
        raise ConversionError(f"condition {type(node).__name__}")

    def _likeness(self, node: exp.Expr) -> list[Terminal]:
        escape, like = "", node
        if isinstance(node, exp.Escape):
            escape, like = node.expression.name, node.this
            _check_sayable(like)
        pattern = like.expression.name if isinstance(like.expression, exp.Literal) else ""
        text = _contained(pattern, escape) if isinstance(like, exp.Like) else None
        if text is None:
            raise ConversionError("LIKE with another pattern than %text%")
        name = "not_contains" if like.args.get("negate") else "contains"
        return [Production(name), *self.value(like.this), Literal(text)]

    def _membership(self, node: exp.In) -> list[Terminal]:
        if node.args.get("query") is not None:
            return [Production("in"), *self.value(node.this), *self.query(node.args["query"])]
        if not node.expressions or not all(
            _is_literal(e) or _months(_unparen(e)) is not None for e in node.expressions
        ):
            raise ConversionError("IN with other than literals or a query")
        written = [Production("in_list"), *self.value(node.this), *self.value(node.expressions[0])]
        for literal in node.expressions[1:]:
            written += [Production("also"), *self.value(literal)]
        return written

    def _negation(self, node: exp.Not) -> list[Terminal]:
        inner = self.condition(node.this)
        head = inner[0]
        assert isinstance(head, Production)
        opposite = {
            "in": "not_in",
            "in_list": "not_in_list",
            "between": "not_between",
            "is_null": "not_null",
            "contains": "not_contains",
            "not_contains": "contains",
        }
        if head.name in opposite:
            return [Production(opposite[head.name]), *inner[1:]]
        return [Production("not"), *inner]

    def _comparison(self, node: exp.Expr) -> list[Terminal]:
        return [Production(_COMPARISONS[type(node)]), *self.value(node.this), *self.value(node.expression)]

    # ---------------------------------------------------------------- values

    def value(self, node: exp.Expr) -> list[Terminal]:
        """A column, literal, aggregate, computation or scalar subquery."""
        node = _unparen(node)
        if isinstance(node, exp.Column):
            return self._column_or_name(node)
        if isinstance(node, (exp.Literal, exp.Neg)):
            return [_literal(node)]
        if isinstance(node, (exp.Subquery, exp.Select)):
            return [Production("scalar"), *self.query(node)]
        if type(node) in _AGGREGATES:
            return self._aggregate(node)
        if isinstance(node, exp.Case):
            return self._case(node)
        months = _months(node)
        if months is not None:
            return [Production("months_as_days"), Literal(months)]
        span = julian(node)
        if span is not None:
            return [Production(span.name), *self._moment(span.later), *self._moment(span.earlier)]
        if type(node) in _ARITHMETIC:
            return [Production(_ARITHMETIC[type(node)]), *self.value(node.this), *self.value(node.expression)]
        form = read_format(node)
        if form is not None and form[0] in _PART_NAMES:
            return [Production(_PART_NAMES[form[0]]), *self.value(form[1])]
        if isinstance(node, exp.Anonymous):
            raise ConversionError(f"function {node.name.upper()}")
        raise ConversionError(f"value {type(node).__name__}")

    def _moment(self, moment: Moment) -> list[Terminal]:
        return [Production("now")] if moment is None else self.value(moment)

    def _aggregate(self, node: exp.Expr) -> list[Terminal]:
        name, inner = _AGGREGATES[type(node)], node.this
        if isinstance(inner, exp.Star):
            return [Production("count_all")]
        if len(node.expressions) > 0:
            raise ConversionError(f"{name} of several values")
        if isinstance(inner, exp.Distinct):
            if len(inner.expressions) != 1:
                raise ConversionError(f"{name} DISTINCT of several values")
            name = name if name in ("min", "max") else f"{name}_distinct"
            inner = inner.expressions[0]
        return [Production(name), *self.value(inner)]

    def _case(self, node: exp.Case) -> list[Terminal]:
        branches = node.args["ifs"]
        if node.this is not None or len(branches) != 1 or node.args.get("default") is None:
            raise ConversionError("CASE with other than one WHEN and an ELSE")
        then = self.value(branches[0].args["true"])
        return [
            Production("case"),
            *self.condition(branches[0].this),
            *then,
            *self.value(node.args["default"]),
        ]

    def _column_or_name(self, node: exp.Column) -> list[Terminal]:
        try:
            return [self.column(node)]
        except ConversionError:
            named = [
                c for c in self.schema.constants if c.name.lower() == node.name.lower() and not node.table
            ]
            if not named:
                raise
            return [Literal(named[0].value, name=named[0].name)]

    def column(self, node: exp.Column) -> ColumnRef | DerivedRef:
        """The reference of a column, qualified or not."""
        if isinstance(node.this, exp.Star):
            raise ConversionError("value Star")
        name, qualifier = node.name.lower(), node.table.lower()
        for number, source in enumerate(self.scopes[-1]):
            if qualifier and source.name != qualifier:
                continue
            if source.table is None:
                if name in source.outputs:
                    return DerivedRef(number, source.outputs.index(name))
            else:
                for column in self.schema.tables[source.table].columns:
                    if self.schema.columns[column].name.lower() == name:
                        return ColumnRef(column, number)
        raise ConversionError("a column that no source in scope offers")


# ---------------------------------------------------------------- pieces


def _check_sayable(node: exp.Expr) -> None:
    """Raises ConversionError for a node with a part that the grammar cannot say."""
    kind = exp.SetOperation if isinstance(node, exp.SetOperation) else type(node)
    if kind in _SAYABLE:
        for name, part in node.args.items():
            if part and name not in _SAYABLE[kind]:
                raise ConversionError(f"{name.rstrip('_')} of {kind.__name__}")


def _contained(pattern: str, escape: str) -> str | None:
    """The text of a pattern `%text%`, or None for another pattern."""
    plain, position = "", 1
    if len(pattern) < 2 or pattern[0] != "%" or pattern[-1] != "%":
        return None
    while position < len(pattern) - 1:
        if escape and pattern[position] == escape:
            position += 1
        elif pattern[position] in "%_":
            return None
        plain += pattern[position]
        position += 1
    return plain if position == len(pattern) - 1 else None


def _unparen(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _unalias(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias) else node


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    node = _unparen(node)
    if isinstance(node, exp.And):
        return _conjuncts(node.this) + _conjuncts(node.expression)
    return [node]


def _is_literal(node: exp.Expr) -> bool:
    return isinstance(_unparen(node), (exp.Literal, exp.Neg))


def _literal_last(node: exp.Expr) -> exp.Expr:
    """A comparison whose literal, if it has one, stands on the right; anything else as it is."""
    if type(node) in _MIRRORED and _is_literal(node.this) and not _is_literal(node.expression):
        return _MIRRORED[type(node)](this=node.expression, expression=node.this)
    return node


def _literal(node: exp.Expr) -> Terminal:
    if isinstance(node, exp.Neg):
        inner = node.this
        if not isinstance(inner, exp.Literal) or inner.is_string:
            raise ConversionError("negation of an expression")
        value = _number(inner.this)
        return Literal(-value)
    return Literal(str(node.this)) if node.is_string else Literal(_number(str(node.this)))


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"\d+", text) else float(text)


def _whole(node: exp.Expr) -> list[Terminal]:
    if not isinstance(node, exp.Literal) or node.is_string:
        raise ConversionError("LIMIT or OFFSET that is no number")
    return [Literal(_number(str(node.this)))]


def _months(node: exp.Expr) -> int | None:
    """Months in `1 * 365/4`, the data sets' way of writing a span of months in days, and in `365 * 3 / 12`, ours."""
    if type(node) not in _ARITHMETIC:
        return None
    written = node.sql(dialect="sqlite")
    if ours := re.fullmatch(r"365 \* (\d+) / 12", written):
        return int(ours[1])
    match = re.fullmatch(r"(?:1 \* )?365(?: / (\d+))?", written)
    divisor = int(match[1] or 1) if match else 0
    return 12 // divisor if divisor and 12 % divisor == 0 else None
