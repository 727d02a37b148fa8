"""Puts literals that were read from the question into the form that the column's values have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema

COMPARING = frozenset(
    {"eq", "ne", "lt", "le", "gt", "ge", "in_list", "not_in_list", "between", "not_between"}
)
"""Productions whose first operand, if it is a column, is what the literals that follow are compared with."""


def compared_columns(program: Program) -> tuple[int | None, ...]:
    """For each terminal of a program: the schema column that a literal there is compared with, or None."""
    columns: list[int | None] = []
    current: int | None = None
    for before, terminal in zip((None, *program), program, strict=False):
        if isinstance(terminal, ColumnRef) and isinstance(before, Production) and before.name in COMPARING:
            current = terminal.column
        elif not isinstance(terminal, Literal) and terminal != Production("also"):
            current = None
        columns.append(current if isinstance(terminal, Literal) else None)
    return tuple(columns)


def canonical_literals(program: Program, schema: Schema, dictionary: ValueDictionary | None) -> Program:
    """The program with each free span in the letter case of the column's value that equals it but for case.

    Where neither the schema nor the dictionary has such a value, the span stays as the question has it.
    """
    written: list[Terminal] = []
    for terminal, column in zip(program, compared_columns(program), strict=True):
        if isinstance(terminal, Literal) and terminal.provenance == "span" and column is not None:
            terminal = replace(terminal, value=_canonical(str(terminal.value), column, schema, dictionary))
        written.append(terminal)
    return tuple(written)


def _canonical(text: str, column: int, schema: Schema, dictionary: ValueDictionary | None) -> str:
    values = [v for v in schema.columns[column].values if isinstance(v, str)]
    if text in values:
        return text
    folded = text.casefold()
    for value in values:
        if value.casefold() == folded:
            return value
    known = dictionary.canonical(column, text) if dictionary is not None else None
    return text if known is None else known
