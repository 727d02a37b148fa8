"""Which clauses two queries differ in.

A query is taken apart into clauses, each a multiset of canonical forms gathered over all its SELECTs; what is nested in a
part (a subquery, an aggregate, a window) is left out of the part's form and compared on its own. So one wrong table in a
subquery is one difference, and not one at every level above it. The idea is that of Spider's component matching (Yu et al.,
EMNLP 2018, Evaluation Metrics), carried over to SQL of any nesting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from fastsql.evaluation.canonical import FormWriter, Reading, conjuncts

CLAUSES: Mapping[str, str] = {
    "sources": "tables in FROM",
    "joins": "which columns tables are joined on, and outer joins",
    "selection": "columns and expressions of SELECT, DISTINCT",
    "aggregation": "aggregate functions and their arguments",
    "filters": "conditions of WHERE and HAVING that do not concern time",
    "time filters": "conditions that concern time",
    "grouping": "GROUP BY",
    "order and limit": "ORDER BY, LIMIT, window functions",
    "nesting": "which subqueries stand where, and set operations",
    "values": "the clause is the same but for its values",
    "other": "the same parts, put together in another way",
}
"""What can differ, and what it means."""

_TIME_FUNCTIONS = frozenset({"datetime", "date", "time", "strftime", "julianday", "unixepoch"})
_TIME_NODES = (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.TimeToStr, exp.Date, exp.Datetime)
_TIME_VALUE = re.compile(r"\d{4}-\d\d(-\d\d.*)?")
_TIME_TYPE = re.compile("date|time", re.IGNORECASE)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_OPAQUE = (exp.Query, exp.Window, exp.AggFunc)

_Parts = Mapping[str, "Counter[str]"]


@dataclass(frozen=True)
class Clauses:
    """The parts of a query by clause; in `without_values`, literals are placeholders."""

    with_values: _Parts
    without_values: _Parts


def clauses_of(reading: Reading) -> Clauses:
    """Take a query apart.

    Raises:
        LimitError: its form is too large (`fastsql.evaluation.canonical`).
    """
    return Clauses(*(_Gatherer(reading, values).gather() for values in (True, False)))


def differences(gold: Clauses, predicted: Clauses) -> tuple[str, ...]:
    """The keys of `CLAUSES` in which two queries differ, in that order; "other" for queries of equal parts."""
    found = [name for name in gold.without_values if _differ(gold, predicted, name, values=False)]
    alike = [name for name in gold.with_values if name not in found]
    if any(_differ(gold, predicted, name, values=True) for name in alike):
        found.append("values")
    return tuple(found) or ("other",)


def _differ(gold: Clauses, predicted: Clauses, name: str, *, values: bool) -> bool:
    if values:
        return gold.with_values[name] != predicted.with_values[name]
    return gold.without_values[name] != predicted.without_values[name]


class _Gatherer:
    """Gathers the parts of one query."""

    def __init__(self, reading: Reading, values: bool) -> None:
        self._reading = reading
        self._writer = FormWriter(reading, values, _OPAQUE)
        # Functions are compared whole, so only queries are left out of them.
        self._function_writer = FormWriter(reading, values, (exp.Query,))
        self._limit_writer = FormWriter(reading, True, _OPAQUE)
        self._parts: dict[str, Counter[str]] = {
            name: Counter() for name in CLAUSES if name not in ("values", "other")
        }

    def gather(self) -> _Parts:
        query = self._reading.query
        for select in query.find_all(exp.Select):
            if id(select) in self._reading.resolution.sources:
                self._select(select)
        for operation in query.find_all(exp.SetOperation):
            self._ordering(operation, None)
        self._functions(query)
        self._parts["nesting"][_shape(query)] += 1
        return self._parts

    def _add(self, clause: str, part: str) -> None:
        self._parts[clause][part] += 1

    def _select(self, select: exp.Select) -> None:
        write = self._writer.part
        tables = self._reading.schema.tables
        for source in self._reading.resolution.sources[id(select)]:
            if source.table is not None:
                self._add("sources", tables[source.table].name.lower())
        items = " ".join(write(item, select) for item in select.expressions)
        self._add("selection", f"distinct {items}" if select.args.get("distinct") else items)
        for condition in _conditions(select):
            self._add(self._kind(condition), write(condition, select))
        for join in select.args.get("joins") or ():
            if join.side:
                self._add("joins", str(join.side).lower())
            for name in join.args.get("using") or ():
                self._add("joins", f"using {name.name.lower()}")
        group = select.args.get("group")
        for key in group.expressions if group is not None else ():
            self._add("grouping", write(key, select))
        self._ordering(select, select)

    def _ordering(self, query: exp.Query, scope: exp.Select | None) -> None:
        """Keys of ORDER BY in their order, LIMIT and OFFSET with their numbers."""
        parts = []
        for clause in ("order", "limit", "offset"):
            node = query.args.get(clause)
            if node is not None:
                writer = self._writer if clause == "order" else self._limit_writer
                keys = node.expressions if clause == "order" else [node.expression]
                form = " ".join(writer.of(key) if scope is None else writer.part(key, scope) for key in keys)
                parts.append(f"{clause} {form}")
        if parts:
            self._add("order and limit", ", ".join(parts))

    def _functions(self, query: exp.Query) -> None:
        """Each aggregate and window once, however often it stands there: ORDER BY may name it by its alias."""
        found: dict[str, set[str]] = {"aggregation": set(), "order and limit": set()}
        for node in query.find_all(exp.AggFunc, exp.Window):
            select = node.parent_select
            if not isinstance(select, exp.Select) or isinstance(node.parent, exp.Window):
                continue
            clause = "order and limit" if isinstance(node, exp.Window) else "aggregation"
            found[clause].add(self._function_writer.part(node, select))
        for clause, forms in found.items():
            self._parts[clause].update(forms)

    def _kind(self, condition: exp.Expr) -> str:
        """The clause that a condition counts for."""
        sides = (condition.this, condition.expression) if isinstance(condition, _COMPARISONS) else ()
        owners = [self._reading.resolution.columns.get(id(side)) for side in sides]
        bound = [owner[0] for owner in owners if owner is not None]
        if len(bound) == 2 and bound[0] is not bound[1]:
            return "joins"
        return "time filters" if any(map(self._concerns_time, _own_nodes(condition))) else "filters"

    def _concerns_time(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Anonymous):
            return str(node.this).lower() in _TIME_FUNCTIONS
        if isinstance(node, exp.Literal):
            return node.is_string and _TIME_VALUE.fullmatch(str(node.this)) is not None
        return isinstance(node, _TIME_NODES) or (isinstance(node, exp.Column) and self._is_time(node))

    def _is_time(self, node: exp.Expr) -> bool:
        """Whether a column is one of a time, also by way of derived tables."""
        while True:
            bound = self._reading.resolution.columns.get(id(node))
            if bound is None:
                return False
            source, position = bound
            if source.table is not None:
                schema = self._reading.schema
                column = schema.columns[schema.tables[source.table].columns[position]]
                return column.type == "time" or _TIME_TYPE.search(column.sql_type) is not None
            items = source.query.selects if source.query is not None else []
            if position >= len(items):
                return False
            node = items[position].unalias()


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """What AND joins in WHERE, HAVING and every ON."""
    joins = [join for join in select.args.get("joins") or () if isinstance(join, exp.Join)]
    clauses = [select.args.get("where"), select.args.get("having"), *(join.args.get("on") for join in joins)]
    for clause in clauses:
        if clause is not None:
            yield from conjuncts(clause.this if isinstance(clause, exp.Having) else clause)


def _own_nodes(node: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression without those of queries nested in it."""
    stack = [node]
    while stack:
        found = stack.pop()
        if not isinstance(found, exp.Query):
            yield found
            stack += found.iter_expressions()


def _shape(query: exp.Expr) -> str:
    """The tree of queries: each with the clauses its nested ones stand in, in the order of their text."""
    if isinstance(query, exp.SetOperation):
        sides = [_shape(query.this), _shape(query.expression)]
        kind = type(query).__name__.lower() + ("" if query.args.get("distinct") else " all")
        return f"({kind} {' '.join(sides if isinstance(query, exp.Except) else sorted(sides))})"
    if isinstance(query, exp.Subquery):
        return _shape(query.this)
    inner = [f"{clause}:{_shape(child)}" for clause, child in _nested(query)]
    return f"({' '.join(['select', *sorted(inner)])})"


def _nested(query: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """The queries directly inside a SELECT, with the names of the clauses they stand in."""
    for clause, value in query.args.items():
        stack = [
            item for item in (value if isinstance(value, list) else [value]) if isinstance(item, exp.Expr)
        ]
        while stack:
            node = stack.pop()
            if isinstance(node, exp.Query) and not isinstance(node.this, exp.Table):
                # Whether a condition stands in ON or WHERE, or a source after a comma or JOIN, makes no difference.
                yield {"joins": "from_", "on": "where"}.get(clause, clause), node
            else:
                stack += node.iter_expressions()
