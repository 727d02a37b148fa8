"""A query that has been written, for what stands around it: the types of its columns, and how to change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from fastsql.grammar.render.names import Naming
from fastsql.grammar.render.typed.types import Type, Typed


@dataclass
class Closed:
    """The operands of a query (itself, where it is no set operation) with their select items, the types of its columns,
    and whether it has at most one row.
    """

    operands: list[tuple[exp.Select, list[Typed]]]
    types: list[Type]
    one_row: bool = False

    def convert(self, column: int, conversion: Callable[[Typed], Typed], naming: Naming) -> None:
        """Turns one column into another type, in every operand."""
        for select, items in self.operands:
            if select.args.get("distinct") and select.args.get("order"):
                items[:] = enclose(select, items, naming)  # its keys must stay select items
            written = select.expressions[column]
            bare, name = _without_alias(written)
            value = conversion(items[column].with_node(bare))
            written.replace(value.node if name is None else exp.Alias(this=value.node, alias=name))
            items[column] = value
        self.types[column] = self.operands[0][1][column].type


def enclose(select: exp.Select, items: list[Typed], naming: Naming) -> list[Typed]:
    """Moves all of a query into a derived table of its own; returns the columns that it selects from there.

    `select`: with the items and maybe further columns behind them, each under a name of its own.
    """
    inner = exp.Select()
    for name, part in list(select.args.items()):
        inner.set(name, part)
        select.set(name, None)
    alias = naming.fresh_alias(set())
    select.from_(inner.subquery(naming.identifier(alias), copy=False), copy=False)
    names = [item.alias_or_name for item in inner.expressions]
    columns = [item.with_node(naming.column(name, alias)) for item, name in zip(items, names, strict=False)]
    select.select(*(column.node for column in columns), copy=False)
    return columns


def _without_alias(item: exp.Expr) -> tuple[exp.Expr, exp.Identifier | None]:
    """A copy of a select item without its alias, and the name by which it is known outside, if by any."""
    if isinstance(item, exp.Column):
        return item.copy(), item.this.copy()
    if isinstance(item, exp.Alias):
        return item.this.copy(), item.args["alias"].copy()
    return item.copy(), None
