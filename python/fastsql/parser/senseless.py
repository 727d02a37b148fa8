"""Queries that run and mean nothing, whatever the question is: they are given only where every other hypothesis is such."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import ColumnRef, Literal, Node, Production, Program
from fastsql.schema import Column, Schema

_SUMS = frozenset(map(Production, ("sum", "avg", "sum_distinct", "avg_distinct")))
_RANGES = frozenset(map(Production, ("between", "not_between")))
_PLAIN = frozenset(map(Production, ("eq", "ne", "lt", "le", "gt", "ge"))) | _RANGES
_YEAR = re.compile(r"(?:1[89]|2\d)\d\d")
_EQUATES = frozenset(map(Production, ("eq", "ne")))
_OPERANDS = 2


def says_nothing(program: Program, schema: Schema, grammar: Grammar) -> bool:
    """Whether a part of it is SQL that runs and means nothing: it adds up keys, compares a day with a year as if both were
    one, asks for a range from a value to itself, or for rows in which a column has two values.
    """
    return (
        _adds_up_keys(program, schema)
        or _mixes_days_and_years(program, schema)
        or _spans_nothing(program)
        or _rules_itself_out(program, grammar)
    )


def _mixes_days_and_years(program: Program, schema: Schema) -> bool:
    """Whether a column of days is compared with a year, and not its own year with that. SQLite takes "2018" for a number
    where the column is declared DATE, and finds it below all days.
    """
    return any(
        sign in _PLAIN
        and isinstance(column, ColumnRef)
        and isinstance(value, Literal)
        and isinstance(value.value, str)
        and _YEAR.fullmatch(value.value) is not None
        and _holds_days(schema.columns[column.column])
        for sign, column, value in zip(program, program[1:], program[2:], strict=False)
    )


def _holds_days(column: Column) -> bool:
    """Whether a column holds points in time, and not years alone as far as its known values tell."""
    return column.type == "time" and not any(_YEAR.fullmatch(str(value)) for value in column.values)


def _spans_nothing(program: Program) -> bool:
    """Whether a range begins where it ends."""
    return any(
        sign in _RANGES and isinstance(low, Literal) and isinstance(high, Literal) and low.value == high.value
        for sign, low, high in zip(program, program[2:], program[3:], strict=False)
    )


def _adds_up_keys(program: Program, schema: Schema) -> bool:
    """Whether it totals or averages a column that tells rows apart or refers to others': a number without a quantity."""
    added = [
        item.column for first, item in pairwise(program) if first in _SUMS and isinstance(item, ColumnRef)
    ]
    if not added:
        return False
    keys = {column for key in schema.foreign_keys for column in (*key.columns, *key.references)}
    keys.update(table.primary_key[0] for table in schema.tables if len(table.primary_key) == 1)
    return not keys.isdisjoint(added)


def _rules_itself_out(program: Program, grammar: Grammar) -> bool:
    """Whether no row can meet a query's conditions, as a column would have to have two values, or one that it must not."""
    compared = [
        column for sign, column in pairwise(program) if sign in _EQUATES and isinstance(column, ColumnRef)
    ]
    if max(Counter(compared).values(), default=0) < 2:
        return False
    from fastsql.grammar.clauses import chain  # where a column is compared twice
    from fastsql.grammar.tree import read_tree

    return any(
        _exclude(one, other)
        for one in _nodes(read_tree(program, grammar))
        if one.name in ("eq", "ne")
        and len(one.children) > _OPERANDS  # a condition of WHERE: the rest is its last child
        for other in chain(one.children[-1])
    )


def _exclude(one: Node, other: Node) -> bool:
    """Whether no row meets both of two conditions."""
    if other.name not in ("eq", "ne") or "eq" not in (one.name, other.name):
        return False
    (left, value), (right, another) = (
        [child.terminal for child in condition.children[:_OPERANDS] if child is not None]
        for condition in (one, other)
    )
    if left != right or not (isinstance(value, Literal) and isinstance(another, Literal)):
        return False
    same = str(value.value).casefold() == str(another.value).casefold()
    return same if one.name != other.name else not same


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        if child is not None:
            yield from _nodes(child)
