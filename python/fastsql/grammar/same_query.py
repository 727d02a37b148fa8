"""Which programs are one query, said in another order: by a form that is equal where they are.

Inner joins have no order, nor have conditions that must all hold or of which one must, and a count of a key is one of rows.
What depends on rows is not looked at: two programs with different forms may still always agree.
"""

from __future__ import annotations

from collections.abc import Hashable

from fastsql.grammar.clauses import chain, child, joined, own
from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import ColumnRef, Node, Production, Program, TableRef
from fastsql.grammar.tree import read_tree
from fastsql.schema import Schema

_QUERY = 3
"""Children of a table that a query begins with: joins, WHERE and body."""
_JOINED = 3
"""Of a join, the first: its table and two columns; what follows but for the rest are further conditions."""
_OPERANDS = 2
_EITHER_WAY = ("and", "or")
_OTHER_SOURCES = ("derived", "previous")
"""What a query may begin with in place of a table; what it joins stays in its order."""
_ROWS = Production("count_all")


def form(program: Program, schema: Schema, grammar: Grammar) -> Hashable:
    """What is equal for two programs over a schema that are one query."""
    keys = frozenset(table.primary_key[0] for table in schema.tables if len(table.primary_key) == 1)
    return _form(read_tree(program, grammar), keys, ordered=True)


def _form(node: Node | None, keys: frozenset[int], *, ordered: bool) -> Hashable:
    """`ordered`: the query around the node may have a table twice, so that a column's place in FROM tells which is meant."""
    if node is None:
        return None
    terminal = node.terminal
    if isinstance(terminal, TableRef) and len(node.children) == _QUERY:
        joins, where, body = node.children
        source = _source(node, joins)
        if source is None:
            return terminal, tuple(_form(one, keys, ordered=True) for one in node.children)
        conditions = frozenset(_form(own(one, 1), keys, ordered=False) for one in chain(where))
        return source, conditions, _form(body, keys, ordered=False)
    children, ordered = node.children, ordered or node.name in _OTHER_SOURCES
    if not ordered and node.name == "count" and _is_key(children[0], keys):
        terminal, children = _ROWS, children[1:]
    parts = tuple(_form(one, keys, ordered=ordered) for one in children)
    if isinstance(terminal, ColumnRef) and not ordered:
        return terminal.column, parts
    return terminal, frozenset(parts) if node.name in _EITHER_WAY and len(parts) == _OPERANDS else parts


def _source(first: Node, joins: Node | None) -> Hashable:
    """The tables of FROM and the pairs of columns that they are joined on; None where their order may matter."""
    tables, pairs = [first.terminal], []
    for join in joined(joins):
        if join.name != "join" or any(join.children[_JOINED:-1]):
            return None
        table, *columns = (child(join, number).terminal for number in range(_JOINED))
        pairs.append(frozenset(one.column for one in columns if isinstance(one, ColumnRef)))
        if not isinstance(table, TableRef) or len(pairs[-1]) != len(columns):
            return None
        tables.append(table)
    return (frozenset(tables), frozenset(pairs)) if len(set(tables)) == len(tables) else None


def _is_key(node: Node | None, keys: frozenset[int]) -> bool:
    return node is not None and isinstance(node.terminal, ColumnRef) and node.terminal.column in keys
