"""Which source every column of a parsed query belongs to, by the dialect's scope rules.

Nothing here knows how the query was made: it is the verifier's reading of a finished AST, and the evaluation's for its
canonical form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.verification.allowed import SYSTEM_NAMESPACES
from fastsql.verification.naming import RULES, NameRules

MOST_SOURCES = 256
"""Sources of one FROM clause. SQLite joins 64 tables."""
MOST_COLUMNS = 10_000
"""Columns that all queries of a statement show together: stars over stars double them with every level."""


class UnresolvedError(Exception):
    """A name of the query means nothing in its place. The message never repeats the name: it may be a value."""


@dataclass(frozen=True, eq=False)
class Source:
    """An entry of a FROM clause: a table of the schema, or a derived table (subquery or CTE).

    `alias` is the form by which columns refer to it, `columns` those of the names that it offers, in order, `table` the
    index of the schema's table or None, `query` the query of a derived table or None.
    """

    alias: str
    columns: tuple[str, ...]
    table: int | None = None
    query: exp.Query | None = None

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The position of each name, the first of equal ones."""
        return {name: place for place, name in reversed(list(enumerate(self.columns)))}


@dataclass
class Resolution:
    """The outcome for a whole query, by AST node identity.

    `columns` maps a column node to its source and position in it; references to the select list are not in it but in
    `aliases`, which maps them to the expression that they stand for. `positions` maps sort keys of set operations to the
    position of their output column. `strings` are the nodes that SQLite reads as strings, if they are allowed. `sources`
    lists those of every SELECT, `nodes` maps the tables and subqueries of FROM clauses to theirs, `outputs` queries to the
    names that they offer.
    """

    columns: dict[int, tuple[Source, int]] = field(default_factory=dict)
    aliases: dict[int, exp.Expr] = field(default_factory=dict)
    positions: dict[int, int] = field(default_factory=dict)
    strings: set[int] = field(default_factory=set)
    sources: dict[int, tuple[Source, ...]] = field(default_factory=dict)
    nodes: dict[int, Source] = field(default_factory=dict)
    outputs: dict[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Scope:
    """What names may mean in one place of a SELECT: columns of its sources, and items of its select list."""

    sources: tuple[Source, ...]
    items: Mapping[str, exp.Expr] = field(default_factory=dict)


_KEYED = frozenset(("group", "having", "order"))
"""Clauses in which a word may be an item of the select list before it is a column."""
_Tables = dict[str, tuple[tuple[str, ...], exp.Query]]


def resolve(
    query: exp.Query, schema: Schema, *, dialect: str = "sqlite", quoted_strings: bool = False
) -> Resolution:
    """Assign every column of `query`, and of the queries inside it, to its source.

    With `quoted_strings`, an unknown, unqualified ``"name"`` is taken for a string, as SQLite does.
    Some gold SQL relies on it.

    Raises:
        UnresolvedError: a table, column or alias is unknown or ambiguous, or the query has a form not meant here.
    """
    resolution = Resolution()
    _Resolver(schema, resolution, dialect, quoted_strings).query(query, (), {})
    return resolution


class _Resolver:
    def __init__(self, schema: Schema, resolution: Resolution, dialect: str, quoted_strings: bool) -> None:
        self._schema = schema
        self._dialect = dialect
        self._rules = RULES[dialect]
        self._quoted_strings = quoted_strings
        self._into = resolution
        self._shown = 0

    def query(self, node: exp.Expr, outer: tuple[_Scope, ...], tables: _Tables) -> tuple[str, ...]:
        """Resolve one query; the names that it offers. `tables` are the CTEs in sight."""
        if isinstance(node, exp.Query):
            tables = self._with_ctes(node, outer, tables)
        if isinstance(node, exp.Subquery):
            names = self.query(node.this, outer, tables)
            self._ordering(node, names)
        elif isinstance(node, exp.SetOperation):
            names = self.query(node.this, outer, tables)
            right = self.query(node.expression, outer, tables)
            if len(names) != len(right):
                raise UnresolvedError(
                    f"the sides of a set operation have {len(names)} and {len(right)} columns"
                )
            self._ordering(node, names)
        elif isinstance(node, exp.Select):
            names = self._select(node, outer, tables)
        else:
            raise UnresolvedError(f"{type(node).__name__} stands where a SELECT should")
        self._into.outputs[id(node)] = names
        return names

    def _with_ctes(self, node: exp.Query, outer: tuple[_Scope, ...], tables: _Tables) -> _Tables:
        clause = node.args.get("with_")
        if clause is None:
            return tables
        if clause.args.get("recursive"):
            raise UnresolvedError("a recursive WITH is not allowed")
        tables = dict(tables)
        for cte in clause.expressions:
            names = self.query(cte.this, outer, tables)
            tables[self._alias(cte)] = (self._renamed(names, cte), cte.this)
        return tables

    def _select(self, node: exp.Select, outer: tuple[_Scope, ...], tables: _Tables) -> tuple[str, ...]:
        if not node.expressions:
            raise UnresolvedError("a SELECT selects nothing")
        clause = node.args.get("from_")
        roots = [] if clause is None else [clause.this]
        roots += [join.this for join in node.args.get("joins") or ()]
        sources = tuple(source for root in roots for source in self._sources(root, outer, tables))
        if len(sources) > MOST_SOURCES:
            raise UnresolvedError(f"a FROM clause has more than {MOST_SOURCES} sources")
        if len({source.alias for source in sources}) < len(sources):
            raise UnresolvedError("two sources of a FROM clause have one name")
        self._into.sources[id(node)] = sources
        items = self._items(node)
        plain, aliased = (_Scope(sources), *outer), (_Scope(sources, items), *outer)
        joined = self._joined(node, sources, outer)
        outputs = self._named_columns(node) if self._rules.implicit_outputs else {}
        for name, child, join in _own_nodes(node):
            scopes = aliased if name in self._rules.alias_clauses else joined.get(id(join), plain)
            if isinstance(child, exp.Column):
                if name not in _KEYED or not self._is_item(child, name, node, plain, items, outputs):
                    self._column(child, scopes)
            elif isinstance(child, exp.Query):
                self.query(child, scopes, tables)
            elif isinstance(child, exp.Join):
                self._using(child, sources)
        names: list[str] = []
        for item in node.expressions:
            shown = sum(len(source.columns) for source in starred(item, sources, self._rules)) or 1
            self._shown += shown
            if self._shown > MOST_COLUMNS:
                raise UnresolvedError(f"its queries show more than {MOST_COLUMNS:,} columns")
            names += self._outputs(item, sources)
        return tuple(names)

    def _named_columns(self, select: exp.Select) -> dict[str, exp.Expr]:
        """The plain columns of a select list by their names, the first of equal ones."""
        found: dict[str, exp.Expr] = {}
        for item in select.expressions:
            if isinstance(item, exp.Column):
                found.setdefault(self._rules.key(item.this), item)
        return found

    def _joined(
        self, select: exp.Select, sources: tuple[Source, ...], outer: tuple[_Scope, ...]
    ) -> dict[int, tuple[_Scope, ...]]:
        """What the condition of each join sees: the sources up to its own. To SQLite, a condition is one of WHERE."""
        if "joins" in self._rules.alias_clauses:
            return {}
        seen: dict[int, tuple[_Scope, ...]] = {}
        for join in select.args.get("joins") or ():
            source = self._into.nodes.get(id(join.this))
            if source is not None:
                seen[id(join)] = (_Scope(sources[: sources.index(source) + 1]), *outer)
        return seen

    def _sources(self, node: exp.Expr, outer: tuple[_Scope, ...], tables: _Tables) -> Iterator[Source]:
        if isinstance(node, exp.Table):
            yield self._keep(node, self._table(node, tables))
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            if node.args.get("alias"):
                raise UnresolvedError("tables in parentheses have an alias")
            yield from self._sources(node.this, outer, tables)
        elif isinstance(node, exp.Subquery):
            names = self.query(node, outer, tables)
            yield self._keep(node, Source(self._alias(node), self._renamed(names, node), query=node))
        else:
            raise UnresolvedError(f"{type(node).__name__} cannot be a source of a FROM clause")
        for join in node.args.get("joins") or ():
            yield from self._sources(join.this, outer, tables)

    def _keep(self, node: exp.Expr, source: Source) -> Source:
        self._into.nodes[id(node)] = source
        return source

    def _table(self, node: exp.Table, tables: _Tables) -> Source:
        if node.args.get("catalog") or not isinstance(node.this, exp.Identifier):
            raise UnresolvedError("a source of a FROM clause is not a plain table")
        name, namespace = self._rules.key(node.this), self._rules.key(node.args.get("db"))
        if node.args.get("db") and not namespace:
            raise UnresolvedError("a namespace has no name")
        alias = self._alias(node) or name
        if name in tables and not namespace:
            names, query = tables[name]
            return Source(alias, names, query=query)
        index = self._table_of(name, namespace)
        columns = (self._schema.columns[column].name for column in self._schema.tables[index].columns)
        return Source(alias, tuple(map(self._rules.stored, columns)), table=index)

    def _table_of(self, name: str, namespace: str) -> int:
        """The table of the schema that a name means to the database; without a namespace, one of the default namespace."""
        system = SYSTEM_NAMESPACES[self._dialect]
        if any(namespace == name or (name[-1] == "_" and namespace.startswith(name)) for name in system):
            raise UnresolvedError("a table is of a system namespace")
        for index in self._schema.tables_named(name):
            table = self._schema.tables[index]
            held = self._rules.stored(table.namespace if namespace else self._schema.namespace_in_sql(index))
            if self._rules.stored(table.name) == name and held == namespace:
                return index
        raise UnresolvedError("a table is not in the schema")

    def _column(self, node: exp.Column, scopes: tuple[_Scope, ...]) -> None:
        if node.args.get("db") or node.args.get("catalog"):
            raise UnresolvedError("a column is qualified by more than a table")
        table = self._rules.key(node.args.get("table"))
        if isinstance(node.this, exp.Star):
            if not any(source.alias == table for source in scopes[0].sources):
                raise UnresolvedError("a star belongs to no source in scope")
            return
        if self._rules.calls(node):
            raise UnresolvedError("a word that calls a function stands where a column should")
        name = self._rules.key(node.this)
        for scope in scopes:
            found = [s for s in scope.sources if name in s.places and table in ("", s.alias)]
            if len(found) > 1:
                raise UnresolvedError("a column could belong to several sources")
            if found:
                self._into.columns[id(node)] = (found[0], found[0].places[name])
                return
            if not table and name in scope.items:
                self._into.aliases[id(node)] = scope.items[name]
                return
        if self._quoted_strings and not table and node.this.args.get("quoted"):
            self._into.strings.add(id(node))
            return
        raise UnresolvedError("a column belongs to no source in scope")

    def _items(self, select: exp.Select) -> dict[str, exp.Expr]:
        """Select items by their aliases. Of two with one alias SQLite takes the first; elsewhere neither is meant."""
        items: dict[str, exp.Expr] = {}
        twice = set()
        for item in select.expressions:
            if isinstance(item, exp.Alias):
                name = self._rules.key(item.args.get("alias"))
                if name in items:
                    twice.add(name)
                items.setdefault(name, item.this)
        return {n: item for n, item in items.items() if n not in twice or self._rules.first_alias}

    def _is_item(
        self,
        node: exp.Column,
        clause: str,
        select: exp.Select,
        scopes: tuple[_Scope, ...],
        items: Mapping[str, exp.Expr],
        outputs: Mapping[str, exp.Expr],
    ) -> bool:
        """Whether a column means an item of the select list before it means a column, as sort keys do; then it is kept."""
        if node.table or isinstance(node.this, exp.Star):
            return False
        name = self._rules.key(node.this)
        key = node.parent
        if clause in self._rules.alias_first:
            found = items.get(name)
        elif clause == "order" and isinstance(key, exp.Ordered) and key.parent is select.args.get("order"):
            found = items.get(name) or outputs.get(name)
        elif clause in self._rules.alias_keys and key is select.args.get(clause):
            within = any(name in source.places for source in scopes[0].sources)
            found = None if within else items.get(name)
        else:
            return False
        if found is None:
            return False
        self._into.aliases[id(node)] = found
        return True

    def _using(self, join: exp.Join, sources: tuple[Source, ...]) -> None:
        for name in join.args.get("using") or ():
            if sum(self._rules.key(name) in source.places for source in sources) < 2:
                raise UnresolvedError("a column of USING is not on both sides")

    def _ordering(self, node: exp.Query, names: tuple[str, ...]) -> None:
        """ORDER BY of a set operation, or of a query in parentheses, sees the output columns only."""
        order = node.args.get("order")
        for column in order.find_all(exp.Column) if order is not None else ():
            name = self._rules.key(column.this)
            if column.table or name not in names:
                raise UnresolvedError("a sort key is not a column of the result")
            self._into.positions[id(column)] = names.index(name)

    def _outputs(self, item: exp.Expr, sources: tuple[Source, ...]) -> Iterator[str]:
        for source in starred(item, sources, self._rules):
            yield from source.columns
        if isinstance(item, exp.Alias):
            yield self._alias(item)
        elif isinstance(item, exp.Column) and not isinstance(item.this, exp.Star):
            yield self._rules.key(item.this)
        elif not is_star(item):
            yield ""

    def _alias(self, node: exp.Expr) -> str:
        """The alias of an item, a table, a subquery or a CTE, as it compares; "" where there is none."""
        alias = node.args.get("alias")
        return self._rules.key(alias.this if isinstance(alias, exp.TableAlias) else alias)

    def _renamed(self, names: tuple[str, ...], node: exp.Expr) -> tuple[str, ...]:
        """Output names after a column list such as ``AS t(a, b)``."""
        alias = node.args.get("alias")
        listed = alias.args.get("columns") or () if isinstance(alias, exp.TableAlias) else ()
        columns = tuple(map(self._rules.key, listed))
        return columns + names[len(columns) :]


def is_star(item: exp.Expr) -> bool:
    """Whether a select item is ``*`` or ``t.*``."""
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def starred(item: exp.Expr, sources: tuple[Source, ...], rules: NameRules) -> tuple[Source, ...]:
    """The sources whose columns a select item stands for: none, unless it is a star."""
    if isinstance(item, exp.Star):
        return sources
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        alias = rules.key(item.args.get("table"))
        return tuple(source for source in sources if source.alias == alias)
    return ()


Shown = tuple[Source, int] | exp.Expr
"""A column that a SELECT shows: that of a source, for which a star stands, or an item of the select list."""


def shown(select: exp.Select, sources: tuple[Source, ...], rules: NameRules) -> list[Shown]:
    """The columns that a SELECT shows, in their order."""
    found: list[Shown] = []
    for item in select.expressions:
        stars = starred(item, sources, rules)
        found += ((source, place) for source in stars for place in range(len(source.columns)))
        if not stars:
            found.append(item)
    return found


def _own_nodes(select: exp.Select) -> Iterator[tuple[str, exp.Expr, exp.Expr | None]]:
    """The nodes of a SELECT, each with its clause and the join whose condition it is in.

    Without those of nested queries, and without the sources themselves.
    """
    stack: list[tuple[str, exp.Expr, exp.Expr | None]] = []
    for key, value in select.args.items():
        if key not in ("from_", "with_", "joins"):
            stack += ((key, item, None) for item in _expressions(value))
    joins = list(select.args.get("joins") or ())
    clause = select.args.get("from_")
    joins += _nested_joins(clause.this) if clause is not None else []
    while joins:
        join = joins.pop()
        yield "joins", join, None
        stack += (("joins", item, join) for item in _expressions(join.args.get("on")))
        joins += _nested_joins(join.this)
    while stack:
        name, node, within = stack.pop()
        yield name, node, within
        if not isinstance(node, exp.Column | exp.Query):
            stack += ((name, item, within) for item in node.iter_expressions())


def _nested_joins(source: exp.Expr) -> list[exp.Expr]:
    joins = list(source.args.get("joins") or ())
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table):
        joins += _nested_joins(source.this)
    return joins


def _expressions(value: object) -> list[exp.Expr]:
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, exp.Expr)]
