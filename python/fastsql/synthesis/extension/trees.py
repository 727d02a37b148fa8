"""Steps of rewriting that the operations share: conditions of a query, what they rule out, tables that are put in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.names import fold
from fastsql.synthesis.extension.reading import NAMING, Use, own_nodes
from fastsql.synthesis.schema.clauses import joins_of

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.Glob, exp.Between)
"""Conditions that are not true where what they compare is NULL."""


def is_inner(join: exp.Join) -> bool:
    """Whether a join keeps pairs of rows and nothing else."""
    return not join.side and join.kind in ("", "INNER", "CROSS") and not join.method


def all_inner(select: exp.Select) -> bool:
    """Whether all joins of a query are inner ones, so that ON and WHERE mean the same."""
    return all(map(is_inner, joins_of(select)))


def terms(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """What a condition demands at once: the operands of its ANDs."""
    if condition is None:
        return
    bare = condition.unnest()
    if isinstance(bare, exp.And):
        yield from terms(bare.left)
        yield from terms(bare.right)
    elif not _is_true(bare):
        yield bare


def _is_true(condition: exp.Expr) -> bool:
    """Whether a condition is what a join says that has none."""
    return isinstance(condition, exp.Boolean) and bool(condition.this)


def demands(select: exp.Select) -> list[exp.Expr]:
    """What WHERE and the inner joins demand of every row."""
    where = select.args.get("where")
    found = list(terms(where.this if where is not None else None))
    for join in joins_of(select):
        if is_inner(join):
            found += terms(join.args.get("on"))
    return found


def drop(term: exp.Expr) -> None:
    """Take a demand out of its WHERE or ON."""
    while isinstance(term.parent, exp.Paren):
        term = term.parent
    parent = term.parent
    if isinstance(parent, exp.And):
        parent.replace(parent.right if parent.left is term else parent.left)
    elif isinstance(parent, exp.Where):
        parent.pop()
    elif isinstance(parent, exp.Join):
        parent.set("on", None)
    else:
        raise TypeError(f"a demand inside of {type(parent).__name__}")


def aggregates(select: exp.Select) -> list[exp.Expr]:
    """What a query computes from many rows; functions that sqlglot does not know are taken for such."""
    return [
        node
        for node in own_nodes(select)
        if isinstance(node, (exp.AggFunc, exp.Anonymous)) and not _is_scalar(node)
    ]


def _is_scalar(node: exp.Expr) -> bool:
    """Whether MIN or MAX is that of several values in a row."""
    return isinstance(node, (exp.Min, exp.Max)) and bool(node.expressions)


def demand(select: exp.Select, *conditions: exp.Expr) -> None:
    """Add to WHERE."""
    select.where(*conditions, copy=False)


def demand_at(join: exp.Join, *conditions: exp.Expr) -> None:
    """Add to ON."""
    on = join.args.get("on")
    before = [] if on is None or _is_true(on) else [on]
    join.set("on", exp.and_(*before, *conditions, copy=False))


def rules_out_null(term: exp.Expr, columns: Iterable[exp.Column]) -> bool:
    """Whether a demand is not met where these columns are NULL: it compares one, or says that it is not NULL."""
    known = {id(column) for column in columns}
    if isinstance(term, exp.Not) and isinstance(term.this.unnest(), exp.Is):
        test = term.this.unnest()
        return id(test.this) in known and isinstance(test.expression, exp.Null)
    if isinstance(term, exp.In):
        return id(term.this) in known
    return isinstance(term, _COMPARISONS) and any(
        id(side) in known for side in (term.this, term.args.get("expression"))
    )


def equates(term: exp.Expr, one: Use, column: int, other: Use, partner: int) -> bool:
    """Whether a demand says that a column of one use equals that of another."""
    if not isinstance(term, exp.EQ):
        return False
    sides = {id(term.this), id(term.expression)}
    return any(sides == {id(first), id(second)} for first in one.of(column) for second in other.of(partner))


def is_within(node: exp.Expr, tree: exp.Expr | None) -> bool:
    """Whether a node is of a tree."""
    found: exp.Expr | None = node
    while found is not None and found is not tree:
        found = found.parent
    return found is not None


def not_null(name: str, alias: str) -> exp.Expr:
    """The condition that a column is not NULL."""
    return exp.Not(this=exp.Is(this=NAMING.column(name, alias), expression=exp.Null()))


def equal(name: str, alias: str, other: str, partner: str) -> exp.Expr:
    """The condition that two columns are equal."""
    return exp.EQ(this=NAMING.column(name, alias), expression=NAMING.column(other, partner))


def table(name: str, alias: str = "") -> exp.Table:
    """A table of the new schema; under an alias that is not its name."""
    called = NAMING.identifier(alias) if alias and fold(alias) != fold(name) else None
    return exp.Table(
        this=NAMING.identifier(name), alias=exp.TableAlias(this=called) if called is not None else None
    )


def free_alias(name: str, select: exp.Select) -> str:
    """The name of a table, or a name like it where something that this query sees, or inside of it, has that already."""
    known = {fold(item.alias_or_name) for item in select.find_all(exp.Table, exp.Subquery)}
    above = select.parent_select
    while above is not None:
        joins = [join.this for join in joins_of(above)]
        first = above.args.get("from_")
        known |= {fold(item.alias_or_name) for item in (*joins, *(() if first is None else (first.this,)))}
        above = above.parent_select
    number, found = 2, name
    while fold(found) in known:
        found, number = f"{name}_{number}", number + 1
    return found


def refer(column: exp.Column, name: str, alias: str) -> None:
    """Let a reference mean another column."""
    if fold(name) != fold(column.name):
        keep_name(column)
    column.set("this", NAMING.identifier(name))
    column.set("table", NAMING.identifier(alias))


def keep_name(column: exp.Column) -> None:
    """Let a column that is selected in a FROM or in WITH be called there what it was."""
    select = column.parent
    if not isinstance(select, exp.Select) or column.arg_key != "expressions":
        return
    query: exp.Expr = select
    while isinstance(query.parent, exp.SetOperation) or (
        isinstance(query.parent, exp.Subquery) and not query.parent.alias
    ):
        query = query.parent
    if isinstance(query.parent, (exp.CTE, exp.Subquery)):
        named = exp.Alias(alias=NAMING.identifier(column.name))
        column.replace(named)
        named.set("this", column)


def put_in_view(use: Use, schema: Schema, view: Callable[[int, Sequence[int]], exp.Query]) -> None:
    """Let a query with the rows of a table as it was stand in its place: exact wherever it is."""
    columns = list(schema.tables[use.table].columns) if use.whole else use.used
    inner = view(use.table, columns or [schema.tables[use.table].columns[0]])
    alias = use.alias
    use.node.replace(exp.Subquery(this=inner, alias=exp.TableAlias(this=NAMING.identifier(alias))))
