"""A query's tree with every column traced to the table of FROM that it is of, as SQLite does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from fastsql.errors import FastSQLError
from fastsql.grammar.convert.names import read_quoted_strings
from fastsql.grammar.render.names import Naming
from fastsql.schema import Schema
from fastsql.schema.names import fold
from fastsql.synthesis.source import SynthesisError
from fastsql.verification.parse import parse_query

NAMING = Naming()


class UnreadableError(SynthesisError):
    """A query does not parse, or names what the schema lacks."""


@dataclass(eq=False)
class Use:
    """A table in a FROM, by the name that qualifies its columns there.

    `columns` are the references to it, also from inside of subqueries. `whole` says that all its columns count, in their
    order: a `*` that could not be spelled out, a NATURAL join, USING.
    """

    table: int
    alias: str
    node: exp.Table
    select: exp.Select
    columns: list[tuple[exp.Column, int]] = field(default_factory=list)
    whole: bool = False

    @property
    def join(self) -> exp.Join | None:
        """The join that brings it; None for the first table of FROM."""
        return self.node.parent if isinstance(self.node.parent, exp.Join) else None

    def of(self, column: int) -> list[exp.Column]:
        """The references to one column."""
        return [node for node, number in self.columns if number == column]

    @property
    def used(self) -> list[int]:
        """The columns that are referred to, each once, in the schema's order."""
        return sorted({number for _, number in self.columns})


@dataclass
class Query:
    """A tree, to be rewritten in place, and its uses of the schema's tables."""

    tree: exp.Query
    uses: list[Use]


@dataclass
class _Source:
    """What a FROM offers: a table of the schema, or a query by its output names (None: not known)."""

    name: str
    use: Use | None
    outputs: list[str | None]


def read(sql: str, schema: Schema, spell: frozenset[int] = frozenset()) -> Query:
    """The tree of a query with its uses; `*` over a table of `spell` is spelled out. Raises UnreadableError."""
    try:
        tree = parse_query(sql)
    except FastSQLError as error:
        raise UnreadableError(error.what, where=error.where) from error
    return _Reader(schema, spell).read(read_quoted_strings(tree, schema))


def own_nodes(select: exp.Query) -> Iterator[exp.Expr]:
    """The nodes of a query that are in no query inside it; such a query itself is among them."""
    for node in select.walk(prune=lambda node: node is not select and isinstance(node, exp.Query)):
        if node is not select:
            yield node


class _Reader:
    def __init__(self, schema: Schema, spell: frozenset[int]) -> None:
        self._schema = schema
        self._spell = spell
        self._uses: list[Use] = []

    def read(self, tree: exp.Expr) -> Query:
        if not isinstance(tree, exp.Query):
            raise UnreadableError("is no query")
        self._query(tree, [], {})
        return Query(tree, self._uses)

    def _query(
        self, query: exp.Expr, outer: list[list[_Source]], known: dict[str, list[str | None]]
    ) -> list[str | None]:
        """Trace what is in a query; its output names."""
        known = dict(known)
        clause = query.args.get("with_")
        if clause is not None:
            if clause.args.get("recursive"):
                raise UnreadableError("WITH RECURSIVE")
            for one in clause.expressions:
                outputs = self._query(one.this, [], known)
                renamed = [column.name for column in one.args["alias"].columns]
                known[fold(one.alias)] = [fold(name) for name in renamed] or outputs
        if isinstance(query, exp.Subquery):
            return self._query(query.this, outer, known)
        if isinstance(query, exp.SetOperation):
            outputs = self._query(query.left, outer, known)
            self._query(query.right, outer, known)
            return outputs
        if not isinstance(query, exp.Select):
            raise UnreadableError(f"a {type(query).__name__} among its queries")
        return self._select(query, outer, known)

    def _select(
        self, select: exp.Select, outer: list[list[_Source]], known: dict[str, list[str | None]]
    ) -> list[str | None]:
        sources = [self._source(item, select, outer, known) for item in _from_items(select)]
        self._stars(select, sources)
        scopes = [*outer, sources]
        in_from = {id(item) for item in _from_items(select)}
        for node in list(own_nodes(select)):
            if isinstance(node, exp.Query) and id(node) not in in_from:
                if not (isinstance(node.parent, exp.CTE)):
                    self._query(node, scopes, known)
            elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                self._trace(node, select, scopes)
        return [output for item in select.expressions for output in self._outputs(item, sources)]

    def _source(
        self,
        item: exp.Expr,
        select: exp.Select,
        outer: list[list[_Source]],
        known: dict[str, list[str | None]],
    ) -> _Source:
        if isinstance(item, exp.Subquery):
            if not isinstance(item.this, exp.Query):
                raise UnreadableError("joins in parentheses")
            return _Source(fold(item.alias), None, self._query(item, outer, known))
        if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
            raise UnreadableError(f"a {type(item).__name__} in FROM")
        if item.args.get("joins"):
            raise UnreadableError("joins in parentheses")
        if not item.db and fold(item.name) in known:
            return _Source(fold(item.alias_or_name), None, known[fold(item.name)])
        table = self._schema.find_table(item.name)
        if table is None or fold(item.db) not in ("", "main"):
            raise UnreadableError("a table that the schema lacks")
        use = Use(table, item.alias_or_name, item, select)
        if _merges_columns(select):
            use.whole = True
        self._uses.append(use)
        columns = [fold(self._schema.columns[column].name) for column in self._schema.tables[table].columns]
        return _Source(fold(use.alias), use, list(columns))

    def _stars(self, select: exp.Select, sources: Sequence[_Source]) -> None:
        """Spell out each `*` over a table that is to change; where that cannot be done, all its columns count."""
        items: list[exp.Expr] = []
        for item in select.expressions:
            star = isinstance(item, exp.Star)
            if not star and not (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
                items.append(item)
                continue
            covered = [one for one in sources if star or one.name == fold(item.table)]
            wanted = any(one.use is not None and one.use.table in self._spell for one in covered)
            if not wanted or isinstance(select.parent, exp.Exists):
                items.append(item)
            elif _merges_columns(select) or any(None in one.outputs or not one.name for one in covered):
                for one in covered:
                    if one.use is not None:
                        one.use.whole = True
                items.append(item)
            else:
                items += [column for one in covered for column in self._spelled(one)]
        select.set("expressions", items)

    def _spelled(self, source: _Source) -> Iterator[exp.Expr]:
        if source.use is None:
            yield from (NAMING.column(name or "", source.name) for name in source.outputs)
            return
        for column in self._schema.tables[source.use.table].columns:
            yield NAMING.column(self._schema.columns[column].name, source.use.alias)

    def _trace(self, node: exp.Column, select: exp.Select, scopes: Sequence[Sequence[_Source]]) -> None:
        name, qualifier = fold(node.name), fold(node.table)
        if not qualifier and _is_alias(node, select, first=True):
            return
        for scope in reversed(scopes):
            for source in scope:
                if qualifier and source.name != qualifier:
                    continue
                if name in source.outputs:
                    if source.use is not None:
                        column = self._schema.tables[source.use.table].columns[source.outputs.index(name)]
                        source.use.columns.append((node, column))
                        if not qualifier:
                            node.set("table", NAMING.identifier(source.use.alias))
                    return
                if None in source.outputs:
                    raise UnreadableError("a query in FROM with a column without a name")
            if qualifier and any(source.name == qualifier for source in scope):
                break
            if not qualifier and scope is scopes[-1] and _is_alias(node, select, first=False):
                return
        raise UnreadableError("a name that the schema lacks")

    def _outputs(self, item: exp.Expr, sources: Sequence[_Source]) -> list[str | None]:
        if isinstance(item, exp.Star):
            return [name for one in sources for name in one.outputs]
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            return [name for one in sources if one.name == fold(item.table) for name in one.outputs]
        return [fold(item.alias_or_name) or None]


def _from_items(select: exp.Select) -> list[exp.Expr]:
    first = select.args.get("from_")
    return [] if first is None else [first.this, *(join.this for join in select.args.get("joins") or ())]


def _merges_columns(select: exp.Select) -> bool:
    """Whether columns of two tables become one: NATURAL, USING."""
    return any(join.args.get("using") or join.method for join in select.args.get("joins") or ())


def _is_alias(node: exp.Column, select: exp.Select, *, first: bool) -> bool:
    """Whether a bare name is an alias of the select list: in ORDER BY (`first`) before columns, elsewhere after them."""
    if first and node.find_ancestor(exp.Order, exp.Query) is not select.args.get("order"):
        return False
    name = fold(node.name)
    return any(isinstance(item, exp.Alias) and fold(item.alias) == name for item in select.expressions)
