"""Queries over a table whose key went to a relation table: they go through it where they use the key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.reading import Query, Use
from fastsql.synthesis.extension.trees import (
    all_inner,
    demands,
    equal,
    free_alias,
    is_inner,
    is_within,
    put_in_view,
    refer,
    rules_out_null,
    table,
    terms,
)
from fastsql.synthesis.schema.clauses import joins_of

if TYPE_CHECKING:
    from fastsql.synthesis.extension.relation import RelationSite

View = Callable[[int, Sequence[int]], exp.Query]


@dataclass(frozen=True)
class RelationRewriter:
    """Rewrites queries for a relation table of a name, `child` being the table that lost its key."""

    schema: Schema
    site: RelationSite
    child: int
    relation: str
    view: View

    def __call__(self, query: Query, facts: Facts) -> None:
        """Rewrite in place."""
        for use in query.uses:
            if use.table == self.child and (use.whole or not set(self.site.moved).isdisjoint(use.used)):
                self._rewrite(use)

    def _rewrite(self, use: Use) -> None:
        if use.whole or any(join.side in ("RIGHT", "FULL") for join in joins_of(use.select)):
            put_in_view(use, self.schema, self.view)
        elif set(use.used) <= {*self._primary, *self.site.moved} and self._needs_partner(use):
            self._replace(use)
        elif use.join is None or (is_inner(use.join) and not self._moved_in(use.join.args.get("on"), use)):
            self._join_after(use)
        elif self._may_join_before(use):
            self._join_before(use)
        else:
            put_in_view(use, self.schema, self.view)

    @property
    def _primary(self) -> tuple[int, ...]:
        return self.schema.tables[self.child].primary_key

    def _name(self, column: int) -> str:
        return self.schema.columns[column].name

    def _moved(self, use: Use) -> list[exp.Column]:
        return [node for column in self.site.moved for node in use.of(column)]

    def _moved_in(self, condition: exp.Expr | None, use: Use) -> bool:
        return any(is_within(node, condition) for node in self._moved(use))

    def _needs_partner(self, use: Use) -> bool:
        """Whether only rows with a row of the relation can matter."""
        if self.site.complete:
            return True
        own = use.join
        if own is not None and not is_inner(own):
            return any(rules_out_null(term, self._moved(use)) for term in terms(own.args.get("on")))
        where = use.select.args.get("where")
        found = demands(use.select) if all_inner(use.select) else list(terms(where and where.this))
        if own is not None:
            found += terms(own.args.get("on"))
        return any(rules_out_null(term, self._moved(use)) for term in found)

    def _replace(self, use: Use) -> None:
        """The relation table alone: it has all that is used."""
        named = bool(use.node.alias)
        alias = use.alias if named else free_alias(self.relation, use.select)
        for node, column in use.columns:
            refer(node, self._name(column), alias)
        use.node.replace(table(self.relation, alias))

    def _join_after(self, use: Use) -> None:
        """Child, then relation: `FROM concert JOIN concert_singer ON ...`."""
        alias = free_alias(self.relation, use.select)
        side = "" if self._needs_partner(use) else "LEFT"
        on = self._same(use.alias, alias)
        joins = joins_of(use.select)
        place = 0 if use.join is None else next(n for n, one in enumerate(joins) if one is use.join) + 1
        joins.insert(place, exp.Join(this=table(self.relation, alias), on=on, side=side or None))
        use.select.set("joins", joins)
        self._refer(use, alias)

    def _may_join_before(self, use: Use) -> bool:
        """Whether the join's condition can be the relation's: it rules out rows without one; an outer join says no more."""
        join = use.join
        if join is None or not self._needs_partner(use):
            return False
        on = list(terms(join.args.get("on")))
        if is_inner(join):
            return bool(on) and (
                self.site.complete or any(rules_out_null(term, self._moved(use)) for term in on)
            )
        held = {*self._primary, *self.site.moved}
        inside = [column for node, column in use.columns if is_within(node, join)]
        return join.side == "LEFT" and set(inside) <= held

    def _join_before(self, use: Use) -> None:
        """Relation, then child: `FROM singer JOIN concert_singer ON ... JOIN concert ON ...`."""
        join = use.join
        if join is None:
            raise TypeError("the first table of FROM has no join before it")
        alias = free_alias(self.relation, use.select)
        kept = set(self.schema.tables[self.child].columns) - {*self._primary, *self.site.moved}
        mine = [node for node, column in use.columns if column in kept]
        conditions = list(terms(join.args.get("on")))
        theirs = [one for one in conditions if any(is_within(node, one) for node in mine)]
        before = [one for one in conditions if all(one is not other for other in theirs)]
        self._refer(use, alias)
        for node, column in use.columns:
            if column in self._primary and any(is_within(node, one) for one in before):
                refer(node, self._name(column), alias)
        on = exp.and_(*before, copy=False) if before else None
        first = exp.Join(this=table(self.relation, alias), on=on, side=join.side or None)
        join.set("on", exp.and_(self._same(use.alias, alias), *theirs, copy=False))
        joins = joins_of(use.select)
        joins.insert(next(n for n, one in enumerate(joins) if one is join), first)
        use.select.set("joins", joins)

    def _refer(self, use: Use, alias: str) -> None:
        for node, column in use.columns:
            if column in self.site.moved:
                refer(node, self._name(column), alias)

    def _same(self, child: str, relation: str) -> exp.Expr:
        return exp.and_(*(equal(self._name(key), child, self._name(key), relation) for key in self._primary))
