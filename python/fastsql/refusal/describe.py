"""A query in words, for people who read no SQL: "how many prescriptions where subject id of admissions is 10004733".

Written for reading, not for running: joins and subqueries along the schema's keys go without saying, and what would be too
long or has no phrase is not described at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.grammar.clauses import chain, grouping_of, joined, own
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.program import SMALL, ColumnRef, DerivedRef, Literal, Node, Program, TableRef
from fastsql.grammar.render.queries import SET_OPERATIONS, SORTS
from fastsql.grammar.tree import read_tree
from fastsql.refusal.phrases import PHRASES

if TYPE_CHECKING:
    from fastsql.schema import Schema

_LONGEST = 400
"""Characters of the longest description: a longer one helps nobody."""
_JOINS = ("join", "left_join", "cross_join")
_ANY = "any"
"""In place of select items: whether there is a row at all."""


class _UndescribedError(Exception):
    """A part of the query has no phrase."""


@dataclass(frozen=True)
class _Source:
    """An entry of FROM: what it is called, its table if it is one, and what its columns are called if it is a query."""

    name: str
    table: int | None = None
    outputs: tuple[str, ...] = ()


def describe(program: Program, schema: Schema, language: str) -> str | None:
    """What a program asks for, in words; None where a part of it has no phrase, or the whole is too long."""
    try:
        told = _Describer(schema, PHRASES[language]).query(read_tree(program, load_grammar()))
    except _UndescribedError:
        return None
    return told if len(told) <= _LONGEST else None


class _Describer:
    """One a query; the methods mirror the symbols of the grammar."""

    def __init__(self, schema: Schema, phrases: dict[str, str]) -> None:
        self._schema = schema
        self._phrases = phrases
        self._scopes: list[list[_Source]] = []
        self._outputs: tuple[str, ...] = ()
        """What the select items of the query that was told last are called."""
        keys = schema.foreign_keys
        pairs = (pair for key in keys for pair in zip(key.columns, key.references, strict=True))
        self._keys = {frozenset(pair) for pair in pairs}
        self._within = 0
        """How many subqueries along keys the phrase stands in: their columns are said with their tables."""

    def query(self, node: Node) -> str:
        """A query or set operation."""
        if node.name in SET_OPERATIONS:
            left = self._inner(_child(node, 0))
            outputs = self._outputs
            told = self._say(node.name, left, self._inner(_child(node, 1)))
            self._outputs = outputs
            return told
        within, self._within = self._within, 0
        self._scopes.append([])
        try:
            return self._bare(node) if node.name == "bare" else self._select(node)
        finally:
            self._scopes.pop()
            self._within = within

    def _inner(self, node: Node) -> str:
        return self._say("query", self.query(node))

    def _bare(self, node: Node) -> str:
        items = [self._value(_child(node, 0)), *(self._value(own(n, 1)) for n in chain(node.children[1]))]
        self._outputs = tuple(items)
        return self._phrases["comma"].join(items)

    def _select(self, node: Node) -> str:
        if len(node.children) < 3:
            raise _UndescribedError
        joins, where, body = node.children[-3:]
        if body is None:
            raise _UndescribedError
        source = self._from(node, list(joined(joins)))
        conditions = [self._value(own(n, 1)) for n in chain(where)]
        keys, clauses, items = grouping_of(body)
        groups = [self._value(key) for key in keys]
        having = [self._value(clause) for clause in clauses]
        told, outputs = self._items(items)
        told = self._say(*self._frame(told), source)
        for key_of, parts in (("where", conditions), ("group", groups), ("having", having)):
            if parts:
                parts_told = self._phrases["comma" if key_of == "group" else "and words"].join(parts)
                told = self._say(key_of, told, parts_told)
        told = self._tail(told, body.children[-1])
        self._outputs = outputs
        return told

    def _frame(self, items: str) -> tuple[str, ...]:
        """The phrase that select items stand in before what they are selected from."""
        if items == _ANY:
            return ("any of",)
        return ("count of",) if items == self._phrases["count_all"] else ("of", items)

    def _from(self, first: Node, joins: list[Node]) -> str:
        scope = self._scopes[-1]
        told = self._source(first)
        for join in joins:
            if join.name not in _JOINS:
                raise _UndescribedError
            name = self._source(_child(join, 0))
            clauses = [] if join.name == "cross_join" else self._ons(join)
            if clauses:
                told = self._say("joined on", told, name, self._phrases["and words"].join(clauses))
            else:
                told = self._say("join", told, name)
        if not scope:
            raise _UndescribedError
        return told

    def _source(self, node: Node) -> str:
        if isinstance(node.terminal, TableRef):
            source = _Source(self._schema.tables[node.terminal.table].label, node.terminal.table)
        else:
            told = self._inner(_child(node, 0))
            source = _Source(told, outputs=self._outputs)
        self._scopes[-1].append(source)
        return source.name

    def _ons(self, join: Node) -> list[str]:
        """What a join says beyond the schema's keys; its tables are in scope already."""
        pairs = [(_child(join, 1), _child(join, 2))]
        others = []
        for on in chain(join.children[3]):
            if on.name == "on_cond":
                others.append(self._value(_child(on, 0)))
            else:
                pairs.append((_child(on, 0), _child(on, 1)))
        unusual = [pair for pair in pairs if not self._is_key(*pair)]
        return [self._say("equal", *map(self._value, pair)) for pair in unusual] + others

    def _is_key(self, one: Node, other: Node) -> bool:
        if not (isinstance(one.terminal, ColumnRef) and isinstance(other.terminal, ColumnRef)):
            return False
        return frozenset((one.terminal.column, other.terminal.column)) in self._keys

    # ---------------------------------------------------------------- SELECT and what frames it

    def _items(self, node: Node) -> tuple[str, tuple[str, ...]]:
        """The select items as one text, and what each is called."""
        if node.name == "all_columns":
            sources = self._scopes[-1]
            tables = [self._schema.tables[s.table] for s in sources if s.table is not None]
            names = (self._schema.columns[column].label for table in tables for column in table.columns)
            return self._phrases["all_columns"], tuple(names)
        if not node.children and node.name == "distinct":
            raise _UndescribedError
        first = _child(node, 0) if node.name == "distinct" else own(node, 1)
        told = [self._value(n) for n in (first, *(own(n, 1) for n in chain(node.children[-1])))]
        joined = self._phrases["comma"].join(told)
        return self._say("distinct", joined) if node.name == "distinct" else joined, tuple(told)

    def _tail(self, told: str, node: Node | None) -> str:
        orders = []
        while node is not None and node.name in SORTS:
            orders.append(self._say(node.name, self._value(_child(node, 0))))
            node = node.children[1]
        if orders:
            told = self._say("order", told, self._phrases["comma"].join(orders))
        if node is None or node.name != "limit":
            return told
        count, offset = self._value(_child(node, 0)), _child(node, 1)
        if offset.name == "offset":
            return self._say("offset", told, self._value(_child(offset, 0)), count)
        return self._counted("limit", told, count)

    # ---------------------------------------------------------------- values and conditions

    def _value(self, node: Node) -> str:
        terminal, name = node.terminal, node.name
        if isinstance(terminal, ColumnRef):
            return self._column(terminal)
        if isinstance(terminal, DerivedRef):
            outputs = self._scopes[-1][terminal.source].outputs
            if terminal.item >= len(outputs):
                raise _UndescribedError
            return outputs[terminal.item]
        if isinstance(terminal, Literal):
            value = terminal.value
            return self._say("value", value) if isinstance(value, str) else str(value)
        if isinstance(terminal, TableRef):
            raise _UndescribedError
        if name in SMALL:
            return str(SMALL[name])
        if name in ("in_list", "not_in_list"):
            listed = [_child(node, 1), *(_child(n, 0) for n in chain(node.children[2]))]
            return self._say(
                name, self._value(_child(node, 0)), self._phrases["or words"].join(map(self._value, listed))
            )
        if name == "scalar":
            return self._inner(_child(node, 0))
        if name in ("in", "not_in", "eq"):
            along = self._along_key(_child(node, 0), _child(node, 1)) if name != "not_in" else None
            if along is not None:
                return along
        if name in ("in", "not_in", "not_exists"):
            return self._say(name, self._value(_child(node, 0)), self._inner(_child(node, 1)))
        if name == "test" and self._is_any(_child(node, 0)):
            return _ANY
        return self._counted(name, *(self._value(_child(node, place)) for place in range(len(node.children))))

    def _is_any(self, node: Node) -> bool:
        """Whether a condition says that there is a row: COUNT(*) > 0."""
        counts = node.name == "gt" and _child(node, 0).name == "count_all"
        return counts and self._value(_child(node, 1)) == "0"

    def _along_key(self, left: Node, right: Node) -> str | None:
        """What a subquery asks for whose only item the schema's keys join to `left`; None for another one."""
        inner = _child(right, 0) if right.name == "scalar" else right
        if not isinstance(inner.terminal, TableRef) or len(inner.children) < 3:
            return None
        joins, where, body = inner.children[-3:]
        plain = body is not None and isinstance(body.terminal, ColumnRef) and body.children[:1] == (None,)
        if joins is not None or where is None or body is None or not plain or not self._is_key(left, body):
            return None
        if body.children[-1] is not None and body.children[-1].name != "end":
            return None
        self._scopes.append([])
        self._within += 1
        try:
            self._source(Node(inner.terminal, ()))
            conditions = [self._value(own(n, 1)) for n in chain(where)]
        finally:
            self._within -= 1
            self._scopes.pop()
        return self._phrases["and words"].join(conditions)

    def _column(self, column: ColumnRef) -> str:
        """A column by its label, with its table's where more than one is in scope."""
        label = self._schema.columns[column.column].label
        scope = self._scopes[-1]
        if len(scope) < 2 and not self._within:
            return label
        return self._say("column", label, scope[column.source].name)

    def _counted(self, key: str, *parts: object) -> str:
        """A phrase that may be another one where its last part is a certain number."""
        counted = f"{key} {parts[-1]}" if parts else key
        return self._say(counted if counted in self._phrases else key, *parts)

    def _say(self, key: str, *parts: object) -> str:
        if key not in self._phrases:
            raise _UndescribedError
        return self._phrases[key].format(*parts)


def _child(node: Node, place: int) -> Node:
    found = node.children[place] if place < len(node.children) else None
    if found is None:
        raise _UndescribedError
    return found
