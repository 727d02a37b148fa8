"""Rows that joins repeat: "doctors that have a visit" are asked for once each, however many visits they have."""

from __future__ import annotations

from sqlglot import exp

from fastsql.synthesis.schema.clauses import columns_in, has_aggregate, joins_of, keys_of
from fastsql.synthesis.schema.join_tree import JoinTree
from fastsql.synthesis.schema.words import Words


def repeats_rows(select: exp.Select, words: Words) -> bool:
    """Whether a row may come several times, as a join adds rows of which nothing is shown. Raises UnsayableError."""
    if select.args.get("distinct") is not None or not joins_of(select) or keys_of(select):
        return False
    if any(item.find(exp.Star) is not None or has_aggregate(item) for item in select.expressions):
        return False
    shown = [words.owner(column) for item in select.expressions for column in columns_in(item)]
    tree = JoinTree(select, words)

    def added(table: int, before: int | None) -> bool:
        return any(
            (end.many and end.table not in shown) or added(end.table, table)
            for end in tree.ends[table]
            if end.table != before and not end.outer
        )

    return bool(shown) and added(shown[0], None)
