"""Clauses of a SELECT, as the grammar renders it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from sqlglot import exp


def joins_of(select: exp.Select) -> list[exp.Join]:
    """The joins of FROM."""
    return list(select.args.get("joins") or ())


def tables_of(select: exp.Select) -> list[exp.Expr]:
    """What FROM names, in its order."""
    return [select.args["from_"].this, *(join.this for join in joins_of(select))]


def keys_of(select: exp.Select) -> list[exp.Expr]:
    """The keys of GROUP BY."""
    group = select.args.get("group")
    return [] if group is None else list(group.expressions)


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The conditions that all have to be met."""
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def conditions_of(select: exp.Select) -> list[exp.Expr]:
    """The conditions of WHERE."""
    where = select.args.get("where")
    return [] if where is None else conjuncts(where.this)


def limit_of(select: exp.Select) -> str:
    """The number of rows that are kept; empty for all."""
    limit = select.args.get("limit")
    return "" if limit is None else str(limit.expression.name)


def is_column(node: exp.Expr) -> TypeGuard[exp.Column]:
    """Whether it is a column, and nothing is done to it."""
    return isinstance(node, exp.Column)


def counts_rows(node: exp.Expr) -> bool:
    """Whether it is COUNT(*)."""
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether there is an aggregate in an expression; a walk through most of them is spared."""
    return isinstance(node, exp.AggFunc) or (not is_column(node) and node.find(exp.AggFunc) is not None)


def columns_in(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns in an expression or clause, but for `*`."""
    found = (node,) if is_column(node) else node.find_all(exp.Column)
    return (column for column in found if not isinstance(column.this, exp.Star))


def is_for_each_group(select: exp.Select) -> bool:
    """Whether it gives an aggregate for every group: none is passed over, and none comes first."""
    clauses = (select.args.get("having"), select.args.get("order"), select.args.get("limit"))
    aggregates = any(has_aggregate(item) for item in select.expressions)
    return bool(keys_of(select)) and aggregates and not any(clauses)
