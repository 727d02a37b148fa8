"""Queries over two tables that are one now: a join of them along their key is the merged table itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.model import ForeignKey
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.reading import NAMING, Query, Use
from fastsql.synthesis.extension.trees import (
    aggregates,
    all_inner,
    demand,
    demand_at,
    demands,
    drop,
    equates,
    free_alias,
    is_inner,
    put_in_view,
    refer,
    rules_out_null,
    table,
    terms,
)
from fastsql.synthesis.schema.clauses import joins_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastsql.synthesis.extension.merge import MergeSite


class _View(Protocol):
    def __call__(self, number: int, columns: Sequence[int]) -> exp.Query: ...

    def guard(self, number: int, alias: str) -> exp.Expr | None: ...


@dataclass(frozen=True)
class MergeRewriter:
    """Rewrites queries for a merged table of a name; `names` are the names that old columns have there."""

    schema: Schema
    site: MergeSite
    key: ForeignKey
    merged: str
    names: dict[int, str]
    view: _View

    def __call__(self, query: Query, facts: Facts) -> None:
        """Rewrite in place."""
        left = [use for use in query.uses if use.table in (self._child, self._parent)]
        while left:
            use = left.pop(0)
            partner = next((other for other in left if self._are_joined(use, other)), None)
            if partner is not None:
                left = [other for other in left if other is not partner]
                self._unite(use, partner)
            else:
                self._alone(use)

    @property
    def _child(self) -> int:
        return self.schema.columns[self.key.columns[0]].table

    @property
    def _parent(self) -> int:
        return self.schema.columns[self.key.references[0]].table

    # A join of both ---------------------------------------------------------------------------------------------

    def _are_joined(self, one: Use, other: Use) -> bool:
        """Whether inner joins along the whole key connect a use of each."""
        if one.select is not other.select or {one.table, other.table} != {self._child, self._parent}:
            return False
        if one.whole or other.whole or not all_inner(one.select):
            return False
        return len(self._links(one, other)) == len(self.key.columns)

    def _links(self, one: Use, other: Use) -> list[exp.Expr]:
        child, parent = (one, other) if one.table == self._child else (other, one)
        return [
            link
            for column, reference in zip(self.key.columns, self.key.references, strict=True)
            for link in [t for t in demands(one.select) if equates(t, child, column, parent, reference)][:1]
        ]

    def _unite(self, first: Use, second: Use) -> None:
        """The merged table in the place of the first; what else the second's join said stays said."""
        if second.join is None:
            first, second = second, first
        join = second.join
        if join is None:
            raise TypeError("two first tables of FROM")
        for link in self._links(first, second):
            drop(link)
        guarded = [use.table for use in (first, second) if not self._tells(use)]
        select, rest = first.select, list(terms(join.args.get("on")))
        joins = [one for one in joins_of(select) if one is not join]
        select.set("joins", joins)
        links = [one for one in rest if len({column.table for column in one.find_all(exp.Column)}) > 1]
        if joins and links:
            demand_at(joins[-1], *links)
            rest = [one for one in rest if all(one is not link for link in links)]
        if rest:
            demand(select, *rest)
        alias = self._put(first, named=bool(first.node.alias and second.node.alias))
        for use in (first, second):
            self._refer(use, alias)
        demand(
            select, *(guard for number in guarded if (guard := self.view.guard(number, alias)) is not None)
        )

    # One of them alone ------------------------------------------------------------------------------------------

    def _alone(self, use: Use) -> None:
        if use.whole or any(join.side in ("RIGHT", "FULL") for join in joins_of(use.select)):
            put_in_view(use, self.schema, self.view)
        elif self._has_its_rows(use) or (all_inner(use.select) and self._may_repeat(use)):
            self._stand_in(use)
        else:
            put_in_view(use, self.schema, self.view)

    def _has_its_rows(self, use: Use) -> bool:
        """Whether the merged table has one row for each of the use's table."""
        return use.table == self._child or self.site.once

    def _stand_in(self, use: Use) -> None:
        """The merged table in the place of one that has as many rows there, or whose rows may be repeated."""
        told, join = self._tells(use), use.join
        alias = self._put(use, named=bool(use.node.alias))
        self._refer(use, alias)
        guard = None if told else self.view.guard(use.table, alias)
        if guard is not None:
            if join is not None and not is_inner(join):
                demand_at(join, guard)
            else:
                demand(use.select, guard)

    def _may_repeat(self, use: Use) -> bool:
        """Whether a parent's row may come once for each of its children; the query is made so where it can be."""
        select = use.select
        counts = aggregates(select)
        if select.find(exp.Window) is not None:
            return False
        counted = [node for node in counts if not _ignores_repetition(node)]
        if not counted and not (counts or select.args.get("group")) and not _is_repetition_ignored(select):
            return self._make_distinct(use)
        if not counted:
            return True
        if len(use.select.args.get("joins") or ()) or len(self.key.references) > 1:
            return False
        return self._count_distinct(use, counted)

    def _count_distinct(self, use: Use, counted: list[exp.Expr]) -> bool:
        """COUNT(*) over the parent alone becomes the number of its keys."""
        key = self.key.references[0]
        keys = {id(node) for node in use.of(key)}
        if not all(
            isinstance(n, exp.Count) and (isinstance(n.this, exp.Star) or id(n.this) in keys) for n in counted
        ):
            return False
        for node in counted:
            column = NAMING.column(self.schema.columns[key].name, use.alias)
            node.set("this", exp.Distinct(expressions=[column]))
            node.set("big_int", None)
            use.columns.append((column, key))
        return True

    def _make_distinct(self, use: Use) -> bool:
        """DISTINCT for a query over the parent alone that selects its key, or asks for one of its rows."""
        select = use.select
        if joins_of(select) or select.args.get("limit") is not None:
            return False
        keys = [[id(node) for node in use.of(column)] for column in self.key.references]
        pinned = [side for t in demands(select) if isinstance(t, exp.EQ) for side in _pinned(t)]
        fixed = {id(item.unalias()) for item in select.expressions} | set(pinned)
        if not all(any(node in fixed for node in nodes) for nodes in keys):
            return False
        select.distinct(copy=False)
        return True

    # Both -------------------------------------------------------------------------------------------------------

    def _tells(self, use: Use) -> bool:
        """Whether a demand rules out rows of the merged table that are none of this one."""
        if self.view.guard(use.table, "") is None:
            return True
        own = use.join
        if own is not None and not is_inner(own):
            found = list(terms(own.args.get("on")))
        elif all_inner(use.select):
            found = demands(use.select)
        else:
            where = use.select.args.get("where")
            found = list(terms(where.this if where is not None else None))
        shared = {*self.key.columns} if use.table == self._child else set[int]()
        nodes = [node for node, column in use.columns if column not in shared]
        return any(rules_out_null(term, nodes) for term in found)

    def _put(self, use: Use, *, named: bool) -> str:
        alias = use.alias if named else free_alias(self.merged, use.select)
        made = table(self.merged, alias)
        use.node.replace(made)
        use.node = made
        return alias

    def _refer(self, use: Use, alias: str) -> None:
        for node, column in use.columns:
            refer(node, self.names[column], alias)


def _ignores_repetition(node: exp.Expr) -> bool:
    """Whether an aggregate is the same of rows that come several times."""
    return isinstance(node, (exp.Min, exp.Max)) or isinstance(node.this, exp.Distinct)


def _is_repetition_ignored(select: exp.Select) -> bool:
    """Whether nobody can tell how often a row of this query comes."""
    if select.args.get("distinct") is not None:
        return True
    limit = select.args.get("limit")
    if limit is not None:
        only = isinstance(limit.expression, exp.Literal) and limit.expression.name == "1"
        return only and select.args.get("offset") is None
    parent = select.parent
    while isinstance(parent, (exp.Subquery, exp.Paren)) and not parent.alias:
        parent = parent.parent
    return isinstance(parent, (exp.In, exp.Exists)) or (
        isinstance(parent, exp.SetOperation) and bool(parent.args.get("distinct"))
    )


def _pinned(term: exp.EQ) -> list[int]:
    """The columns that an equality gives one value."""
    sides = ((term.this, term.expression), (term.expression, term.this))
    return [id(one) for one, other in sides if isinstance(other, exp.Literal)]
