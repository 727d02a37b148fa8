"""Reads a program back into the tree that the grammar makes of it."""

from __future__ import annotations

from fastsql.grammar.actions import CANDIDATE, COLUMN, POINTERS_OF, TABLE, TURN
from fastsql.grammar.compile import Alternative, Grammar
from fastsql.grammar.program import (
    ColumnRef,
    DerivedRef,
    Literal,
    Node,
    Production,
    Program,
    TableRef,
    Terminal,
    TurnRef,
)

_QUERIES = ("bare", "union", "union_all", "intersect", "except")
_KIND_OF: dict[type, int] = {
    TableRef: TABLE,
    ColumnRef: COLUMN,
    DerivedRef: COLUMN,  # which column of a subquery is not said: the terminal names it
    Literal: CANDIDATE,  # as a span of the question would, too
    TurnRef: TURN,
}
"""The kind of action whose pointers a terminal stands for."""


class ProgramError(ValueError):
    """A program that the grammar does not derive. `reason` says why, without any position or literal."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason}, terminal {position}")
        self.reason = reason


def alternative_for(grammar: Grammar, symbol: int, terminal: Terminal) -> Alternative | None:
    """The alternative of a symbol that begins with a terminal, or None."""
    if isinstance(terminal, Production):
        return grammar.by_production[symbol].get(grammar.production(terminal.name))
    known = grammar.by_pointer[symbol]
    for pointer in POINTERS_OF[_KIND_OF[type(terminal)]] if known else ():
        if pointer in known:
            return known[pointer]
    return None


def is_program(program: Program, grammar: Grammar) -> bool:
    """Whether the grammar derives it."""
    try:
        read_tree(program, grammar)
    except ProgramError:
        return False
    return True


def read_tree(program: Program, grammar: Grammar) -> Node:
    """The derivation tree of a complete program, by recursive descent. Raises ProgramError for what is not one."""
    position = 0

    def expand(symbol: int) -> Node | None:
        nonlocal position
        name = grammar.symbols[symbol]
        alternative = alternative_for(grammar, symbol, program[position]) if position < len(program) else None
        if alternative is None:
            if grammar.nullable[symbol]:
                return None
            found = _describe(program[position]) if position < len(program) else "the end"
            raise ProgramError(f"{found} in place of {name!r}", position)
        terminal = program[position]
        position += 1
        if isinstance(terminal, Literal):
            return Node(terminal, ())  # a span's two pointers are one literal here
        return Node(terminal, tuple(expand(child) for child in alternative.children if child >= 0))

    root = expand(0)
    if root is None or position != len(program):
        found = _describe(program[position]) if position < len(program) else "nothing"
        raise ProgramError(f"{found} after the end", position)
    return root


def inner_queries(tree: Node) -> tuple[Node, ...]:
    """The queries inside a query, the sides of a set operation among them, each before those inside it."""
    found: list[Node] = []
    left = [child for child in reversed(tree.children) if child is not None]
    while left:
        node = left.pop()
        if _is_query(node):
            found.append(node)
        left += [child for child in reversed(node.children) if child is not None]
    return tuple(found)


def filtered_queries(tree: Node) -> tuple[Node, ...]:
    """The query and those inside it that have a FROM: their last children are its joins, WHERE and the body."""
    return tuple(node for node in (tree, *inner_queries(tree)) if node.name in ("", "derived"))


def _is_query(node: Node) -> bool:
    """A source of FROM is written as a query's beginning is, but has none of its clauses."""
    if isinstance(node.terminal, TableRef):
        return len(node.children) > 2  # a hop of a way has two columns
    return node.name in _QUERIES or (node.name == "derived" and len(node.children) > 1)


def _describe(terminal: Terminal) -> str:
    return terminal.name if isinstance(terminal, Production) else type(terminal).__name__
