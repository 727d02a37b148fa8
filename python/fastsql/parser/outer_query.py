"""The outermost query of a program: the tables that it reads, and room for a further condition."""

from __future__ import annotations

from collections.abc import Sequence

from fastsql.grammar.clauses import child, joined
from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import program_of
from fastsql.grammar.program import ColumnRef, Program, TableRef
from fastsql.grammar.tree import is_program, read_tree
from fastsql.schema import Schema

_QUERY = 3
"""Children of a table that a query begins with: joins, WHERE and body."""


def tables_of(program: Program, grammar: Grammar) -> tuple[int, ...]:
    """The tables of FROM in their order; none where it begins with something else, or joins in another way than by keys."""
    if not program or not isinstance(program[0], TableRef):
        return ()
    first, *others = program[0], *_joined(program, grammar)
    tables = [first, *others]
    return () if None in others else tuple(table.table for table in tables if table is not None)


def _joined(program: Program, grammar: Grammar) -> Sequence[TableRef | None]:
    tree = read_tree(program, grammar)
    if len(tree.children) != _QUERY:
        return (None,)
    found = (child(join, 0).terminal if join.name == "join" else None for join in joined(tree.children[0]))
    return [table if isinstance(table, TableRef) else None for table in found]


def columns_of(tables: Sequence[int], schema: Schema) -> list[ColumnRef]:
    """The columns of tables, each of which stands in FROM at its place."""
    return [
        ColumnRef(column, source)
        for source, table in enumerate(tables)
        for column in schema.tables[table].columns
    ]


def with_condition(program: Program, condition: Program, grammar: Grammar) -> Program:
    """The program with one more condition in the WHERE of its outermost query; as it is where that has no place for it."""
    if not is_program(program, grammar):
        return program
    joins = read_tree(program, grammar).children[0]
    head = 1 + (0 if joins is None else len(program_of(joins)))
    changed = (*program[:head], *condition, *program[head:])
    return changed if is_program(changed, grammar) else program
