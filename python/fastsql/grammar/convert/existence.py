"""EXISTS with a subquery that one equality ties to a column of the query around it."""

from __future__ import annotations

from sqlglot import exp

from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.nodes import check_sayable, conjuncts, unparen
from fastsql.schema import Schema

_CLAUSES = ("group", "having", "limit", "offset", "with_")


def correlation(node: exp.Expr, schema: Schema) -> tuple[exp.Column, exp.Query]:
    """The column of the query around it, and the subquery, alone, that selects what must be equal to it.

    Raises ConversionError for a subquery that is tied in another way.
    """
    query = node.this
    if not isinstance(query, exp.Select) or any(query.args.get(name) for name in _CLAUSES):
        raise ConversionError("EXISTS of other than a plain subquery")
    check_sayable(query)
    where = query.args.get("where")
    ties: list[tuple[exp.Column, exp.Expr]] = []
    rest: list[exp.Expr] = []
    for condition in [] if where is None else conjuncts(where.this):
        tie = _tie(condition, query, schema)
        if tie is None:
            rest.append(condition)
        else:
            ties.append(tie)
    if len(ties) != 1:
        raise ConversionError("EXISTS tied by other than one equality of columns")
    outer, inner = ties[0]
    inside = query.args["from_"].this.this
    if (
        not rest
        and not query.args.get("joins")
        and isinstance(inside, exp.Query)
        and len(inside.named_selects) == 1
    ):
        return outer, inside  # of a derived table, by its only column
    alone = query.copy()
    for name in ("distinct", "order", "where"):
        alone.set(name, None)
    alone.set("expressions", [inner.copy()])
    if rest:
        alone.set("where", exp.Where(this=exp.and_(*(one.copy() for one in rest), wrap=True)))
    return outer, alone


def _tie(node: exp.Expr, query: exp.Select, schema: Schema) -> tuple[exp.Column, exp.Expr] | None:
    """The outer column, and what is inside, of an equality that ties a subquery to the query around it."""
    node = unparen(node)
    if not isinstance(node, exp.EQ):
        return None
    left, right = unparen(node.this), unparen(node.expression)
    for outer, inner in ((right, left), (left, right)):
        if isinstance(outer, exp.Column) and not _offers(query, outer, schema):
            columns = (
                n for n in inner.walk(prune=lambda n: isinstance(n, exp.Query)) if isinstance(n, exp.Column)
            )
            if all(_offers(query, column, schema) for column in columns):
                return outer, inner
    return None


def _offers(query: exp.Select, column: exp.Column, schema: Schema) -> bool:
    """Whether one of a query's own sources is what a column means."""
    entries = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or [])]
    for entry in entries:
        if column.table:
            if column.table.lower() == entry.alias_or_name.lower():
                return True
            continue
        names = {name.lower() for name in getattr(entry.this, "named_selects", [])}
        for table in schema.tables:
            if isinstance(entry, exp.Table) and table.name.lower() == entry.name.lower():
                names |= {schema.columns[index].name.lower() for index in table.columns}
        if column.name.lower() in names:
            return True
    return False
