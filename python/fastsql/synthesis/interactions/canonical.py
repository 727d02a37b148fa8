"""One form of programs that mean the same, to compare what was taken apart, or said by references, with what it was."""

from __future__ import annotations

from fastsql.grammar.clauses import chain, child, own, some
from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import program_of, say_groups
from fastsql.grammar.program import DerivedRef, Node, Program, TableRef
from fastsql.grammar.tree import read_tree
from fastsql.synthesis.interactions.selects import END, as_read, is_select, item_nodes

_OF_TABLE = 3
"""Joins, WHERE and body of a query from a table; hops of ways along keys have two columns."""


def canonical(program: Program, grammar: Grammar) -> Program:
    """A query with its conditions in one order, groups said, and without queries for all columns of another query."""
    return program_of(canonical_tree(read_tree(say_groups(as_read(program), grammar), grammar)))


def canonical_tree(node: Node) -> Node:
    """The same of a derivation tree, whose groups are said already."""
    children = tuple(None if one is None else canonical_tree(one) for one in node.children)
    tree = Node(node.terminal, children)
    if not _is_query(node):
        return tree
    if node.name == "derived" and _passes_on(tree):
        return child(tree, 0)
    *first, joins, where, body = children
    ordered = sorted((own(one, 1) for one in chain(where)), key=lambda one: repr(program_of(one)))
    linked: Node | None = None
    for one in reversed(ordered):
        linked = Node(one.terminal, (*one.children, linked))
    return Node(node.terminal, (*first, joins, linked, body))


def _is_query(node: Node) -> bool:
    """Whether a node opens a query with a FROM, and is no source of one."""
    if isinstance(node.terminal, TableRef):
        return len(node.children) == _OF_TABLE
    return node.name in ("derived", "previous") and len(node.children) == _OF_TABLE + 1


def _passes_on(query: Node) -> bool:
    """Whether a query over a derived table returns just what that does."""
    inner, joins, where, body = query.children
    if joins is not None or where is not None or some(body).name in ("group", "gather"):
        return False
    items, distinct = item_nodes(query)
    if distinct or program_of(child(some(body), -1)) != END or not is_select(some(inner)):
        return False
    whole = [DerivedRef(0, n) for n in range(len(item_nodes(some(inner))[0]))]
    return item_nodes(some(inner))[0][0].name != "all_columns" and [one.terminal for one in items] == whole
