"""Reads a program back into the tree that the grammar makes of it."""

from __future__ import annotations

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
)

_COLUMN = ("column", "time", "earlier", "newest")
_POINTERS: dict[type, tuple[str, ...]] = {
    TableRef: ("table",),
    ColumnRef: _COLUMN,
    DerivedRef: _COLUMN,
    Literal: ("value", "number", "date", "text", "pattern"),
}


class ProgramError(ValueError):
    """A program that the grammar does not derive. `reason` says why, without any position or literal."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason}, terminal {position}")
        self.reason = reason


def alternative_for(grammar: Grammar, symbol: int, terminal: Terminal) -> Alternative | None:
    """The alternative of a symbol that begins with a terminal, or None."""
    if isinstance(terminal, Production):
        return grammar.by_production[symbol].get(grammar.production(terminal.name))
    table = grammar.by_pointer[symbol]
    return next((table[pointer] for pointer in _POINTERS[type(terminal)] if pointer in table), None)


def read_tree(program: Program, grammar: Grammar) -> Node:
    """The derivation tree of a complete program, by recursive descent. Raises ProgramError where it is none."""
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


def _describe(terminal: Terminal) -> str:
    return terminal.name if isinstance(terminal, Production) else type(terminal).__name__
