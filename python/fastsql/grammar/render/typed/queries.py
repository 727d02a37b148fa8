"""Queries of a dialect that minds types, grouping, and what ORDER BY may name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from fastsql.grammar.clauses import chain, child, distinct, grouping_of, items_of, own
from fastsql.grammar.program import Node
from fastsql.grammar.render.pieces import conjunction
from fastsql.grammar.render.queries import SET_OPERATIONS, SORTS
from fastsql.grammar.render.typed.closed import Closed, enclose
from fastsql.grammar.render.typed.conditions import TypedConditions
from fastsql.grammar.render.typed.grouping import grouping_with
from fastsql.grammar.render.typed.types import Type, Typed, merged_type
from fastsql.grammar.render.typed.values import TypedSource


@dataclass(frozen=True)
class _Key:
    """A key of ORDER BY."""

    value: Typed
    descending: bool
    nulls_first: bool


class TypedRenderer(TypedConditions):
    """Turns derivation trees into sqlglot trees of a dialect that minds types. One per query."""

    def query(self, node: Node, names: list[str] | None = None) -> exp.Query:
        """A query or set operation. A derived table passes `names`: it receives the output names, by aliases."""
        if node.name not in SET_OPERATIONS:
            self.groupings.append(None)
            try:
                return super().query(node, names)
            finally:
                self.groupings.pop()
        kind, distinct = SET_OPERATIONS[node.name]
        left = self.query(child(node, 0), names)
        one = self.closed
        right = self.query(child(node, 1), None if names is None else [])
        other = self.closed
        self._align(one, other)
        self.closed = Closed(one.operands + other.operands, one.types)
        if (
            kind is exp.Intersect
            and isinstance(left, exp.SetOperation)
            and not isinstance(left, exp.Intersect)
        ):
            left = left.subquery(copy=False)  # INTERSECT binds more tightly everywhere but in SQLite
        return self.marked(node, kind(this=left, expression=right, distinct=distinct))

    def _align(self, one: Closed, other: Closed) -> None:
        """Brings the columns of two operands to common types."""
        for column, pair in enumerate(zip(list(one.types), list(other.types), strict=True)):
            target = merged_type(pair)
            for closed in (one, other):
                if closed.types[column] != target:
                    closed.convert(column, lambda item, target=target: self._as(item, target), self.naming)  # type: ignore[misc]

    def _as(self, value: Typed, type_: Type) -> Typed:
        return value if value.type == type_ else Typed(self.into(value, type_), type_)

    def derived(self, node: Node, alias: str) -> TypedSource:
        """A derived table as an entry of FROM."""
        source = super().derived(node, alias)
        self.unsorted(source.node.this)
        return TypedSource(source.name, source.outputs, source.node, types=tuple(self.closed.types))

    def scalar(self, node: Node) -> Typed:
        """A query as one value: of its first row, where it has several."""
        query, closed = self.query(node), self.closed
        if not closed.one_row:
            query.set("limit", exp.Limit(expression=exp.Literal.number(1)))
        return Typed(query.subquery(copy=False), closed.types[0])

    def _bare(self, node: Node, names: list[str] | None) -> exp.Select:
        nodes = [child(node, 0), *(own(n, 1) for n in chain(node.children[1]))]
        items = [self.bare_item(n) for n in nodes]
        select = exp.Select().select(*self.naming.named([item.node for item in items], names), copy=False)
        self.closed = Closed([(select, items)], [item.type for item in items], one_row=True)
        return select

    # ---------------------------------------------------------------- SELECT and what frames it

    def _body(self, select: exp.Select, node: Node, names: list[str] | None) -> None:
        keys, having, listed = grouping_of(node)
        tail = node.children[-1]
        select.group_by(*(self.value(key) for key in keys), copy=False)
        if listed.name == "all_columns":
            items = self._typed_columns()
            select.select(*(item.node for item in items), copy=False)
            self._tail(select, tail)
            self.closed = Closed([(select, items)], [item.type for item in items])
            return
        nodes, order = items_of(listed), list(_sorted(tail))
        grouping = grouping_with(keys, [*nodes, *(child(key, 0) for key in order), *having])
        self.groupings[-1] = grouping
        if having:
            select.set(
                "having", exp.Having(this=conjunction([self.condition(one) for one in distinct(having)]))
            )
        items = [self._item(one) for one in nodes]
        one_row = grouping is not None and not keys
        # One row needs no order, and nothing of which it could be one is left.
        sorts = [] if one_row else [_Key(self.typed(child(one, 0)), *SORTS[one.name]) for one in order]
        items = self._framed(select, items, sorts, names, distinct=listed.name == "distinct")
        self.limit(select, _after_sorting(tail))
        limit = select.args.get("limit")
        one_row = one_row or (limit is not None and limit.expression.name in ("0", "1"))
        self.closed = Closed([(select, items)], [item.type for item in items], one_row)

    def _typed_columns(self) -> list[Typed]:
        """What `*` selects, with its types."""
        columns: list[Typed] = []
        for source in self.scopes[-1]:
            if source.table is None:
                columns += [self.output(item, source) for item in range(len(source.outputs))]
            else:
                columns += [self.column(index, source) for index in self.schema.tables[source.table].columns]
        return columns

    def _item(self, node: Node) -> Typed:
        """A select item."""
        if node.name == "test":
            return self.tested(self.condition(child(node, 0)))
        return self.typed(node)

    def _framed(
        self,
        select: exp.Select,
        items: list[Typed],
        keys: list[_Key],
        names: list[str] | None,
        *,
        distinct: bool,
    ) -> list[Typed]:
        """Select list, DISTINCT and ORDER BY; returns the items that the query has in the end.

        Behind DISTINCT other dialects sort by select items only. What SQLite takes from some row of several equal ones,
        is the least there, or the greatest where the order descends: of equal rows the one that comes first.
        """
        nodes = [item.node for item in items]
        if not distinct or all(key.value.node in nodes for key in keys):
            select.select(*self.naming.named(nodes, names), copy=False)
            if distinct:
                select.distinct(copy=False)
            for key in keys:
                select.order_by(_ordered(key.value.node, key), copy=False)
            return items
        beside = [key.value for key in keys if key.value.node not in nodes]
        everything = [*nodes, *(value.node for value in beside)]
        columns = items
        closed = any(
            node.find(exp.Window, exp.Query) or isinstance(node, exp.Literal | exp.Neg) for node in everything
        )
        if select.args.get("group") or closed:  # GROUP BY takes a written number for a position
            select.select(*self.naming.named(everything, []), copy=False)
            columns = enclose(select, [*items, *beside], self.naming)
            select.set("expressions", [])
        renamed = dict(zip(everything, columns if columns is not items else [*items, *beside], strict=False))
        nodes = [renamed[node].node.copy() for node in nodes]
        select.select(*self.naming.named(nodes, names), copy=False)
        select.group_by(*(node.copy() for node in nodes), copy=False)
        for key in keys:
            value = renamed[key.value.node]
            if value.node not in nodes:
                extreme = exp.Max if key.descending else exp.Min
                value = value.with_node(extreme(this=self.comparable(value).node.copy()))
            select.order_by(_ordered(value.node.copy(), key), copy=False)
        return [item.with_node(node) for item, node in zip(items, nodes, strict=True)]

    def unsorted(self, query: exp.Query) -> None:
        """Drops an ORDER BY that says nothing, where the dialect wants none."""
        if not self.dialect.sorts_anywhere and query.args.get("limit") is None:
            query.set("order", None)


def _sorted(node: Node | None) -> Iterator[Node]:
    """The keys of ORDER BY."""
    while node is not None and node.name in SORTS:
        yield node
        node = node.children[1]


def _after_sorting(node: Node | None) -> Node | None:
    while node is not None and node.name in SORTS:
        node = node.children[1]
    return node


def _ordered(node: exp.Expr, key: _Key) -> exp.Ordered:
    """A key with its direction, and where NULL comes."""
    return exp.Ordered(this=node, desc=key.descending, nulls_first=key.nulls_first)
