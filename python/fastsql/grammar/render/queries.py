"""Queries: SELECT, FROM, set operations, and what frames them."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from fastsql.grammar.clauses import chain, child, distinct, grouping_of, items_of, joined, own, some
from fastsql.grammar.program import ColumnRef, Node, TableRef
from fastsql.grammar.render.conditions import Conditions
from fastsql.grammar.render.pieces import conjunction
from fastsql.grammar.render.values import Source
from fastsql.schema.names import fold

SET_OPERATIONS: dict[str, tuple[type[exp.SetOperation], bool]] = {
    "union": (exp.Union, True),
    "union_all": (exp.Union, False),
    "intersect": (exp.Intersect, True),
    "except": (exp.Except, True),
}
SORTS = {
    "asc": (False, True),
    "desc": (True, False),
    "asc_nulls_last": (False, False),
    "desc_nulls_first": (True, True),
}
"""Directions of sort keys: whether they descend, and whether NULL comes first."""


class Renderer(Conditions):
    """Turns derivation trees into sqlglot trees. One per query; the methods mirror the symbols of the grammar."""

    def query(self, node: Node, names: list[str] | None = None) -> exp.Query:
        """A query or set operation. A derived table passes `names`: it receives the output names, by aliases."""
        if node.name in SET_OPERATIONS:
            kind, distinct = SET_OPERATIONS[node.name]
            left = self.query(child(node, 0), names)
            right = self.query(child(node, 1), None if names is None else [])
            return self.marked(node, kind(this=left, expression=right, distinct=distinct))
        self.scopes.append([])
        try:
            return self.marked(
                node, self._bare(node, names) if node.name == "bare" else self._select(node, names)
            )
        finally:
            self.scopes.pop()

    def marked(self, node: Node, query: exp.Query) -> exp.Query:
        """The query with the number that its node is to be known by, if there is one."""
        if id(node) in self.results:
            query.meta["turn"] = self.results[id(node)]
        return query

    def _bare(self, node: Node, names: list[str] | None) -> exp.Select:
        items = [self.bare(child(node, 0)), *(self.bare(own(n, 1)) for n in chain(node.children[1]))]
        return exp.Select().select(*self.naming.named(items, names), copy=False)

    def _select(self, node: Node, names: list[str] | None) -> exp.Select:
        select = exp.Select()
        joins, where, body = node.children[-3:]
        self._from(select, node, list(joined(joins)))
        conditions = [self.condition(one) for one in distinct(own(n, 1) for n in chain(where))]
        if conditions:
            select.set("where", exp.Where(this=conjunction(conditions)))
        self._body(select, some(body), names)
        return select

    def _from(self, select: exp.Select, first: Node, joins: list[Node]) -> None:
        scope = self.scopes[-1]
        nodes = [first, *(child(join, 0) for join in joins)]
        tables = [n.terminal.table for n in nodes if isinstance(n.terminal, TableRef)]
        names = [fold(self.schema.tables[table].name) for table in tables]
        taken = {self.schema.tables[t].name.lower() for t in tables}
        for node, join in zip(nodes, [None, *joins], strict=True):
            alias = self.naming.fresh_alias(taken)
            if isinstance(node.terminal, TableRef):
                table = node.terminal.table
                name = self.schema.tables[table].name
                if names.count(fold(name)) > 1:
                    taken.add(alias.lower())
                    aliased = exp.alias_(self._table(table), self.naming.identifier(alias), table=True)
                    scope.append(Source(alias, (), aliased, table))
                else:
                    scope.append(Source(name, (), self._table(table), table))
            else:
                taken.add(alias.lower())
                scope.append(self.derived(child(node, 0), alias))
            if join is None:
                select.from_(scope[-1].node, copy=False)
                continue
            if join.name == "cross_join":
                select.join(scope[-1].node, join_type="cross", copy=False)
                continue
            ons = list(chain(join.children[3]))
            compared = [(child(join, 1), child(join, 2))]
            compared += [(child(on, 0), child(on, 1)) for on in ons if on.name != "on_cond"]
            conditions = [self._equality(*pair) for pair in self._of_whole_key(compared)]
            conditions += [self.condition(child(on, 0)) for on in ons if on.name == "on_cond"]
            side = "left" if join.name == "left_join" else ""
            select.join(scope[-1].node, on=conjunction(conditions), join_type=side, copy=False)

    def _table(self, table: int) -> exp.Table:
        """The name of a table, with its namespace where that is not the default one."""
        namespace = self.schema.namespace_in_sql(table)
        return exp.Table(
            this=self.naming.identifier(self.schema.tables[table].name),
            db=self.naming.identifier(namespace) if namespace else None,
        )

    def derived(self, node: Node, alias: str) -> Source:
        """A derived table as an entry of FROM."""
        outputs: list[str] = []
        inner = self.query(node, outputs)
        return Source(alias, tuple(outputs), inner.subquery(self.naming.identifier(alias), copy=False))

    def _of_whole_key(self, compared: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
        """What joins a source; what tells a key of several columns, if it stands alone, with the rest of that key."""
        (one, other), *more = compared
        here, there = one.terminal, other.terminal
        if more or not (isinstance(here, ColumnRef) and isinstance(there, ColumnRef)):
            return list(dict.fromkeys(compared))
        whole = self.schema.whole_keys.get((here.column, there.column), ((here.column, there.column),))
        return [
            (Node(replace(here, column=left), ()), Node(replace(there, column=right), ()))
            for left, right in whole
        ]

    def _equality(self, one: Node, other: Node) -> exp.Expr:
        left, right = self.operands([one, other])
        return exp.EQ(this=left, expression=right)

    # ---------------------------------------------------------------- SELECT and what frames it

    def _body(self, select: exp.Select, node: Node, names: list[str] | None) -> None:
        keys, having, items = grouping_of(node)
        select.group_by(*(self.value(key) for key in keys), copy=False)
        clauses = [self.condition(one) for one in distinct(having)]
        if clauses:
            select.set("having", exp.Having(this=conjunction(clauses)))
        self._items(select, items, names)
        self._tail(select, node.children[-1])

    def _items(self, select: exp.Select, node: Node, names: list[str] | None) -> None:
        """`node`: all_columns, distinct, or the first item; its last child is the rest of the list."""
        if node.name == "all_columns":
            select.select(*self._all_columns(), copy=False)
            return
        if node.name == "distinct":
            select.distinct(copy=False)
        items = [self.item(item) for item in items_of(node)]
        select.select(*self.naming.named(items, names), copy=False)

    def _all_columns(self) -> list[exp.Expr]:
        """What `*` selects: the columns of the schema, by name. The database may have others, which nobody asked for."""
        columns: list[exp.Expr] = []
        for source in self.scopes[-1]:
            if source.table is None:
                names = source.outputs
            else:
                table = self.schema.tables[source.table]
                names = tuple(self.schema.columns[column].name for column in table.columns)
            columns += [self.naming.column(name, source.name) for name in names]
        return columns

    def item(self, node: Node) -> exp.Expr:
        """A select item."""
        if node.name == "test":
            return self.condition(child(node, 0))
        return self.value(node)

    def window(self, node: Node, function: exp.Expr) -> exp.Expr:
        """A rank, an aggregate over a window, or the value of a neighbouring row."""
        key, partition, order = child(node, 0), [], []
        while key.name == "partition" or key.name.endswith("_then"):
            if key.name == "partition":
                partition.append(self.value(child(key, 0)))
            else:
                order.append(self._ordered(key))
            key = child(key, 1)
        if key.name != "whole":
            order.append(self._ordered(key))
        sorting = exp.Order(expressions=order) if order else None
        return exp.Window(this=function, partition_by=partition, order=sorting)

    def _ordered(self, node: Node) -> exp.Ordered:
        descending, nulls_first = SORTS[node.name.removesuffix("_then")]
        return exp.Ordered(this=self.value(child(node, 0)), desc=descending, nulls_first=nulls_first)

    def _tail(self, select: exp.Select, node: Node | None) -> None:
        while node is not None and node.name in SORTS:
            select.order_by(self._ordered(node), copy=False)
            node = node.children[1]
        self.limit(select, node)

    def limit(self, select: exp.Select, node: Node | None) -> None:
        """LIMIT and OFFSET, where there are any."""
        if node is not None and node.name == "limit":
            select.limit(self.value(child(node, 0)), copy=False)
            offset = child(node, 1)
            if offset.name == "offset":
                select.offset(self.value(child(offset, 0)), copy=False)
