"""What was resolved, said without ambiguity: the tree of a query is rewritten so that it cannot mean anything else.

A verified text may still mean more to the database than to us: its tables have columns that our schema does not know, its
names fold otherwise, an alias may be read as a column or a column as a whole row. So what runs is not that text. Here
every source gets a name of its own, every column says its source, ``*`` becomes the columns of the schema, references to the
select list become positions or what they stand for, and every name is quoted. What the database could add has no name in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from fastsql.execution.naming import RULES
from fastsql.execution.resolve import Resolution, Source, UnresolvedError, is_star, starred
from fastsql.schema import Schema
from fastsql.schema.names import fold

MOST_REPEATED = 4_000
"""Nodes that references to the select list may repeat, all together."""
_MAIN = {"sqlite": "main"}
"""By dialect, the namespace of tables whose schema names none."""
_NAMES_BY_TEXT = frozenset(("sqlite", "duckdb"))
"""Dialects that name a column of the result after the text of its item. The text is rewritten, the name is to stay."""


def qualify(nodes: list[exp.Expr], resolution: Resolution, schema: Schema, *, dialect: str) -> None:
    """Rewrite a query in place; `nodes` are all of its tree, itself first, `resolution` is that of the same tree.

    It has passed :func:`check_meaning`.

    Raises:
        UnresolvedError: a column of USING is ambiguous, or aliases repeat too much.
    """
    _Qualifier(nodes, resolution, schema, dialect).rewrite()


def check_meaning(nodes: list[exp.Expr], resolution: Resolution) -> None:
    """Return if all of a resolved query, given by its nodes, can be said without the database's own reading of names.

    Raises:
        UnresolvedError: a name was not resolved, a star stands for a whole row or beside USING, columns of a table are
            renamed, or a set operation is sorted by more than its columns.
    """
    known = (resolution.columns, resolution.aliases, resolution.positions)
    for node in nodes:
        if isinstance(node, exp.Star) and not isinstance(_holder(node), exp.Select | exp.Count):
            raise UnresolvedError("a star stands where a column should")
        if isinstance(node, exp.Column):
            if isinstance(node.this, exp.Star):
                if not isinstance(node.parent, exp.Select):
                    raise UnresolvedError("a star stands for a whole row")
            elif not any(id(node) in found for found in known):
                raise UnresolvedError("a column stands where none is looked for")
            if id(node) in resolution.positions and not _is_whole_key(node):
                raise UnresolvedError("a sort key of a set operation is no column of it")
        elif isinstance(node, exp.Table):
            source, alias = resolution.nodes.get(id(node)), node.args.get("alias")
            if source is None:
                raise UnresolvedError("a table stands where none is looked for")
            if source.query is None and alias is not None and alias.args.get("columns"):
                raise UnresolvedError("columns of a table are renamed")
        elif isinstance(node, exp.Select):
            if id(node) not in resolution.sources:
                raise UnresolvedError("a query stands where none is looked for")
            using = any(join.args.get("using") for join in node.args.get("joins") or ())
            if using and any(is_star(item) for item in node.expressions):
                raise UnresolvedError("a star stands beside USING")


def _holder(star: exp.Star) -> exp.Expr | None:
    """What a star stands in, its own column left aside."""
    return star.parent.parent if isinstance(star.parent, exp.Column) else star.parent


class _Qualifier:
    def __init__(self, nodes: list[exp.Expr], resolution: Resolution, schema: Schema, dialect: str) -> None:
        self._resolution = resolution
        self._schema = schema
        self._dialect = dialect
        self._rules = RULES[dialect]
        # All nodes stay referenced until the end: they are known by their identity.
        self._nodes = nodes
        self._outermost = next(_selects(nodes[0]))
        # Names of the result's columns stay, and some databases would read them before those of sources.
        self._fresh = _FreshNames({fold(item.alias_or_name) for item in self._outermost.expressions})
        self._names = {id(source): self._fresh.next("t") for source in resolution.nodes.values()}
        self._ctes = {
            id(node.this): self._fresh.next("w") for node in self._nodes if isinstance(node, exp.CTE)
        }
        self._derived = {
            id(select)
            for source in resolution.nodes.values()
            if source.query is not None
            for select in _selects(source.query)
        }
        self._items: dict[int, int] = {}
        """Expressions of select items by their identity: their positions, from 1."""
        self._repeated = 0

    def rewrite(self) -> None:
        """Rewrite the tree. Items first, as their names are told from the text as it was; references to them last."""
        for node in self._nodes:
            if isinstance(node, exp.Select):
                self._select(node)
        for node in self._nodes:
            if isinstance(node, exp.Column):
                self._column(node)
            elif isinstance(node, exp.Join):
                self._join(node)
        for node in self._nodes:
            if id(node) in self._resolution.nodes:
                self._source(node)
            elif isinstance(node, exp.CTE):
                node.set("alias", _alias(self._ctes[id(node.this)]))
        for node in self._nodes:
            if isinstance(node, exp.Column):
                self._reference(node)

    # ---------------------------------------------------------------- select lists

    def _select(self, select: exp.Select) -> None:
        sources = self._resolution.sources[id(select)]
        derived, outermost = id(select) in self._derived, select is self._outermost
        written: list[exp.Expr] = []
        for item in select.expressions:
            if is_star(item):
                found = [
                    (self._bound(source, position), self._stored(source, position))
                    for source in starred(item, sources, self._rules)
                    for position in range(len(source.columns))
                ]
            else:
                value = item.this if isinstance(item, exp.Alias) else item
                self._items[id(value)] = len(written) + 1
                found = [(value, self._label(item) if outermost else "")]
            for value, label in found:
                name = f"c{len(written) + 1}" if derived else label if outermost else ""
                written.append(exp.Alias(this=value, alias=_quoted(name)) if name else value)
        if not written:
            raise UnresolvedError("a SELECT selects nothing")
        select.set("expressions", written)

    def _label(self, item: exp.Expr) -> str:
        """What a column of the result is called; "" where that is left to the database."""
        if isinstance(item, exp.Alias):
            return self._spelled(item.args["alias"])
        if isinstance(item, exp.Column):
            source, position = self._resolution.columns[id(item)]
            return self._spelled(item.this) if source.table is None else self._stored(source, position)
        return str(item.sql(dialect=self._dialect, copy=False)) if self._dialect in _NAMES_BY_TEXT else ""

    def _spelled(self, name: exp.Identifier) -> str:
        return self._rules.key(name) if self._rules.exact else str(name.this)

    def _stored(self, source: Source, position: int) -> str:
        """The name of a source's column, as the schema writes it."""
        if source.table is None:
            return source.columns[position] or f"column{position + 1}"
        return self._schema.columns[self._schema.tables[source.table].columns[position]].name

    # ---------------------------------------------------------------- names

    def _bound(self, source: Source, position: int) -> exp.Column:
        name = f"c{position + 1}" if source.table is None else self._stored(source, position)
        return exp.Column(this=_quoted(name), table=_quoted(self._names[id(source)]))

    def _column(self, node: exp.Column) -> None:
        found = self._resolution.columns.get(id(node))
        if found is not None:
            bound = self._bound(*found)
            node.set("this", bound.this)
            node.set("table", bound.args["table"])

    def _source(self, node: exp.Expr) -> None:
        source = self._resolution.nodes[id(node)]
        name = self._names[id(source)]
        if isinstance(node, exp.Table):
            if source.table is None:
                node.set("this", _quoted(self._ctes[id(source.query)]))
            else:
                table = self._schema.tables[source.table]
                node.set("this", _quoted(table.name))
                namespace = table.namespace or _MAIN.get(self._dialect, "")
                node.set("db", _quoted(namespace) if namespace else None)
        node.set("alias", _alias(name))

    def _join(self, node: exp.Join) -> None:
        """USING becomes ON, which says whose columns are compared; a CROSS JOIN a comma where it would fix an order."""
        if self._dialect == "sqlite" and node.args.get("kind") == "CROSS" and node.args.get("on") is None:
            node.set("kind", None)
        using = node.args.get("using")
        if not using:
            return
        select = node.parent
        joins = (select.args.get("joins") or ()) if isinstance(select, exp.Select) else ()
        right = self._resolution.nodes.get(id(node.this))
        place = next((place for place, join in enumerate(joins) if join is node), None)
        if right is None or place is None or not isinstance(select, exp.Select):
            raise UnresolvedError("USING joins more than two sources")
        before = [select.args["from_"].this, *(join.this for join in joins[:place])]
        sources = [self._resolution.nodes.get(id(root)) for root in before]
        conditions: list[exp.Expr] = []
        for name in map(self._rules.key, using):
            left = [source for source in sources if source is not None and name in source.columns]
            if len(left) != 1 or name not in right.columns:
                raise UnresolvedError("a column of USING could belong to several sources")
            pair = [self._bound(source, source.columns.index(name)) for source in (left[0], right)]
            conditions.append(exp.EQ(this=pair[0], expression=pair[1]))
        node.set("using", None)
        node.set("on", exp.and_(*conditions, copy=False))

    # ---------------------------------------------------------------- references to the select list

    def _reference(self, node: exp.Column) -> None:
        position = self._resolution.positions.get(id(node))
        if position is not None:
            node.replace(exp.Literal.number(position + 1))
            return
        value = self._resolution.aliases.get(id(node))
        if value is None:
            return
        if _is_whole_key(node):
            node.replace(exp.Literal.number(self._items[id(value)]))
            return
        self._repeated += sum(1 for _ in value.walk())
        if self._repeated > MOST_REPEATED:
            raise UnresolvedError("aliases repeat too much")
        node.replace(exp.Paren(this=value.copy()))


class _FreshNames:
    """Names that no identifier of the query has."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._used = 0

    def next(self, letter: str) -> str:
        """The letter and a number."""
        while True:
            self._used += 1
            name = f"{letter}{self._used}"
            if name not in self._taken:
                return name


def _selects(query: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs whose rows are the rows of a query, from left to right."""
    stack = [query]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Select):
            yield node
        elif isinstance(node, exp.SetOperation):
            stack += [node.expression, node.this]
        else:
            stack.append(node.this)


def _is_whole_key(node: exp.Expr) -> bool:
    """Whether an expression is a key of its query's GROUP BY or ORDER BY, where a number means a position."""
    clause = node.parent
    if isinstance(clause, exp.Ordered):
        clause = clause.parent
    return isinstance(clause, exp.Group | exp.Order) and isinstance(
        clause.parent, exp.Select | exp.SetOperation
    )


def _quoted(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=_quoted(name))
