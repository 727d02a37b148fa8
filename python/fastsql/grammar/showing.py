"""A turn that asks for more of the rows that an earlier one named: what it asks for stands beside the names.

"Which boxes are in Iceberg?", and behind it "with their shelves": shelves alone would not tell whose they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from fastsql.grammar.clauses import some
from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import program_of
from fastsql.grammar.program import ColumnRef, Production, Program, TurnRef
from fastsql.grammar.tree import read_tree
from fastsql.schema import Schema

if TYPE_CHECKING:
    from fastsql.grammar.turns import Turn

_EXTEND, _DISTINCT, _LIMIT, _END = map(Production, ("extend", "distinct", "limit", "end"))


def beside_names(
    program: Program,
    turns: Sequence[Turn],
    schema: Schema,
    grammar: Grammar,
    names: Callable[[int], Collection[int]],
) -> Program:
    """The program; further columns of one table's rows, which an earlier turn named and did not cut short, follow the names.

    `names` gives the columns that name the rows of a table. The rows stay in their order unless the program has its own.
    """
    if program[:1] != (_EXTEND,) or not isinstance(program[1], TurnRef):
        return program
    _, joins, where, change = read_tree(program, grammar).children
    if joins is not None or where is not None:
        return program
    named, tail = _columns(program_of(some(read_tree(turns[program[1].turn].program, grammar).children[-1])))
    further, own_tail = _columns(program_of(some(change)))
    sources = {column.source for column in (*named, *further)}
    if not named or not further or len(sources) > 1 or _LIMIT in tail or set(named) & set(further):
        return program
    tables = {schema.columns[column.column].table for column in named}
    if len(tables) > 1 or not {column.column for column in named} <= set(names(*tables)):
        return program
    return (*program[:2], *named, *further, *(tail if own_tail == (_END,) else own_tail))


def _columns(body: Program) -> tuple[tuple[ColumnRef, ...], Program]:
    """The columns that a body selects and what follows them; none where it selects anything else, or does more."""
    start = int(body[:1] == (_DISTINCT,))
    end = start
    while isinstance(body[end], ColumnRef):
        end += 1
    return tuple(item for item in body[start:end] if isinstance(item, ColumnRef)), body[end:]
