"""Queries over a table that was split: a condition on the column picks the parts, and is then no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.model import Value
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.operation import UnrewritableError
from fastsql.synthesis.extension.reading import NAMING, Query, Use
from fastsql.synthesis.extension.trees import (
    aggregates,
    all_inner,
    demands,
    drop,
    free_alias,
    is_inner,
    is_within,
    keep_name,
    refer,
    table,
    terms,
)
from fastsql.synthesis.schema.clauses import joins_of


class _View(Protocol):
    def of(self, values: Sequence[Value], columns: Sequence[int]) -> exp.Query: ...


@dataclass(frozen=True)
class SplitRewriter:
    """Rewrites queries for the parts of a table, a name for each value of the column."""

    schema: Schema
    column: int
    values: tuple[Value, ...]
    names: tuple[str, ...]
    view: _View

    def __call__(self, query: Query, facts: Facts) -> None:
        """Rewrite in place. Raises UnrewritableError for a condition that no part meets."""
        uses = [use for use in query.uses if use.table == self.schema.columns[self.column].table]
        for use in uses:
            values = self._picked(use, facts)
            if len(values) == 1 and self._may_be_part(use):
                self._take_part(use, values[0])
            elif len(uses) == 1 and len(values) > 1 and self._may_be_distributed(query, use):
                self._distribute(query, use, values)
            else:
                self._put_together(use, values)

    def _picked(self, use: Use, facts: Facts) -> list[Value]:
        """The values that the demands on the column alone let through; these demands are dropped."""
        left = list(self.values)
        for term in self._demands(use):
            columns = list(term.find_all(exp.Column))
            own = use.of(self.column)
            if not columns or term.find(exp.Query, exp.AggFunc) is not None:
                continue
            if all(any(column is node for node in own) for column in columns):
                met = facts.holding(self.column, term.sql("sqlite"), use.alias)
                left = [value for value in left if value in met]
                use.columns = [(n, c) for n, c in use.columns if not is_within(n, term)]
                drop(term)
        if not left:
            raise UnrewritableError("a condition that no part meets")
        return left

    def _demands(self, use: Use) -> list[exp.Expr]:
        join = use.join
        if all_inner(use.select):
            return demands(use.select)
        if join is not None and not is_inner(join):
            return list(terms(join.args.get("on"))) if join.side == "LEFT" else []
        if any(one.side in ("RIGHT", "FULL") for one in joins_of(use.select)):
            return []
        where = use.select.args.get("where")
        return list(terms(where.this if where is not None else None))

    def _may_be_part(self, use: Use) -> bool:
        """Whether the column can be spelled out where else it is used: selected or compared in rows that are there."""
        others = use.of(self.column)
        if use.whole:
            return False
        if others and use.join is not None and not is_inner(use.join):
            return False
        clauses = [use.select.args.get(name) for name in ("group", "order")]
        return not any(is_within(node, clause) for node in others for clause in clauses if clause is not None)

    def _take_part(self, use: Use, value: Value) -> None:
        name = self.names[self.values.index(value)]
        alias = use.alias if use.node.alias else free_alias(name, use.select)
        for node, column in use.columns:
            if column == self.column:
                keep_name(node)
                node.replace(exp.convert(value))
            else:
                refer(node, self.schema.columns[column].name, alias)
        made = table(name, alias)
        use.node.replace(made)
        use.node = made

    def _may_be_distributed(self, query: Query, use: Use) -> bool:
        """Whether the query of each part, under each other, gives the rows: the whole query, with nothing over its rows."""
        select = use.select
        if query.tree is not select or use.whole:
            return False
        if any(select.args.get(name) for name in ("group", "having", "order", "limit", "offset", "with_")):
            return False
        if use.join is not None and not is_inner(use.join):
            return False
        if any(join.side in ("RIGHT", "FULL") for join in joins_of(select)):
            return False
        return not aggregates(select) and select.find(exp.Window) is None

    def _distribute(self, query: Query, use: Use, values: Sequence[Value]) -> None:
        marked = [(node, column, use.alias) for node, column in use.columns]
        parts: list[exp.Select] = []
        for value in values:
            copies: dict[int, exp.Expr] = {}
            part = use.select.copy()
            for old, new in zip(use.select.walk(), part.walk(), strict=True):
                copies[id(old)] = new
            node = copies[id(use.node)]
            if not isinstance(node, exp.Table) or not isinstance(part, exp.Select):
                raise TypeError("a copy of another kind")
            mine = Use(use.table, use.alias, node, part)
            mine.columns = [(_column(copies[id(old)]), column) for old, column, _ in marked]
            self._take_part(mine, value)
            parts.append(part)
        distinct = use.select.args.get("distinct") is not None
        found: exp.Query = parts[0]
        for part in parts[1:]:
            if distinct:
                part.set("distinct", None)
            found = exp.union(found, part, distinct=distinct, copy=False)
        if distinct:
            parts[0].set("distinct", None)
        query.tree = found

    def _put_together(self, use: Use, values: Sequence[Value]) -> None:
        table_columns = self.schema.tables[use.table].columns
        columns = list(table_columns) if use.whole else use.used
        columns = columns or [next(column for column in table_columns if column != self.column)]
        inner = self.view.of(values, columns)
        use.node.replace(exp.Subquery(this=inner, alias=exp.TableAlias(this=NAMING.identifier(use.alias))))


def _column(node: exp.Expr) -> exp.Column:
    if not isinstance(node, exp.Column):
        raise TypeError("a copy of another kind")
    return node
