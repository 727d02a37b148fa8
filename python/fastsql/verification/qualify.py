"""What was resolved, said without ambiguity: the tree of a query is rewritten so that it cannot mean anything else.

A verified text may still mean more to the database than to us: its tables have columns that our schema does not know, its
names fold otherwise, an alias may be read as a column or a column as a whole row. So what runs is not that text. Here
every source gets a name of its own, every column says its source, ``*`` becomes the columns of the schema, references to the
select list become positions or what they stand for, and every name is quoted. What the database could add has no name in it.

Where a dialect may read ``t.x`` as more than a column (`_PROJECTS`), a table is written as a subquery of the columns that
are named: planners see through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.names import fold
from fastsql.verification.naming import RULES
from fastsql.verification.resolve import (
    Resolution,
    Shown,
    Source,
    UnresolvedError,
    is_star,
    shown,
    starred,
)

MOST_REPEATED = 4_000
"""Nodes that references to the select list may repeat, all together."""
_MAIN = {"sqlite": "main"}
"""By dialect, what the default namespace is called, whatever the schema says of it."""
_PROJECTS = frozenset(("postgres", "duckdb"))
"""Dialects in which a column's name after that of its table may also mean a field, or a function of the whole row."""
_NAMES_BY_TEXT = frozenset(("sqlite", "duckdb"))
"""Dialects that name a column of the result after the text of its item. The text is rewritten, the name is to stay."""


def qualify(
    nodes: list[exp.Expr],
    resolution: Resolution,
    schema: Schema,
    *,
    dialect: str,
    items: Sequence[str] = (),
) -> None:
    """Rewrite a query in place; `nodes` are all of its tree, itself first, `resolution` is that of the same tree.

    `items` are those of the outermost select list as they were written: SQLite names columns after them.
    The query has passed :func:`check_meaning`.

    Raises:
        UnresolvedError: a column of USING is ambiguous, or aliases are repeated too often.
    """
    _Qualifier(nodes, resolution, schema, dialect, items).rewrite()


def check_meaning(nodes: list[exp.Expr], resolution: Resolution) -> None:
    """Return if all of a resolved query, given by its nodes, can be said without the database's own reading of names.

    Raises:
        UnresolvedError: a name was not resolved, a star stands for a whole row or beside USING, columns of a table are
            renamed, or a set operation is sorted by more than its columns.
    """
    for node in nodes:
        kind = type(node)
        if kind is exp.Column:
            _check_column(node, resolution)
        elif kind is exp.Star:
            if not isinstance(_holder(node), (exp.Select, exp.Count)):
                raise UnresolvedError("a star stands where a column should")
        elif kind is exp.Table:
            source, alias = resolution.nodes.get(id(node)), node.args.get("alias")
            if source is None:
                raise UnresolvedError("a table stands where none is expected")
            if source.query is None and alias is not None and alias.args.get("columns"):
                raise UnresolvedError("columns of a table are renamed")
        elif kind is exp.Select:
            if id(node) not in resolution.sources:
                raise UnresolvedError("a query stands where none is expected")
            using = any(join.args.get("using") for join in node.args.get("joins") or ())
            if using and any(is_star(item) for item in node.expressions):
                raise UnresolvedError("a star stands beside USING")


def _check_column(node: exp.Expr, resolution: Resolution) -> None:
    key = id(node)
    if key in resolution.columns or key in resolution.aliases:
        return
    if isinstance(node.this, exp.Star):
        if not isinstance(node.parent, exp.Select):
            raise UnresolvedError("a star stands for a whole row")
    elif key not in resolution.positions:
        raise UnresolvedError("a column stands where none is expected")
    elif not is_whole_key(node):
        raise UnresolvedError("a sort key of a set operation is not one of its columns")


def _holder(star: exp.Expr) -> exp.Expr | None:
    """What a star stands in, its own column left aside."""
    return star.parent.parent if isinstance(star.parent, exp.Column) else star.parent


class _Qualifier:
    def __init__(
        self,
        nodes: list[exp.Expr],
        resolution: Resolution,
        schema: Schema,
        dialect: str,
        items: Sequence[str],
    ) -> None:
        self._resolution = resolution
        self._schema = schema
        self._dialect = dialect
        self._rules = RULES[dialect]
        # All nodes stay referenced until the end: they are known by their identity.
        self._nodes = nodes
        self._outermost = next(_selects(nodes[0]))
        expressions = self._outermost.expressions
        known = len(items) == len(expressions)
        self._texts = {id(e): text for e, text in zip(expressions, items, strict=True)} if known else {}
        self._fresh = _FreshNames(self._kept_names())
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
        self._used: dict[int, dict[str, None]] = {id(source): {} for source in resolution.nodes.values()}
        """The columns of each source that the query names, in their order."""
        self._items: dict[int, tuple[exp.Select, int]] = {}
        """Expressions of select items by their identity: their query, and their position from 1."""
        self._replacements: dict[int, exp.Expr] = {}
        """What references to the select list became."""
        self._repeated = 0
        self._shown: dict[int, list[Shown]] = {}
        """What SELECTs show, as it was before they are rewritten."""

    def rewrite(self) -> None:
        """Rewrite the tree. Items first, as their names are told from the text as it was; references to them last."""
        for node in self._nodes:
            if isinstance(node, exp.Select):
                self._select(node)
        for node in self._nodes:
            if isinstance(node, exp.Column) and id(node) in self._resolution.columns:
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

    def _kept_names(self) -> set[str]:
        """Names that stay in the text, folded: some databases would read them before those of sources."""
        kept = {fold(item.alias_or_name) for item in self._outermost.expressions}
        for source in self._resolution.nodes.values():
            if source.table is not None:
                kept.add(fold(self._schema.tables[source.table].name))
                kept.update(map(fold, source.columns))
        return kept

    # ---------------------------------------------------------------- select lists

    def _select(self, select: exp.Select) -> None:
        sources = self._resolution.sources[id(select)]
        derived, outermost = id(select) in self._derived, select is self._outermost
        written: list[exp.Expr] = []
        for item in select.expressions:
            if is_star(item):
                found = [
                    (self._bound(source, position), self._spelling(source, position) if outermost else "")
                    for source in starred(item, sources, self._rules)
                    for position in range(len(source.columns))
                ]
            else:
                value = item.this if isinstance(item, exp.Alias) else item
                self._items[id(value)] = (select, len(written) + 1)
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
        value = item.unnest()
        if isinstance(value, exp.Column):
            return self._spelling(*self._resolution.columns[id(value)])
        if self._dialect in _NAMES_BY_TEXT:
            return self._texts.get(id(item)) or str(item.sql(dialect=self._dialect, copy=False))
        # PostgreSQL names some expressions after a column in them, which has another name in a derived table here.
        if isinstance(value, exp.Query):
            first = next(_selects(value)).expressions[0]
            return "" if is_star(first) else self._label(first)
        if isinstance(value, exp.Cast | exp.Bracket):
            return self._label(value.this)
        default = value.args.get("default") if isinstance(value, exp.Case) else None
        return "" if default is None else self._label(default)

    def _spelling(self, source: Source, position: int) -> str:
        """The name of a source's column as it was written where it was made."""
        if source.query is None:
            return self._stored(source, position)
        named = source.query if isinstance(source.query, exp.Subquery) else source.query.parent
        alias = named.args.get("alias") if named is not None else None
        listed = alias.args.get("columns") or () if alias is not None else ()
        if position < len(listed):
            return self._spelled(listed[position])
        select = next(_selects(source.query))
        if id(select) not in self._shown:
            self._shown[id(select)] = shown(select, self._resolution.sources[id(select)], self._rules)
        columns = self._shown[id(select)]
        if position >= len(columns):
            return "column"
        column = columns[position]
        return self._spelling(*column) if isinstance(column, tuple) else self._label(column) or "column"

    def _spelled(self, name: exp.Identifier) -> str:
        return self._rules.key(name) if self._rules.exact else str(name.this)

    def _stored(self, source: Source, position: int) -> str:
        """The name of a source's column: the schema's, or that which a derived table gets here."""
        if source.table is None:
            return f"c{position + 1}"
        return self._schema.columns[self._schema.tables[source.table].columns[position]].name

    # ---------------------------------------------------------------- names

    def _bound(self, source: Source, position: int) -> exp.Column:
        name = self._stored(source, position)
        self._used[id(source)][name] = None
        return exp.Column(this=_quoted(name), table=_quoted(self._names[id(source)]))

    def _column(self, node: exp.Column) -> None:
        bound = self._bound(*self._resolution.columns[id(node)])
        node.set("this", bound.this)
        node.set("table", bound.args["table"])

    def _source(self, node: exp.Expr) -> None:
        source = self._resolution.nodes[id(node)]
        name = self._names[id(source)]
        if isinstance(node, exp.Table) and source.table is not None:
            self._base_table(node, source, source.table, name)
            return
        if isinstance(node, exp.Table):
            node.set("this", _quoted(self._ctes[id(source.query)]))
        node.set("alias", _alias(name))

    def _base_table(self, node: exp.Table, source: Source, index: int, name: str) -> None:
        """A table of the schema; where `_PROJECTS`, a subquery of the columns that are named.

        In there a name without a table before it is a column of that table, or an error: neither a field of another
        column nor a function of the row.
        """
        table = self._schema.tables[index]
        namespace = self._schema.namespace_in_sql(index) or _MAIN.get(self._dialect, table.namespace)
        node.set("this", _quoted(table.name))
        node.set("db", _quoted(namespace) if namespace else None)
        if self._dialect not in _PROJECTS:
            node.set("alias", _alias(name))
            return
        columns: list[exp.Expr] = [exp.Column(this=_quoted(column)) for column in self._used[id(source)]]
        projection = exp.Select(expressions=columns or [exp.Literal.number(1)])
        subquery = exp.Subquery(this=projection, alias=_alias(name))
        node.replace(subquery)
        node.set("alias", _alias(self._fresh.next("b")))
        projection.set("from_", exp.From(this=node))

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
            left = [source for source in sources if source is not None and name in source.places]
            if len(left) != 1 or name not in right.places:
                raise UnresolvedError("a column of USING could belong to several sources")
            pair = [self._bound(source, source.places[name]) for source in (left[0], right)]
            conditions.append(exp.EQ(this=pair[0], expression=pair[1]))
        node.set("using", None)
        node.set("on", exp.and_(*conditions, copy=False))

    # ---------------------------------------------------------------- references to the select list

    def _reference(self, node: exp.Column) -> None:
        if id(node) in self._replacements:
            return
        position = self._resolution.positions.get(id(node))
        if position is not None:
            self._replace(node, exp.Literal.number(position + 1))
            return
        value = self._resolution.aliases.get(id(node))
        if value is None:
            return
        select, place = self._items[id(value)]
        if is_whole_key(node) and _query_of_key(node) is select:
            self._replace(node, exp.Literal.number(place))
            return
        copied = self._finished(value).copy()
        if copied.find(exp.Column, exp.Query) is None and _is_in_key(node):
            raise UnresolvedError("a key is a constant, which would be read as a position")
        self._repeated += sum(1 for _ in copied.walk())
        if self._repeated > MOST_REPEATED:
            raise UnresolvedError("aliases are repeated too often")
        self._replace(node, exp.Paren(this=copied))

    def _finished(self, value: exp.Expr) -> exp.Expr:
        """An expression of a select list after all references within it have been replaced."""
        for node in list(value.walk()):
            if isinstance(node, exp.Column):
                self._reference(node)
        return self._replacements.get(id(value), value)

    def _replace(self, node: exp.Expr, replacement: exp.Expr) -> None:
        self._replacements[id(node)] = replacement
        node.replace(replacement)


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


def is_whole_key(node: exp.Expr) -> bool:
    """Whether an expression is a key of its query's GROUP BY or ORDER BY, where a number means a position."""
    clause = node.parent
    if isinstance(clause, exp.Ordered):
        clause = clause.parent
    return isinstance(clause, exp.Group | exp.Order) and isinstance(
        clause.parent, exp.Select | exp.SetOperation
    )


def _query_of_key(node: exp.Expr) -> exp.Expr | None:
    """The query whose key an expression is."""
    clause = node.parent.parent if isinstance(node.parent, exp.Ordered) else node.parent
    return None if clause is None else clause.parent


def _is_in_key(node: exp.Expr) -> bool:
    while node.parent is not None and not isinstance(node, exp.Query):
        if is_whole_key(node):
            return True
        node = node.parent
    return False


def _quoted(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=_quoted(name))
