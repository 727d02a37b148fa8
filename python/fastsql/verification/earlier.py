"""Where a verified query has the queries of earlier answers inside it, word for word.

What is found is a query that stands by itself: its text alone has been verified and run, so all that its columns name is in
its own FROM. Whatever it stands in, it returns what it returned alone, unless the database was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.verification.resolve import Resolution

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)


@dataclass(frozen=True, eq=False)
class Place:
    """An earlier query inside another one.

    Attributes:
        number: which of those that were looked for.
        query: its node, which the tree still has after it was qualified.
        form: "set" in IN, "value" as a scalar, "rows" in FROM.
        own: the declared type of its only column; "" for an expression, which has none, None where that cannot be told.
        other: the same of what it is compared with; None where it is compared with nothing.
        compared: whether it stands in IN, or on a side of a comparison.
        computed: whether it stands on a side of an arithmetic operator.
        columns: declared types of all columns that its select list names.
    """

    number: int
    query: exp.Query
    form: str
    own: str | None
    other: str | None
    compared: bool
    computed: bool
    columns: tuple[str, ...]


def find_places(
    query: exp.Query, resolution: Resolution, schema: Schema, wanted: Sequence[exp.Query]
) -> tuple[Place, ...]:
    """The places of the `wanted` queries inside another, from the outside in: none within another.

    `query` has been resolved, and not been qualified yet. A query with common table expressions has none, as these could
    give the names of tables another meaning.
    """
    if query.find(exp.With) is not None:
        return ()
    return tuple(_found(query, wanted, _Types(resolution, schema)))


def _found(query: exp.Query, wanted: Sequence[exp.Query], types: _Types) -> Iterator[Place]:
    open_: list[exp.Expr] = [query]
    while open_:
        node = open_.pop()
        if node is not query and isinstance(node, exp.Select | exp.SetOperation):
            place = _place(node, wanted, types)
            if place is not None:
                yield place
                continue
        open_ += reversed(list(node.iter_expressions()))


def _place(node: exp.Query, wanted: Sequence[exp.Query], types: _Types) -> Place | None:
    form = _form(node)
    if form is None:
        return None
    number = next((number for number, one in enumerate(wanted) if _is_same(node, one, form)), None)
    if number is None:
        return None
    outside, inside = _outside(node), node.parent
    other = None
    if form == "set":
        other = types.of(outside.this)
    elif isinstance(outside, _COMPARISONS):
        other = types.of(outside.expression if outside.this is inside else outside.this)
    return Place(
        number,
        node,
        form,
        types.of_query(node),
        other,
        compared=form == "set" or isinstance(outside, _COMPARISONS),
        computed=isinstance(outside, _ARITHMETIC),
        columns=types.named(node),
    )


def _form(node: exp.Expr) -> str | None:
    subquery = node.parent
    if not isinstance(subquery, exp.Subquery) or subquery.this is not node:
        return None
    outside = subquery.parent
    if isinstance(outside, exp.In):
        return "set" if outside.args.get("query") is subquery else None
    if isinstance(outside, exp.From | exp.Join):
        return "rows"
    if isinstance(outside, exp.Exists | exp.SetOperation | exp.Subquery):
        return None
    return "value"


def _outside(node: exp.Expr) -> exp.Expr:
    """What the parentheses around a query stand in."""
    subquery = node.parent
    assert subquery is not None
    assert subquery.parent is not None
    return subquery.parent


def _is_same(inside: exp.Expr, alone: exp.Expr, form: str) -> bool:
    """Whether a query stands inside as it stands alone, but for what its place says.

    In FROM its items have names; as a value it may say that it has one row.
    """
    if type(inside) is not type(alone):
        return False
    keys = {*_said(inside), *_said(alone)}
    if form == "value" and "limit" in keys and "limit" not in _said(alone):
        limit = inside.args["limit"].expression
        if not isinstance(limit, exp.Literal) or limit.name != "1":
            return False
        keys.discard("limit")
    for key in keys:
        one: Any = inside.args.get(key)
        other: Any = alone.args.get(key)
        if form == "rows" and isinstance(inside, exp.SetOperation) and key in ("this", "expression"):
            same = _is_same(one, other, form)
        elif form == "rows" and key == "expressions":
            same = _are_equal(list(map(_unnamed, one)), list(map(_unnamed, other)))
        else:
            same = _are_equal(one, other)
        if not same:
            return False
    return True


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two parts of trees are the same, letter by letter: equality in sqlglot is not so strict."""
    if isinstance(one, exp.Expr):
        return type(one) is type(other) and all(
            _are_equal(one.args.get(key), other.args.get(key)) for key in {*_said(one), *_said(other)}
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_are_equal, one, other))
    return bool(type(one) is type(other) and one == other)


def _said(node: exp.Expr) -> list[str]:
    """The arguments that a node has."""
    return [
        key for key, value in node.args.items() if value is not None and value is not False and value != []
    ]


def _unnamed(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _operands(query: exp.Expr) -> Iterator[exp.Select]:
    if isinstance(query, exp.Select):
        yield query
    elif isinstance(query, exp.SetOperation):
        yield from _operands(query.this)
        yield from _operands(query.expression)


class _Types:
    """Declared types of what stands in a resolved query."""

    def __init__(self, resolution: Resolution, schema: Schema) -> None:
        self._resolution = resolution
        self._schema = schema

    def of(self, node: exp.Expr) -> str | None:
        """The type of an expression: a column's; "" for one that has none in SQLite; None where that cannot be told."""
        node = node.unnest()
        if isinstance(node, exp.Select):
            return self.of_query(node)
        if isinstance(node, exp.Column):
            return self._declared(node)
        return None if isinstance(node, exp.Cast | exp.Query | exp.Alias) else ""

    def of_query(self, query: exp.Query) -> str | None:
        """That of the only column of a query."""
        if not isinstance(query, exp.Select) or len(query.expressions) != 1:
            return None
        (item,) = query.expressions
        return self.of(_unnamed(item))

    def named(self, query: exp.Query) -> tuple[str, ...]:
        """Types of the columns that select lists name; of those that cannot be told, what no type is called."""
        columns = (
            column
            for select in _operands(query)
            for item in select.expressions
            for column in item.find_all(exp.Column)
        )
        return tuple(self._declared(column) or "?" for column in columns)

    def _declared(self, node: exp.Column) -> str | None:
        source, position = self._resolution.columns.get(id(node), (None, 0))
        if source is None or source.table is None:
            return None
        column = self._schema.tables[source.table].columns[position]
        return self._schema.columns[column].sql_type or "BLOB"  # as SQLite has it
