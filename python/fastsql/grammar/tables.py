"""The compiled grammar, a schema and a question's action space as flat tables of integers, for the native automaton.

Each is one int32 array, which `csrc/grammar/` reads from front to back. First a version, then sizes, then records:

grammar   version, symbols, productions, alternatives, children; the bounds of `bounds.py`: nesting, sources, columns, span,
          least cost of a join, joins of a way
          a symbol       cost, whether it may be left out, roles, number of alternatives
          once           cost of a select item, cost of one more join of a way
          a production   roles
          an alternative head (a production, or -1 - pointer), requirements, cost, weight, nesting, number of children;
                         those of the first symbol first
          a child        a symbol, or -1 - effect
schema    version, tables, columns, values
          a table        number of columns: they are consecutive
          a column       type class
          a column       the least column that holds the same keys; -1: it is no key of a join
          a column       the least key of a join that is called like it; -1: none
          a column       whether it is a primary key by itself
          a table        joins on keys between it and every table, DISTANCES to a number, the first one in the lowest bits
          a value        its column; -1 for a constant that any number may be compared with, -2 for neither
question  version, candidates, columns of candidates, tokens, earlier turns, entries of these; step budget, whether
          grouping is strict
          a candidate    kind, flags (1 date with a format, 2 whole number, 4 text), the character at which it bars spans
                         from beginning (-1: none), number of columns
          a column       of a candidate, those of the first one first
          a token        first character, flags (1 begins a word, 2 ends one)
         then three lists, each with its length first:
         a column       whose values are all known, and whether it holds 0, 1, 2 (bits)
         a column, a candidate that names none and that it holds
         a column, the first and the last token of words that it holds
         whether it is known what matches, and if so four lists of three, whose columns may be -1 for all of them:
         a column, a candidate, bits: a part of a value, its beginning, its end, all of it
         a column, the first token of words that a value has, the furthest last one; then of those with which a value begins
         a column, the last token of words with which a value ends, the furthest first one
         then, of earlier turns
         a turn         flags (1 usable, 2 selects `*`, 4 has GROUP BY, 8 aggregates, 16 of rows), nesting, actions, actions
                        with `*` spelled out; numbers of its items, sources and keys
         an item        type class, column (-1: none), of a turn
         a source       table (-1: derived), number of items, and these items
         a key          column or -1, and its entry among what the turn offers

Pointers, effects, requirements, type classes and kinds are numbered in the order of their tuples; requirements and roles are
bits. A role says which rule of the automaton a symbol or production is subject to, which the rules of Python tell by name.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.actions import CANDIDATE
from fastsql.grammar.bounds import LEAST_JOIN, MAX_COLUMNS, MAX_HOPS, MAX_NESTING, MAX_SOURCES, MAX_SPAN
from fastsql.grammar.comparing import COMPARES, MEMBERS, NEWEST, OPERANDS
from fastsql.grammar.compile import Alternative, Grammar
from fastsql.grammar.grounding import COMPUTED, EQUATES, LISTED, LISTS, SMALL
from fastsql.grammar.grouping import AGGREGATES, BESIDE, GATHERED, GROUPS, OF_ROWS, ORDERS
from fastsql.grammar.joining import JOINS, KEYED, SIDES
from fastsql.grammar.matching import WAYS
from fastsql.grammar.pointed import PARTIAL, STORED
from fastsql.grammar.reading import POINTERS, REQUIREMENTS
from fastsql.grammar.routes import HOP, ROUTED, TARGET
from fastsql.grammar.schema_values import schema_values
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.subqueries import JOINING, SELECTING
from fastsql.linking.candidate import KINDS
from fastsql.schema.sqltypes import TYPE_CLASSES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from fastsql.grammar.grounding import Grounds
    from fastsql.grammar.schema_values import SchemaValue
    from fastsql.grammar.state import Item
    from fastsql.grammar.turns import Turn
    from fastsql.schema import Schema

VERSION, SCHEMA_VERSION, QUESTION_VERSION = 2, 4, 3
DISTANCES = 10
"""Distances that one number of the schema's table holds, of three bits each."""

SYMBOL_ROLES: dict[str, Collection[str]] = {
    "items": ("items",),
    "bare_items": ("bare_items",),
    "joins": ("joins",),
    "operand": ("operand",),
    "new_source": ("new_source",),
    "operand_body": ("operand_body",),
    "which": ("which",),
    "partial": PARTIAL,
    "beside": BESIDE,
    "tail_row": ("tail_row",),
    "plain": ("plain",),
    "any_cond": ("any_cond",),
    "listed": LISTED,
    "compared": OPERANDS,
    "newest": NEWEST,
    "side": SIDES,
    "stored": STORED,
    "target": (TARGET,),
    "hop": (HOP,),
    "hops": ("hops",),
    "gathered": GATHERED,
    "selecting": SELECTING,
    "joining": JOINING,
}
"""The symbols of each role; a role's bit is its place here."""
PRODUCTION_ROLES: dict[str, Collection[str]] = {
    "join": JOINS,
    "group": GROUPS,
    "partition": ("partition",),
    "order": ORDERS,
    "aggregate": AGGREGATES,
    "of_rows": OF_ROWS,
    "equates": EQUATES,
    "lists": LISTS,
    **{name: (name,) for name in SMALL},
    "computed": COMPUTED,
    "compares": COMPARES,
    "keyed": KEYED,
    "routed": ROUTED,
    "members": MEMBERS,
    **{names[0]: names for names in WAYS},
}
"""The productions of each role, in the same way."""
_CONSTANT, _NOWHERE = -1, -2


def grammar_table(grammar: Grammar) -> NDArray[np.int32]:
    """The table of a grammar: int32[n]."""
    alternatives = [alternative for of_symbol in grammar.alternatives for alternative in of_symbol]
    children = [child for alternative in alternatives for child in alternative.children]
    sizes = (len(grammar.symbols), len(grammar.productions), len(alternatives), len(children))
    table = [VERSION, *sizes, MAX_NESTING, MAX_SOURCES, MAX_COLUMNS, MAX_SPAN, LEAST_JOIN, MAX_HOPS]
    for number, name in enumerate(grammar.symbols):
        alternatives_of = grammar.alternatives[number]
        roles = _bits(name, SYMBOL_ROLES)
        table += (grammar.cost[number], grammar.nullable[number], roles, len(alternatives_of))
    table += (grammar.cost[grammar.symbol("item")], grammar.hop_cost)
    table += (_bits(name, PRODUCTION_ROLES) for name in grammar.productions)
    for alternative in alternatives:
        table += (
            _head(alternative),
            sum(1 << bit for bit, name in enumerate(REQUIREMENTS) if name in alternative.requires),
            alternative.cost,
            alternative.weight,
            alternative.nesting,
            len(alternative.children),
        )
    return np.asarray(table + children, dtype=np.int32)


def schema_table(schema: Schema) -> NDArray[np.int32]:
    """The table of a schema and the values that stand with it: int32[n]."""
    values = schema_values(schema)
    table = [SCHEMA_VERSION, len(schema.tables), len(schema.columns), len(values)]
    table += (len(one.columns) for one in schema.tables)
    table += (TYPE_CLASSES.index(column.type) for column in schema.columns)
    table += schema.join_groups
    table += schema.key_names
    table += (column in schema.unique_columns for column in range(len(schema.columns)))
    for distances in schema.key_distances:
        table += _packed(distances)
    table += (_place(value) for value in values)
    return np.asarray(table, dtype=np.int32)


def _packed(distances: bytes) -> list[int]:
    held = (distances[first : first + DISTANCES] for first in range(0, len(distances), DISTANCES))
    return [sum(distance << 3 * place for place, distance in enumerate(row)) for row in held]


def question_table(space: ActionSpace) -> NDArray[np.int32]:
    """The table of what a question adds to its schema: int32[n]."""
    columns = [column for candidate in space.candidates for column in candidate.columns]
    entries = sum(turn.entries for turn in space.turns)
    sizes = (len(space.candidates), len(columns), len(space.tokens), len(space.turns), entries)
    table = [QUESTION_VERSION, *sizes, space.limits.actions, space.strict_grouping]
    kinds = (space.date_ids, space.whole_number_ids, space.text_ids)
    flags = _flags(len(space.candidates), [ids - space.offsets[CANDIDATE] for ids in kinds])
    for candidate, flag in zip(space.candidates, flags, strict=True):
        barred = space.barred_start(candidate)
        table += (KINDS.index(candidate.kind), flag, -1 if barred is None else barred, len(candidate.columns))
    table += columns
    flags = _flags(len(space.tokens), [space.word_starts, space.word_ends])
    for (start, _), flag in zip(space.tokens, flags, strict=True):
        table += (int(start), flag)
    table += _grounds(space.grounds)
    for turn in space.turns:
        table += _turn(turn)
    return np.asarray(table, dtype=np.int32)


def _turn(turn: Turn) -> Iterator[int]:
    items, sources, keys = turn.offered
    flags = (turn.usable, turn.starred, turn.grouped, turn.aggregated, turn.of_rows)
    yield sum(1 << bit for bit, is_set in enumerate(flags) if is_set)
    yield from (turn.nesting, turn.actions, turn.spelled, len(items), len(sources), len(keys))
    yield from _typed(items)
    for source in sources:
        yield from (source.table, len(source.items))
        yield from _typed(source.items)
    for key in keys:
        yield from (key.column, key.step)


def _typed(items: Sequence[Item]) -> Iterator[int]:
    for item in items:
        yield TYPE_CLASSES.index(item.typed.type)
        yield -1 if item.typed.column is None else item.typed.column


def _grounds(grounds: Grounds) -> list[int]:
    table = [*_known_columns(grounds.columns, grounds.small)]
    for known in (grounds.candidates, grounds.spans):
        table += (len(known), *(number for place in sorted(known) for number in place))
    patterns = grounds.patterns
    table.append(patterns is not None)
    if patterns is not None:
        for found in (patterns.candidates, patterns.within, patterns.begun, patterns.ended):
            table += (len(found), *(number for place in found for number in place))
    return table


@lru_cache(maxsize=64)
def _known_columns(columns: frozenset[int], small: frozenset[tuple[int, int]]) -> tuple[int, ...]:
    """The list of columns whose values are known; a dictionary's are the same for every question."""
    holds = dict.fromkeys(sorted(columns), 0)
    for column, n in small:
        holds[column] |= 1 << n
    return (len(holds), *(number for pair in holds.items() for number in pair))


def _bits(name: str, roles: Mapping[str, Collection[str]]) -> int:
    return sum(1 << bit for bit, names in enumerate(roles.values()) if name in names)


def _head(alternative: Alternative) -> int:
    if alternative.action is not None:
        return alternative.action
    assert alternative.pointer is not None
    return -1 - POINTERS.index(alternative.pointer)


def _place(value: SchemaValue) -> int:
    if value.column is not None:
        return value.column
    return _CONSTANT if value.name else _NOWHERE


def _flags(count: int, having: Sequence[Sequence[int] | NDArray[np.int64]]) -> list[int]:
    """For each of `count` things a number whose bit k says whether the thing is in `having[k]`."""
    flags = np.zeros(count, dtype=np.int32)
    for bit, things in enumerate(having):
        flags[np.asarray(things, dtype=np.int64)] |= 1 << bit
    return [int(flag) for flag in flags]
