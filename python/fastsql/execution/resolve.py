"""Which source every column of a parsed query belongs to, by SQL's scope rules.

Nothing here knows how the query was made: it is the verifier's reading of a finished AST, and the evaluation's for its
canonical form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.names import fold


class UnresolvedError(Exception):
    """A name of the query means nothing in its place. The message never repeats the name: it may be a value."""


@dataclass(frozen=True, eq=False)
class Source:
    """An entry of a FROM clause: a table of the schema, or a derived table (subquery or CTE).

    `alias` is the folded name by which columns refer to it, `columns` the folded names it offers in order, `table` the
    index of the schema's table or None, `query` the query of a derived table or None.
    """

    alias: str
    columns: tuple[str, ...]
    table: int | None = None
    query: exp.Query | None = None


@dataclass
class Resolution:
    """The outcome for a whole query, by AST node identity.

    `columns` maps a column node to its source and position in it; alias references of ORDER BY and the like are not in
    it but in `aliases`, which maps them to the select list item they stand for. `strings` are the nodes that SQLite reads as
    strings, if they are allowed. `sources` lists those of every SELECT.
    """

    columns: dict[int, tuple[Source, int]] = field(default_factory=dict)
    aliases: dict[int, exp.Expr] = field(default_factory=dict)
    strings: set[int] = field(default_factory=set)
    sources: dict[int, tuple[Source, ...]] = field(default_factory=dict)


_Scope = tuple[Source, ...]
_Tables = dict[str, tuple[tuple[str, ...], exp.Query]]


def resolve(query: exp.Query, schema: Schema, *, quoted_strings: bool = False) -> Resolution:
    """Assign every column of `query`, and of the queries inside it, to its source.

    With `quoted_strings`, an unknown, unqualified ``"name"`` is taken for a string, as SQLite does.
    Some gold SQL relies on it.

    Raises:
        UnresolvedError: a table, column or alias is unknown or ambiguous, or the query has a form not meant here.
    """
    resolution = Resolution()
    _Resolver(schema, resolution, quoted_strings).query(query, (), {})
    return resolution


class _Resolver:
    def __init__(self, schema: Schema, resolution: Resolution, quoted_strings: bool) -> None:
        self._schema = schema
        self._quoted_strings = quoted_strings
        self._into = resolution

    def query(self, node: exp.Expr, outer: tuple[_Scope, ...], tables: _Tables) -> tuple[str, ...]:
        """Resolve one query; its output column names, folded. `tables` are the CTEs in sight."""
        if isinstance(node, exp.Query):
            tables = self._with_ctes(node, outer, tables)
        if isinstance(node, exp.Subquery):
            names = self.query(node.this, outer, tables)
            self._ordering(node, names)
            return names
        if isinstance(node, exp.SetOperation):
            left = self.query(node.this, outer, tables)
            right = self.query(node.expression, outer, tables)
            if len(left) != len(right):
                raise UnresolvedError(
                    f"the sides of a set operation have {len(left)} and {len(right)} columns"
                )
            self._ordering(node, left)
            return left
        if isinstance(node, exp.Select):
            return self._select(node, outer, tables)
        raise UnresolvedError(f"{type(node).__name__} stands where a SELECT should")

    def _with_ctes(self, node: exp.Query, outer: tuple[_Scope, ...], tables: _Tables) -> _Tables:
        clause = node.args.get("with_")
        if clause is None:
            return tables
        if clause.args.get("recursive"):
            raise UnresolvedError("a recursive WITH is not allowed")
        tables = dict(tables)
        for cte in clause.expressions:
            names = self.query(cte.this, outer, tables)
            tables[fold(cte.alias)] = (_renamed(names, cte), cte.this)
        return tables

    def _select(self, node: exp.Select, outer: tuple[_Scope, ...], tables: _Tables) -> tuple[str, ...]:
        if not node.expressions:
            raise UnresolvedError("a SELECT selects nothing")
        clause = node.args.get("from_")
        roots = [] if clause is None else [clause.this]
        roots += [join.this for join in node.args.get("joins") or ()]
        sources = tuple(source for root in roots for source in self._sources(root, outer, tables))
        if len({source.alias for source in sources}) < len(sources):
            raise UnresolvedError("two sources of a FROM clause have one name")
        self._into.sources[id(node)] = sources
        scopes = (sources, *outer)
        items = {fold(item.alias): item for item in node.expressions if isinstance(item, exp.Alias)}
        for child in _own_nodes(node):
            if isinstance(child, exp.Column):
                self._column(child, scopes, items)
            elif isinstance(child, exp.Query):
                self.query(child, scopes, tables)
            elif isinstance(child, exp.Join):
                self._using(child, sources)
        return tuple(name for item in node.expressions for name in self._outputs(item, sources))

    def _sources(self, node: exp.Expr, outer: tuple[_Scope, ...], tables: _Tables) -> Iterator[Source]:
        if isinstance(node, exp.Table):
            yield self._table(node, tables)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            yield from self._sources(node.this, outer, tables)
        elif isinstance(node, exp.Subquery):
            names = self.query(node, outer, tables)
            yield Source(fold(node.alias), _renamed(names, node), query=node)
        else:
            raise UnresolvedError(f"{type(node).__name__} is no source for a FROM clause")
        for join in node.args.get("joins") or ():
            yield from self._sources(join.this, outer, tables)

    def _table(self, node: exp.Table, tables: _Tables) -> Source:
        if node.args.get("db") or node.args.get("catalog") or not isinstance(node.this, exp.Identifier):
            raise UnresolvedError("a source of a FROM clause is no plain table")
        name = fold(node.name)
        alias = fold(node.alias) if node.alias else name
        if name in tables:
            names, query = tables[name]
            return Source(alias, names, query=query)
        index = self._schema.find_table(node.name)
        if index is None:
            raise UnresolvedError("a table is not in the schema")
        columns = tuple(
            fold(self._schema.columns[column].name) for column in self._schema.tables[index].columns
        )
        return Source(alias, columns, table=index)

    def _column(self, node: exp.Column, scopes: tuple[_Scope, ...], items: dict[str, exp.Alias]) -> None:
        if node.args.get("db") or node.args.get("catalog"):
            raise UnresolvedError("a column is qualified by more than a table")
        if isinstance(node.this, exp.Star):
            if not any(source.alias == fold(node.table) for source in scopes[0]):
                raise UnresolvedError("a star belongs to no source in scope")
            return
        name, table = fold(node.name), fold(node.table)
        for scope in scopes:
            found = [source for source in scope if name in source.columns and table in ("", source.alias)]
            if len(found) > 1:
                raise UnresolvedError("a column could belong to several sources")
            if found:
                self._into.columns[id(node)] = (found[0], found[0].columns.index(name))
                return
            if not table and name in items:
                self._into.aliases[id(node)] = items[name].this
                return
        if self._quoted_strings and not table and node.this.args.get("quoted"):
            self._into.strings.add(id(node))
            return
        raise UnresolvedError("a column belongs to no source in scope")

    def _using(self, join: exp.Join, sources: _Scope) -> None:
        for name in join.args.get("using") or ():
            if sum(fold(name.name) in source.columns for source in sources) < 2:
                raise UnresolvedError("a column of USING is not on both sides")

    def _ordering(self, node: exp.Query, names: tuple[str, ...]) -> None:
        """ORDER BY of a set operation, or of a query in parentheses, sees the output columns only."""
        order = node.args.get("order")
        for column in order.find_all(exp.Column) if order is not None else ():
            if column.table or fold(column.name) not in names:
                raise UnresolvedError("a sort key is no column of the result")

    def _outputs(self, item: exp.Expr, sources: _Scope) -> Iterator[str]:
        if isinstance(item, exp.Star):
            yield from (name for source in sources for name in source.columns)
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            alias = fold(item.table)
            yield from (name for source in sources if source.alias == alias for name in source.columns)
        else:
            yield fold(item.alias_or_name)


def _own_nodes(select: exp.Select) -> Iterator[exp.Expr]:
    """The nodes of a SELECT, without what lies inside a nested query and without the sources themselves."""
    stack: list[exp.Expr] = []
    for key, value in select.args.items():
        if key not in ("from_", "with_", "joins"):
            stack += _expressions(value)
    joins = list(select.args.get("joins") or ())
    clause = select.args.get("from_")
    joins += _nested_joins(clause.this) if clause is not None else []
    while joins:
        join = joins.pop()
        yield join
        stack += _expressions(join.args.get("on"))
        joins += _nested_joins(join.this)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, exp.Column | exp.Query):
            stack += node.iter_expressions()


def _nested_joins(source: exp.Expr) -> list[exp.Expr]:
    joins = list(source.args.get("joins") or ())
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table):
        joins += _nested_joins(source.this)
    return joins


def _expressions(value: object) -> list[exp.Expr]:
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, exp.Expr)]


def _renamed(names: tuple[str, ...], node: exp.Expr) -> tuple[str, ...]:
    """Output names after a column list such as ``AS t(a, b)``."""
    columns = tuple(fold(name) for name in node.alias_column_names)
    return columns + names[len(columns) :]
