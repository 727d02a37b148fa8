"""Queries: SELECT, set operations, and queries without FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from fastsql.grammar.bounds import MAX_COLUMNS
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.convert.conditions import conjunct_rank
from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.names import Scope, group_key, read_quoted_strings
from fastsql.grammar.convert.nodes import (
    ARITHMETIC,
    COMPARISONS,
    check_sayable,
    conjuncts,
    months_in_days,
    unalias,
    unparen,
    whole_number,
)
from fastsql.grammar.convert.sources import Sources
from fastsql.grammar.convert.values import cast_name
from fastsql.grammar.convert.windows import has_window
from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.program import Literal, Production, Program, Terminal
from fastsql.grammar.tree import ProgramError, read_tree

if TYPE_CHECKING:
    from fastsql.schema import Schema


def sql_to_program(sql: str, schema: Schema, *, dialect: str = "sqlite") -> Program:
    """The program of a query, which the grammar derives. Raises ConversionError for SQL that cannot be parsed or said."""
    try:
        tree = sqlglot.parse_one(sql.strip().rstrip(";"), read=dialect)
    except (SqlglotError, RecursionError) as error:
        raise ConversionError(f"sqlglot cannot parse it: {type(error).__name__}") from error
    if not isinstance(tree, exp.Query):
        raise ConversionError(type(tree).__name__)
    if dialect == "sqlite":
        tree = read_quoted_strings(tree, schema)
    return tree_to_program(tree, schema)


def tree_to_program(tree: exp.Expr, schema: Schema) -> Program:
    """The program of a query that has been parsed, whose quoted names are names. Raises ConversionError."""
    program = tuple(Converter(schema).query(tree))
    try:
        read_tree(program, load_grammar())
    except ProgramError as error:
        raise ConversionError(error.reason) from error
    return program


class Converter(Sources):
    """Writes the terminals of queries, in the grammar's order."""

    def query(self, node: exp.Expr) -> list[Terminal]:
        """A query, without the parentheses around it."""
        while isinstance(node, (exp.Subquery, exp.Paren)):
            check_sayable(node)
            node = node.this
        if isinstance(node, exp.SetOperation):
            node = self._sorted_outside(node) or node
        check_sayable(node)
        clause = node.args.get("with_")
        if clause is not None:
            return self._with(node, clause)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node)
        if not isinstance(node, exp.Select):
            raise ConversionError(type(node).__name__)
        self.scopes.append(Scope(operand=self.as_operand))
        self.as_operand = False
        try:
            return self._bare(node) if node.args.get("from_") is None else self._select(node)
        finally:
            self.scopes.pop()

    def _with(self, node: exp.Expr, clause: exp.Expr) -> list[Terminal]:
        check_sayable(clause)
        ctes = self.ctes
        for cte in clause.expressions:
            check_sayable(cte)
            if cte.alias_column_names:
                raise ConversionError("column names of CTE")
            self.ctes = self.ctes | {cte.alias.lower(): cte.this}
        plain = node.copy()
        plain.set("with_", None)
        try:
            return self.query(plain)
        finally:
            self.ctes = ctes

    def _sorted_outside(self, node: exp.SetOperation) -> exp.Select | None:
        """A query over a set operation that is sorted or limited, as a derived table; None where it is neither."""
        frame = {name: node.args[name] for name in ("order", "limit", "offset") if node.args.get(name)}
        if not frame:
            return None
        inner = node.copy()
        for name in frame:
            inner.set(name, None)
        first = inner
        while not isinstance(first, exp.Select):
            first = first.this
        items = [exp.column(name, quoted=True) for name in _output_names(first)]
        outer = exp.Select().select(*items, copy=False).from_(inner.subquery("T", copy=False), copy=False)
        for name, part in frame.items():
            outer.set(name, part.copy())
        return outer

    def _set_operation(self, node: exp.SetOperation) -> list[Terminal]:
        name = {exp.Union: "union", exp.Intersect: "intersect", exp.Except: "except"}[type(node)]
        if name == "union" and not node.args.get("distinct"):
            name = "union_all"
        left = self._operand(node.this)
        outputs, widths = self.outputs, self.widths
        right = self._operand(node.expression)
        if "*" in (*outputs, *self.outputs) and (outputs != self.outputs or widths != self.widths):
            raise ConversionError("a set operation of * over unlike sources")
        self.outputs = outputs
        return [Production(name), *left, *right]

    def _operand(self, node: exp.Expr) -> list[Terminal]:
        self.as_operand = True
        return self.query(node)

    def _bare(self, node: exp.Select) -> list[Terminal]:
        if any(node.args.get(k) for k in ("where", "group", "order", "limit", "distinct")):
            raise ConversionError("clauses without FROM")
        written: list[Terminal] = [Production("bare")]
        names = []
        for number, item in enumerate(node.expressions, 1):
            written += self._bare_item(unalias(item))
            names.append(item.alias or f"C{number}")
        self.outputs = names
        return [*written, Production("end")]

    def _bare_item(self, node: exp.Expr) -> list[Terminal]:
        node = unparen(node)
        if type(node) in COMPARISONS:
            name = COMPARISONS[type(node)]
            return [
                Production("test"),
                Production(name),
                *self._bare_value(node.this),
                *self._bare_value(node.expression),
            ]
        return self._bare_value(node)

    def _bare_value(self, node: exp.Expr) -> list[Terminal]:
        node = unparen(node)
        if isinstance(node, exp.Cast) and cast_name(node) == "as_real":
            return [Production("as_real"), *self._bare_value(node.this)]
        if isinstance(node, (exp.Subquery, exp.Select)):
            return [Production("scalar"), *self.query(node)]
        if type(node) in ARITHMETIC:
            return [
                Production(ARITHMETIC[type(node)]),
                *self._bare_value(node.this),
                *self._bare_value(node.expression),
            ]
        raise ConversionError(f"{type(node).__name__} without FROM")

    # ---------------------------------------------------------------- SELECT and what frames it

    def _select(self, node: exp.Select) -> list[Terminal]:
        where = node.args.get("where")
        written, conditions = self.from_clause(node, [] if where is None else conjuncts(where.this))
        self.scope.items = node.expressions
        once = dict.fromkeys(tuple(self.condition(c)) for c in conditions)
        for conjunct in sorted(map(list, once), key=conjunct_rank):
            written += conjunct
        group = node.args.get("group")
        keys: list[list[Terminal]] = []
        if group is not None:
            check_sayable(group)
            keys = [self.value(group_key(key, node.expressions)) for key in group.expressions]
        gathered = self._gathered(node, keys) if keys else None
        if gathered is not None:
            return [*written, Production("gather"), *gathered, *self._tail(node)]
        for key in keys:
            written += [Production("group"), *key]
        having = node.args.get("having")
        if having is not None:
            if group is None:
                raise ConversionError("HAVING without GROUP BY")
            for clause in conjuncts(having.this):
                written += [Production("having"), *self.condition(clause, dates=False)]
        written += self._items(node)
        return written + self._tail(node)

    def _items(self, node: exp.Select) -> list[Terminal]:
        written: list[Terminal] = []
        distinct = node.args.get("distinct")
        if distinct is not None:
            check_sayable(distinct)
            written.append(Production("distinct"))
        names = []
        if any(item.is_star and not isinstance(item, exp.Count) for item in node.expressions):
            if self._selects_all(node):
                self.outputs = ["*"]
                self.widths = [self.width(source) for source in self.scope.sources]
                return [Production("all_columns")]
            node = self._with_columns_spelled_out(node)
        for item, name in zip(node.expressions, _output_names(node), strict=True):
            written += self._item(unparen(unalias(item)))
            names.append(name)
        self.outputs = names
        return written

    def _gathered(self, node: exp.Select, keys: list[list[Terminal]]) -> list[Terminal] | None:
        """The select items of a query that groups by what it selects beside aggregates; None of any other."""
        if self.scope.operand or node.args.get("having") or node.args.get("distinct"):
            return None
        if any(item.is_star and not isinstance(item, exp.Count) for item in node.expressions):
            return None
        items = [self._item(unparen(unalias(item))) for item in node.expressions]
        others = [item for item in items if not _is_aggregate(item)]
        if others != keys or len(others) == len(items):
            return None
        self.outputs = _output_names(node)
        return [terminal for item in items for terminal in item]

    def _selects_all(self, node: exp.Select) -> bool:
        """Whether a query is `SELECT *`, the outermost one or an operand of it."""
        alone = (
            len(self.scopes) == 1 and len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Star)
        )
        return alone and not node.args.get("distinct") and not node.args.get("group")

    def _with_columns_spelled_out(self, node: exp.Select) -> exp.Select:
        """A query whose `*` and `table.*` are columns by name."""
        items: list[exp.Expr] = []
        for item in node.expressions:
            if not item.is_star or isinstance(item, exp.Count):
                items.append(item)
                continue
            sources = self.scope.sources
            if isinstance(item, exp.Column):
                sources = [source for source in sources if source.name == item.table.lower()]
            items += (
                exp.column(name, source.name, quoted=True)
                for source in sources
                for name in self.names(source)
            )
        if not items or len(items) > MAX_COLUMNS:
            raise ConversionError("* beside other items, or in a subquery")
        plain = node.copy()
        plain.set("expressions", [item.copy() for item in items])
        return plain

    def _item(self, node: exp.Expr) -> list[Terminal]:
        if isinstance(node, exp.Window):
            return self.window(node)
        if has_window(node):
            return [Production("over"), *self.value(node)]
        if isinstance(node, exp.Literal) and node.is_string:
            return [Production("label"), Literal(str(node.this))]
        if isinstance(node, (exp.Literal, exp.Neg, exp.Boolean)) or months_in_days(node) is not None:
            return [Production("constant"), *self.value(node)]
        if isinstance(node, (exp.Predicate, exp.Not, exp.Connector)) and not isinstance(
            node, exp.SubqueryPredicate
        ):
            return [Production("test"), *self.condition(node, dates=False)]
        return self.value(node)

    def _tail(self, node: exp.Select) -> list[Terminal]:
        written: list[Terminal] = []
        order, limit, offset = (node.args.get(k) for k in ("order", "limit", "offset"))
        written += self.sort_keys(order, node.expressions)
        if limit is None:
            return [*written, Production("end")]
        written += [Production("limit"), *whole_number(limit.expression)]
        return (
            [*written, Production("offset"), *whole_number(offset.expression)]
            if offset is not None
            else [*written, Production("end")]
        )


def _is_aggregate(item: list[Terminal]) -> bool:
    return isinstance(item[0], Production) and item[0].name in AGGREGATES


def _output_names(node: exp.Select) -> list[str]:
    """The names by which a query's items are known outside: aliases, columns, or numbers of their own."""
    named = [(item.alias, unalias(item)) for item in node.expressions]
    return [
        alias or (inner.name if isinstance(inner, exp.Column) else f"_{number}")
        for number, (alias, inner) in enumerate(named, 1)
    ]
