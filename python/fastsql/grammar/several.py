"""A comparison with what a query returns, where that may be several rows.

`code = (SELECT code FROM titles WHERE title LIKE '%pneumonia%')` compares with whichever row comes first: a database takes
one, and nobody asked for that one. What is meant is `code IN (...)`. Where one title has one row, both say the same, so that
a model that learnt `=` there says it of patterns, too.
"""

from __future__ import annotations

from fastsql.grammar.clauses import chain, child
from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import program_of
from fastsql.grammar.program import ColumnRef, Node, Production, Program
from fastsql.grammar.tree import read_tree

_PATTERNS = frozenset(map(Production, ("contains", "ends")))
_EQUAL, _ONE_VALUE, _IN, _END = map(Production, ("eq", "scalar", "in", "end"))


def among_several(program: Program, grammar: Grammar) -> Program:
    """The program with IN for `=` wherever a query compares with a column of the rows that match a pattern.

    Queries that aggregate, or take one of the rows by order and limit, stay as they are.
    """
    if _ONE_VALUE not in program or _PATTERNS.isdisjoint(program):
        return program
    return program_of(_changed(read_tree(program, grammar)))


def _changed(node: Node) -> Node:
    children = tuple(None if one is None else _changed(one) for one in node.children)
    if node.terminal == _EQUAL and child(node, 1).terminal == _ONE_VALUE:
        operand, value, *rest = children
        assert value is not None
        query = child(value, 0)
        if _may_return_several(query):
            return Node(_IN, (operand, query, *rest))
    return Node(node.terminal, children)


def _may_return_several(query: Node) -> bool:
    """Whether it selects a plain column of the rows of one table that match a pattern."""
    if len(query.children) != 3 or not isinstance(child(query, 2).terminal, ColumnRef):
        return False
    whole = child(child(query, 2), -1).terminal == _END
    return whole and any(one.terminal in _PATTERNS for one in chain(query.children[1]))
