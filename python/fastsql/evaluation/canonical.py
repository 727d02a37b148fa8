"""Canonical forms of queries, for exact match with and without values.

Two queries have one form if they differ only in what cannot change their meaning: letter case, aliases, the order of AND,
OR, = and of inner joins, which of ON and WHERE holds a condition, redundant parentheses, ASC, qualification. That is
weaker than equivalence: two queries of different forms may well mean the same. A number is compared by its value, whether it
stands in quotes or not, and ``current_time`` is taken for SQLite's ``'now'``, as the EHRSQL sets write it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from fastsql.errors import LimitError, VerificationError
from fastsql.schema import Schema
from fastsql.verification.naming import RULES
from fastsql.verification.resolve import Resolution, Source, UnresolvedError, is_star, resolve, starred
from fastsql.verification.verify import parse_query

_CALENDAR = re.compile(
    r"(%[a-z][-/:. T]?)+|start of \w+|[+-]?\d+(\.\d+)? (year|month|day|hour|minute|second)s?|weekday \d|now|localtime|utc",
    re.IGNORECASE,
)
FORM_NODES = 20_000
"""Nodes that a form may have. Written by hand, queries have a few hundred; but an alias stands for the whole expression it
names, so an ordering by alias inside an ordering by alias doubles the form at every level."""

_MIRRORED = {exp.GT: "LT", exp.GTE: "LTE"}
_SYMMETRIC = (exp.EQ, exp.NEQ, exp.Mul)


@dataclass(frozen=True)
class CanonicalForm:
    """A query's form. In `without_values` every literal is one placeholder; strftime formats and the units of calendar
    modifiers stay there, since they are part of how a query is built.
    """

    with_values: str
    without_values: str


@dataclass(frozen=True)
class Reading:
    """A parsed query, and which source each of its names belongs to."""

    query: exp.Query
    resolution: Resolution
    schema: Schema


def read_query(sql: str, schema: Schema) -> Reading | None:
    """Parse a query and resolve its names, or None if it does not parse or does not fit the schema.

    Raises:
        LimitError: it nests deeper than Python's stack.
    """
    try:
        query = parse_query(sql)
        return Reading(query, resolve(query, schema, quoted_strings=True), schema)
    except (VerificationError, UnresolvedError):
        return None
    except RecursionError as error:
        raise _too_deep() from error


def form_of(reading: Reading) -> CanonicalForm:
    """The canonical form of a query.

    Raises:
        LimitError: the form has more than `FORM_NODES` nodes, or nests deeper than Python's stack.
    """
    return CanonicalForm(*(FormWriter(reading, values).of(reading.query) for values in (True, False)))


def canonical_form(sql: str, schema: Schema) -> CanonicalForm | None:
    """The canonical form of a query, or None if it does not parse or does not fit the schema.

    Raises:
        LimitError: the form would be too large or too deep.
    """
    reading = read_query(sql, schema)
    return None if reading is None else form_of(reading)


class FormWriter:
    """Renders an AST as an S-expression, in which commutative parts are sorted by their own rendering.

    Nodes of the classes `opaque` are rendered as the name of the class alone: so a clause can be compared without what
    is nested in it.
    """

    def __init__(self, reading: Reading, values: bool, opaque: tuple[type[exp.Expr], ...] = ()) -> None:
        self._resolution = reading.resolution
        self._values = values
        self._opaque = opaque
        self._names: dict[int, str] = {}
        self._scopes: list[tuple[Source, ...]] = []
        self._left = FORM_NODES
        for sources in self._resolution.sources.values():
            self._name_sources(sources, reading.schema)

    def _name_sources(self, sources: tuple[Source, ...], schema: Schema) -> None:
        """Call a table by its name and derived tables by nothing; a number tells apart several of one name."""
        seen: dict[str, int] = {}
        for source in sources:
            name = "derived" if source.table is None else schema.table_name(source.table).lower()
            seen[name] = seen.get(name, 0) + 1
            self._names[id(source)] = name if seen[name] == 1 else f"{name}#{seen[name]}"

    def of(self, node: exp.Expr) -> str:
        """The form of any node.

        Raises:
            LimitError: this writer has rendered more than `FORM_NODES` nodes, or the node is too deep.
        """
        try:
            return self._of(node)
        except RecursionError as error:
            raise _too_deep() from error

    def part(self, node: exp.Expr, select: exp.Select) -> str:
        """The form of a part of `select`, read in the scope of that SELECT; raises as :meth:`of` does."""
        self._scopes.append(self._resolution.sources[id(select)])
        try:
            return self._item(node) if is_star(node) else self.of(node)
        finally:
            self._scopes.pop()

    def _of(self, node: exp.Expr) -> str:
        self._left -= 1
        if self._left < 0:
            raise LimitError(
                f"the canonical form has more than {FORM_NODES:,} nodes",
                where="SQL",
                remedy="Such a query can be compared by its results only.",
            )
        if isinstance(node, exp.Paren | exp.Subquery) and not _extra_clauses(node):
            return self._of(node.this)
        if isinstance(node, self._opaque):
            return next(kind.__name__ for kind in self._opaque if isinstance(node, kind))
        if node.args.get("negate"):
            return f"(Not this={self._of(_affirmed(node))})"
        if isinstance(node, exp.Alias):
            return self._of(node.this)
        if isinstance(node, exp.Mul) and (multiplied := _once(node)) is not None:
            return self._of(multiplied)
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Literal):
            return self._literal(node)
        if isinstance(node, exp.CurrentTime | exp.CurrentTimestamp):
            # The EHRSQL sets write current_time for what SQLite calls 'now'.
            return "'now'"
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not self._values:
            return "?"
        if isinstance(node, exp.Select):
            return self._select(node)
        if isinstance(node, exp.And | exp.Or):
            parts = sorted({self._of(part) for part in node.flatten()})
            return f"({type(node).__name__} {' '.join(parts)})"
        if isinstance(node, exp.GT | exp.GTE):
            return f"({_MIRRORED[type(node)]} {self._of(node.expression)} {self._of(node.this)})"
        if isinstance(node, exp.LT | exp.LTE):
            return f"({type(node).__name__} {self._of(node.this)} {self._of(node.expression)})"
        if isinstance(node, _SYMMETRIC):
            return f"({type(node).__name__} {' '.join(sorted((self._of(node.this), self._of(node.expression))))})"
        if isinstance(node, exp.Ordered):
            return f"({'desc' if node.args.get('desc') else 'asc'} {self._of(node.this)})"
        if isinstance(node, exp.Union | exp.Intersect):
            sides = [self._of(node.this), self._of(node.expression)]
            return self._clause(node, ("this", "expression"), sorted(sides))
        return self._clause(node, (), [])

    def _clause(self, node: exp.Expr, done: tuple[str, ...], parts: list[str]) -> str:
        """Class name and arguments, those of `done` being rendered as `parts` already."""
        for key, value in node.args.items():
            if key in done:
                # Rendered a second time at every level, nested queries would cost twice as much with each.
                continue
            values = value if isinstance(value, list) else [value]
            rendered = [
                self._of(item) if isinstance(item, exp.Expr) else str(item).lower()
                for item in values
                if item is not None and item is not False
            ]
            if rendered:
                parts.append(f"{key}={' '.join(rendered)}")
        return f"({type(node).__name__} {' '.join(parts)})"

    def _column(self, node: exp.Column) -> str:
        bound = self._resolution.columns.get(id(node))
        if bound is not None:
            source, position = bound
            return f"{'^' * self._distance(source)}{self._bound(source, position)}"
        alias = self._resolution.aliases.get(id(node))
        if alias is not None:
            return self._of(alias)
        if id(node) in self._resolution.strings:
            return self._literal(exp.Literal.string(node.name))
        return f"{node.table.lower()}.{node.name.lower()}" if node.table else node.name.lower()

    def _bound(self, source: Source, position: int) -> str:
        item = source.columns[position] if source.table is not None else str(position)
        return f"{self._names[id(source)]}.{item}"

    def _distance(self, source: Source) -> int:
        """How many scopes further out the source of a correlated column stands."""
        for distance, scope in enumerate(reversed(self._scopes)):
            if any(source is other for other in scope):
                return distance
        return len(self._scopes)

    def _literal(self, node: exp.Literal) -> str:
        text = str(node.this)
        if node.is_string and _CALENDAR.fullmatch(text):
            return (
                repr(text.lower() if text[:1] != "%" else text)
                if self._values
                else repr(re.sub(r"\d+", "?", text))
            )
        if not self._values:
            return "?"
        try:
            # '7' and 7 are one value: which of the two stands there is a matter of the column's class.
            return repr(float(text))
        except ValueError:
            return repr(text)

    def _select(self, node: exp.Select) -> str:
        self._scopes.append(self._resolution.sources[id(node)])
        try:
            return self._select_in_scope(node)
        finally:
            self._scopes.pop()

    def _item(self, item: exp.Expr) -> str:
        """The form of an item of the select list; a star is the columns that it stands for."""
        stars = starred(item, self._scopes[-1], RULES["sqlite"])
        if not stars:
            return self._of(item)
        found = ((source, position) for source in stars for position in range(len(source.columns)))
        return " ".join(self._bound(source, position) for source, position in found)

    def _select_in_scope(self, node: exp.Select) -> str:
        joins = [join for join in node.args.get("joins") or () if isinstance(join, exp.Join)]
        conditions = [part for part in [node.args.get("where")] if part is not None]
        parts = [f"select={' '.join(self._item(item) for item in node.expressions)}"]
        done = ["expressions", "where"]
        if all(
            not join.side and join.kind in ("", "INNER", "CROSS") and not join.args.get("using")
            for join in joins
        ):
            parts.append(f"from={' '.join(sorted(map(self._source, self._resolution.sources[id(node)])))}")
            conditions += [join.args["on"] for join in joins if join.args.get("on") is not None]
            done += ["from_", "joins"]
        flat = [part for condition in conditions for part in conjuncts(condition)]
        if flat:
            parts.append(f"where={' '.join(sorted({self._of(part) for part in flat}))}")
        return self._clause(node, tuple(done), parts)

    def _source(self, source: Source) -> str:
        name = self._names[id(source)]
        return name if source.query is None else f"{name}:{self._of(source.query)}"


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """What AND joins in a condition, in the order written; nothing for TRUE."""
    node = node.this if isinstance(node, exp.Where) else node
    node = node.unnest()
    if isinstance(node, exp.And):
        return [part for side in node.flatten() for part in conjuncts(side)]
    return [] if isinstance(node, exp.Boolean) and node.this else [node]


def _extra_clauses(node: exp.Expr) -> bool:
    """Whether parentheses carry more than themselves and an alias, such as an ORDER BY of their own."""
    return any(value for key, value in node.args.items() if key not in ("this", "alias"))


def _once(node: exp.Mul) -> exp.Expr | None:
    """What is multiplied by 1, if that is arithmetic: of a text column the product would be a number."""
    for one, other in ((node.this, node.expression), (node.expression, node.this)):
        if isinstance(one, exp.Literal) and not one.is_string and one.this == "1":
            arithmetic: exp.Expr = other.unnest()
            return arithmetic if isinstance(arithmetic, exp.Add | exp.Sub | exp.Mul) else None
    return None


def _affirmed(node: exp.Expr) -> exp.Expr:
    """A condition without its own NOT; its parts are the very nodes that names were resolved on."""
    affirmed = type(node)()
    affirmed.args = {key: value for key, value in node.args.items() if key != "negate"}
    return affirmed


def _too_deep() -> LimitError:
    return LimitError(
        "the query is nested too deeply for a canonical form",
        where="SQL",
        remedy="Such a query can be compared by its results only.",
    )
