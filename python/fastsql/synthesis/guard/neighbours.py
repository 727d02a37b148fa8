"""Queries that differ from one in a single thing, against which a question is weighed.

A question that leaves out a column is likelier where the column is not asked for; one that turns a comparison round is
likelier where it is turned round. So each part of a query has a neighbour without it, or with another in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from fastsql.schema import Schema

_AGGREGATES = (exp.Avg, exp.Sum, exp.Max, exp.Min)
_TURNED: dict[type[exp.Expr], tuple[type[exp.Expr], ...]] = {
    exp.GT: (exp.LT, exp.GTE),
    exp.GTE: (exp.LTE, exp.GT),
    exp.LT: (exp.GT, exp.LTE),
    exp.LTE: (exp.GTE, exp.LT),
    exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,),
    exp.Like: (exp.EQ,),
}
Change = Callable[[exp.Expr], None]
"""Changes a node of a copied tree in place."""

_OTHERS = 4
"""Columns of its table that stand in for a column."""


def neighbours(tree: exp.Expr, schema: Schema) -> Iterator[exp.Expr]:
    """Copies of a query, each changed in one place; not all of them need be queries that a database takes."""
    for place, node in enumerate(list(tree.walk())):
        for change in _changes(node, schema):
            copied = tree.copy()
            change(list(copied.walk())[place])
            yield copied


def _changes(node: exp.Expr, schema: Schema) -> Iterator[Change]:
    """What may become of one node."""
    if isinstance(node, exp.Select):
        yield from _of_select(node)
    elif isinstance(node, exp.Ordered):
        yield _turn
    elif isinstance(node, (exp.And, exp.Or)):
        yield lambda one: _replace(one, one.this)
        yield lambda one: _replace(one, one.expression)
    elif isinstance(node, exp.Not):
        yield lambda one: _replace(one, one.this)
    elif isinstance(node, exp.AggFunc):
        yield from _of_aggregate(node)
    elif isinstance(node, exp.Column) and node.find_ancestor(exp.Join) is None:
        yield from _other_columns(node, schema)
    elif type(node) in _TURNED and not isinstance(node.parent, exp.Join):
        yield from (_as_kind(kind) for kind in _TURNED[type(node)])


def _of_select(select: exp.Select) -> Iterator[Change]:
    """A query with one column more, or without one of its columns, clauses or tables. DISTINCT is told by words alone."""
    if len(select.expressions) > 1:
        yield from (_without_column(place) for place in range(len(select.expressions)))
    yield from (_with_column(item) for item in _unshown(select))
    for clause in ("where", "group", "having", "order", "limit"):
        if select.args.get(clause) is not None:
            yield _without(clause)
    if select.args.get("order") is not None and select.args.get("limit") is not None:
        yield _without("order", "limit")
    named = {
        node.table
        for node in select.find_all(exp.Column)
        if node.find_ancestor(exp.Join) is None and node.find_ancestor(exp.Select) is select
    }
    for place, join in enumerate(select.args.get("joins") or ()):
        if join.this.alias_or_name not in named:
            yield _without_join(place)


def _turn(one: exp.Expr) -> None:
    """Turns an order round, NULL going to the other end with it."""
    descends = not one.args.get("desc")
    one.set("desc", descends)
    one.set("nulls_first", not descends)


def _unshown(select: exp.Select) -> Iterator[exp.Expr]:
    """What a query orders or chooses its rows by without showing it."""
    order, where = select.args.get("order"), select.args.get("where")
    found = [one.this for one in order.expressions] if order is not None else []
    found += list(where.find_all(exp.Column)) if where is not None else []
    shown = list(select.expressions)
    for item in found:
        if item not in shown and item.find_ancestor(exp.Select) is select:
            shown.append(item)
            yield item


def _of_aggregate(node: exp.AggFunc) -> Iterator[Change]:
    if isinstance(node, _AGGREGATES):
        yield from (_as_kind(kind) for kind in _AGGREGATES if kind is not type(node))
    if not isinstance(node.this, exp.Star):
        yield lambda one: _replace(
            one, one.this.expressions[0] if isinstance(one.this, exp.Distinct) else one.this
        )


def _other_columns(node: exp.Column, schema: Schema) -> Iterator[Change]:
    """Columns of the same table and type, those nearest in the table first."""
    number = schema.find_column(node.table, node.name) if node.table else None
    if number is None:
        return
    column = schema.columns[number]
    alike = [
        other
        for other in schema.tables[column.table].columns
        if other != number and schema.columns[other].type == column.type
    ]
    for other in sorted(alike, key=lambda one: abs(one - number))[:_OTHERS]:
        yield _renamed(schema.columns[other].name)


def _renamed(name: str) -> Change:
    return lambda one: one.set("this", exp.to_identifier(name))


def _as_kind(kind: type[exp.Expr]) -> Change:
    return lambda one: _replace(
        one, kind(**{name: value for name, value in one.args.items() if name in kind.arg_types})
    )


def _without(*clauses: str) -> Change:
    def change(one: exp.Expr) -> None:
        for clause in clauses:
            one.set(clause, None)

    return change


def _without_column(place: int) -> Change:
    return lambda one: one.set(
        "expressions", [item for at, item in enumerate(one.expressions) if at != place]
    )


def _with_column(item: exp.Expr) -> Change:
    return lambda one: one.append("expressions", item.copy())


def _without_join(place: int) -> Change:
    return lambda one: one.set("joins", [join for at, join in enumerate(one.args["joins"]) if at != place])


def _replace(node: exp.Expr, other: exp.Expr) -> None:
    node.replace(other.copy())
