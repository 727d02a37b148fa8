"""What names mean: tables, columns in scope, aliases of select items, named constants, double-quoted strings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.nodes import unalias, unparen
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastsql.schema import Schema

_UNKNOWN = "a column that no source in scope offers"


@dataclass
class Source:
    """An entry of FROM by its names: what qualifies it, its table or its output names (both folded)."""

    name: str
    table: int | None
    outputs: list[str] = field(default_factory=list)


@dataclass
class Scope:
    """The query under conversion: its sources in the program's order, and its aliased select items by folded alias."""

    sources: list[Source] = field(default_factory=list)
    items: list[exp.Expr] = field(default_factory=list)
    operand: bool = False
    """Whether it is an operand of a set operation."""

    def aliased(self, name: str) -> exp.Expr | None:
        """The select item of an alias, without the alias."""
        return next(
            (i.this for i in self.items if isinstance(i, exp.Alias) and i.alias.lower() == name), None
        )


class Names:
    """Resolves names; one scope per query under conversion."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.scopes: list[Scope] = []
        self.ctes: dict[str, exp.Expr] = {}
        """The queries of WITH in sight, by folded name. Each use becomes a derived table."""
        self.outputs: list[str] = []
        """Output names of the query converted last."""
        self.as_operand = False
        """Whether the query to come is an operand of a set operation."""
        self.widths: list[int] = []
        """Columns of each source of the query with `*` converted last."""

    @property
    def scope(self) -> Scope:
        """The innermost scope."""
        return self.scopes[-1]

    def table(self, name: str, namespace: str = "") -> int:
        """Number of a table, whatever its letter case; a namespace that the schema does not tell may be any."""
        tables = self.schema.tables
        found = [index for index, table in enumerate(tables) if table.name.lower() == name.lower()]
        if namespace:
            same = [i for i in found if tables[i].namespace.lower() == namespace.lower()]
            found = same or [i for i in found if not tables[i].namespace]
        # Of several the database takes that of its default namespace.
        found.sort(key=lambda index: not namespace and bool(self.schema.namespace_in_sql(index)))
        if not found:
            raise ConversionError("a table that the schema lacks")
        return found[0]

    def column(self, node: exp.Column) -> ColumnRef | DerivedRef:
        """The reference of a column, qualified or not."""
        if isinstance(node.this, exp.Star):
            raise ConversionError("value Star")
        name, qualifier = node.name.lower(), node.table.lower()
        for number, source in enumerate(self.scope.sources):
            if qualifier and source.name != qualifier:
                continue
            found = self._column_of(source, number, name)
            if found is not None:
                return found
        raise ConversionError(_UNKNOWN)

    def _column_of(self, source: Source, number: int, name: str) -> ColumnRef | DerivedRef | None:
        if source.table is None:
            return DerivedRef(number, source.outputs.index(name)) if name in source.outputs else None
        for column in self.schema.tables[source.table].columns:
            if self.schema.columns[column].name.lower() == name:
                return ColumnRef(column, number)
        return None

    def offers(self, number: int, name: str) -> ColumnRef | DerivedRef | None:
        """The reference of source `number`'s column of a name, or None."""
        return self._column_of(self.scope.sources[number], number, name.lower())

    def find(self, node: exp.Column) -> ColumnRef | DerivedRef | None:
        """The reference of a column, or None where no source in scope offers it."""
        try:
            return self.column(node)
        except ConversionError:
            return None

    def name(self, node: exp.Column) -> list[Terminal] | exp.Expr:
        """What a name stands for where no alias goes before columns: terminals, or the select item it is an alias of."""
        found = self.find(node)
        if found is not None:
            return [found]
        if not node.table and not isinstance(node.this, exp.Star):
            aliased = self.scope.aliased(node.name.lower())
            if aliased is not None:
                return aliased
            for constant in self.schema.constants:
                if constant.name.lower() == node.name.lower():
                    return [Literal(constant.value, name=constant.name)]
        raise ConversionError("value Star" if isinstance(node.this, exp.Star) else _UNKNOWN)


def sort_key(node: exp.Expr, items: Sequence[exp.Expr]) -> exp.Expr:
    """The expression that a key of ORDER BY stands for: aliases and positions come before columns there."""
    bare = unparen(node)
    if isinstance(bare, exp.Literal) and not bare.is_string:
        return _at(bare, items)
    if isinstance(bare, exp.Column) and not bare.table:
        return next((unalias(item) for item in items if item.alias.lower() == bare.name.lower()), node)
    return node


def group_key(node: exp.Expr, items: Sequence[exp.Expr]) -> exp.Expr:
    """The expression that a key of GROUP BY stands for: a position, or itself."""
    bare = unparen(node)
    return _at(bare, items) if isinstance(bare, exp.Literal) and not bare.is_string else node


def _at(position: exp.Literal, items: Sequence[exp.Expr]) -> exp.Expr:
    number = int(position.this) if str(position.this).isdecimal() else 0
    if not 1 <= number <= len(items) or any(item.is_star for item in items[:number]):
        raise ConversionError("a position beyond the select list")
    return unalias(items[number - 1])


def read_quoted_strings(tree: exp.Expr, schema: Schema) -> exp.Expr:
    """The tree with every `"text"` that can name nothing in it as a string, which is how SQLite takes it.

    A name is a column of any table that the query mentions, or an alias of its own. What is qualified is no string.
    """
    mentioned = {table.name.lower() for table in tree.find_all(exp.Table)}
    known = {
        schema.columns[column].name.lower()
        for table in schema.tables
        if table.name.lower() in mentioned
        for column in table.columns
    }
    known |= {alias.alias.lower() for alias in tree.find_all(exp.Alias)}

    def read(node: exp.Expr) -> exp.Expr:
        quoted = isinstance(node, exp.Column) and not node.table and node.this.args.get("quoted")
        return exp.Literal.string(node.name) if quoted and node.name.lower() not in known else node

    return tree.transform(read, copy=False)
