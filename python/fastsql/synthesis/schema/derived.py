"""Queries over groups and over the first row of each group: derived tables of two forms that questions say.

"The average number of visits per patient":

    SELECT AVG(T.C1) FROM (SELECT COUNT(*) AS C1 FROM visits GROUP BY patient_id) T

"The cost of the visit with the latest day for each patient":

    SELECT T.C1 FROM (SELECT cost AS C1, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day DESC) AS C2 FROM visits) T
    WHERE T.C2 = 1
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from fastsql.synthesis.schema.clauses import is_column, joins_of, keys_of, limit_of
from fastsql.synthesis.schema.words import UnsayableError

_FRAMES = ("where", "group", "having", "order", "limit", "offset", "distinct", "joins")


@dataclass(frozen=True)
class OverGroups:
    """An aggregate of what is reckoned for each group: `inner` selects that, and groups by one key."""

    aggregate: exp.AggFunc
    inner: exp.Select


@dataclass(frozen=True)
class FirstOfEach:
    """The first row by `order` of each value of `key`; `inner` selects items of the rows, and nothing else."""

    inner: exp.Select
    key: exp.Column
    order: exp.Ordered


def read_derived(select: exp.Select) -> OverGroups | FirstOfEach | None:
    """The form of a query over a derived table; None for a query over tables. Raises UnsayableError for other forms."""
    source = select.args["from_"].this
    if not isinstance(source, exp.Subquery):
        return None
    inner = source.this
    if not isinstance(inner, exp.Select) or joins_of(select):
        raise UnsayableError("derived table")
    items = {item.alias_or_name: item.unalias() for item in inner.expressions}
    if select.args.get("where") is None:
        return _over_groups(select, inner, items)
    return _first_of_each(select, inner, items)


def _over_groups(select: exp.Select, inner: exp.Select, items: dict[str, exp.Expr]) -> OverGroups:
    if any(select.args.get(clause) for clause in _FRAMES) or len(select.expressions) != 1:
        raise UnsayableError("derived table")
    (item,) = select.expressions
    if not isinstance(item, (exp.Avg, exp.Max, exp.Min)) or not is_column(item.this):
        raise UnsayableError("derived table")
    reckoned = items.get(item.this.name)
    if not isinstance(reckoned, exp.AggFunc) or len(keys_of(inner)) != 1 or inner.args.get("having"):
        raise UnsayableError("derived table")
    if inner.args.get("order") is not None or limit_of(inner):
        raise UnsayableError("derived table")
    bare = inner.copy()
    bare.set("expressions", [reckoned.copy()])
    return OverGroups(item, bare)


def _first_of_each(select: exp.Select, inner: exp.Select, items: dict[str, exp.Expr]) -> FirstOfEach:
    if any(select.args.get(clause) for clause in _FRAMES[1:]) or not all(map(is_column, select.expressions)):
        raise UnsayableError("derived table")
    condition = select.args["where"].this
    window = items.get(condition.this.name) if isinstance(condition, exp.EQ) else None
    if not isinstance(window, exp.Window) or not isinstance(window.this, exp.RowNumber):
        raise UnsayableError("derived table")
    partition, order = window.args.get("partition_by") or [], window.args.get("order")
    plain = condition.expression.name == "1" and not any(inner.args.get(clause) for clause in _FRAMES[1:])
    if not plain or len(partition) != 1 or order is None or len(order.expressions) != 1:
        raise UnsayableError("derived table")
    shown = [items.get(item.name) for item in select.expressions]
    if not all(
        one is not None and is_column(one) for one in (*shown, partition[0], order.expressions[0].this)
    ):
        raise UnsayableError("derived table")
    bare = inner.copy()
    bare.set("expressions", [one.copy() for one in shown if one is not None])
    return FirstOfEach(bare, partition[0], order.expressions[0])
