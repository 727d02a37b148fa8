"""Queries that run and mean nothing, whatever the question is: they are given only where every other hypothesis is such."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from fastsql.grammar.compared import CALENDAR, ORDERS
from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import ColumnRef, Literal, Node, Production, Program, TableRef, Terminal
from fastsql.schema import Column, Schema
from fastsql.schema.draft import FLAG

_SUMS = frozenset(map(Production, ("sum", "avg", "sum_distinct", "avg_distinct")))
_RANGES = frozenset(map(Production, ("between", "not_between")))
_PLAIN = frozenset(map(Production, ("eq", "ne", "lt", "le", "gt", "ge"))) | _RANGES
_SPANS = frozenset(map(Production, ("days_between", "hours_between", "years_between", "seconds_between")))
_WITH_ITSELF = frozenset(map(Production, ("minus", "times", "divide"))) | _SPANS
_MARKS: dict[Terminal, int] = {Production("one"): 1, Production("two"): 2}
_MARKED = frozenset(_MARKS)
_COUNT_ALL = Production("count_all")
_COUNTS = frozenset((_COUNT_ALL, *map(Production, ("count", "count_distinct"))))
_FRACTIONS = re.compile(r"(?:REAL|FLOAT|DOUBLE)\b|(?:DECIMAL|NUMERIC)\s*\(\s*\d+\s*,\s*[1-9]", re.IGNORECASE)
_DAYS = re.compile(r"(?:SMALL)?DATE|TIMESTAMP", re.IGNORECASE)
"""Declared types of columns that hold points in time; others of times may hold how long something took."""
_DIGIT = re.compile(r"\d")
_ARITHMETIC = frozenset(map(Production, ("plus", "minus", "times", "divide", "modulo")))
_NUMBER = re.compile(r"\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)\s*")
_MARK = re.compile(r"[:,;?!：，；？！]$|[:;?!]\s|[：；？！]")
_EQUATES = frozenset(map(Production, ("eq", "ne")))
_OPERANDS = 2
_TWICE = 2
_IS_NULL, _LEFT_JOIN, _CASE, _SCALAR = map(Production, ("is_null", "left_join", "case", "scalar"))
_APART = ({"time", "text"}, {"time", "number"})
"""Types of columns that have nothing in common; texts may be numbers."""
_CALCULATED = _WITH_ITSELF | _ARITHMETIC | {_CASE}


def says_nothing(program: Program, schema: Schema, grammar: Grammar) -> bool:
    """Whether a part of it is SQL that runs and means nothing.

    It adds up keys or days, takes a thing from itself or times itself, a text for a number, a text, a key or a flag for a
    date, a measure for a mark, counts alike what is and what is not, looks for a text with a sign of the question's,
    compares a number of rows with a column of texts or times, columns of different kinds, or words by their order, asks for
    more or less than a flag, for a range from a value to itself, for rows in which a column has two values or a primary key
    none, or joins two tables on what both refer to though one refers to the other.
    """
    nodes = _nodes_of(program, grammar)
    return (
        _adds_up_no_amounts(program, schema)
        or _takes_a_thing_from_itself(nodes)
        or _decides_nothing(nodes)
        or _takes_text_for_dates(program, schema)
        or _takes_a_measure_for_a_mark(program, schema)
        or _computes_with_text(nodes)
        or _is_between_no_times(nodes, schema)
        or _holds_a_mark(program)
        or _spans_nothing(program)
        or _compares_a_count_with_text(program, schema)
        or _compares_what_has_no_order(program, schema)
        or _rules_itself_out(nodes)
        or _misses_a_primary_key(program, schema)
        or _joins_past_a_key(program, schema)
    )


def _nodes_of(program: Program, grammar: Grammar) -> tuple[Node, ...]:
    """The nodes of its tree; none where nothing is calculated or decided, and no column compared twice."""
    compared = [
        column for sign, column in pairwise(program) if sign in _EQUATES and isinstance(column, ColumnRef)
    ]
    if _CALCULATED.isdisjoint(program) and max(Counter(compared).values(), default=0) < _TWICE:
        return ()
    from fastsql.grammar.tree import read_tree  # of few programs

    return tuple(_nodes(read_tree(program, grammar)))


def _takes_a_thing_from_itself(nodes: Iterable[Node]) -> bool:
    """Whether it asks for the time between a moment and itself, or takes a thing from itself, or times or by itself."""
    return any(
        node.terminal in _WITH_ITSELF
        and node.children[0] is not None
        and node.children[0] == node.children[1]
        for node in nodes
    )


def _decides_nothing(nodes: Iterable[Node]) -> bool:
    """Whether a case has the same outcome either way: "100 times the sum of 1 if she smokes, otherwise 1"."""
    return any(node.terminal == _CASE and node.children[1] == node.children[2] for node in nodes)


def _takes_text_for_dates(program: Program, schema: Schema) -> bool:
    """Whether words, all of which are known, a flag or a key of numbers is compared with a date."""
    return any(
        sign in _PLAIN
        and isinstance(column, ColumnRef)
        and isinstance(value, Literal)
        and bool(value.format)
        and _holds_no_times(column, schema)
        for sign, column, value in zip(program, program[1:], program[2:], strict=False)
    )


def _takes_a_measure_for_a_mark(program: Program, schema: Schema) -> bool:
    """Whether a column declared to hold fractions is to equal a 1 or 2 of the grammar's own, as marks and codes do."""
    return any(
        sign in _EQUATES
        and isinstance(column, ColumnRef)
        and value in _MARKED
        and _FRACTIONS.match(schema.columns[column.column].sql_type) is not None
        for sign, column, value in zip(program, program[1:], program[2:], strict=False)
    )


def _holds_words(column: Column) -> bool:
    texts = [str(value) for value in column.values]
    return column.type == "text" and bool(texts) and not any(map(_DIGIT.search, texts))


def _computes_with_text(nodes: Iterable[Node]) -> bool:
    """Whether a text that is no number is added or multiplied."""
    return any(
        isinstance(child.terminal, Literal) and _is_text(child.terminal.value)
        for node in nodes
        if node.terminal in _ARITHMETIC
        for child in node.children
        if child is not None
    )


def _is_between_no_times(nodes: Iterable[Node], schema: Schema) -> bool:
    """Whether it asks for the time between two things of which one is no time."""
    return any(
        isinstance(child.terminal, ColumnRef) and _holds_no_times(child.terminal, schema)
        for node in nodes
        if node.terminal in _SPANS
        for child in node.children
        if child is not None
    )


def _is_text(value: str | float) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value) is None


def _holds_a_mark(program: Program) -> bool:
    """Whether a part of a question is looked for together with a mark behind or within it: "names with F: ..."."""
    return any(
        isinstance(item, Literal)
        and item.provenance == "span"
        and isinstance(item.value, str)
        and _MARK.search(item.value) is not None
        for item in program
    )


def _spans_nothing(program: Program) -> bool:
    """Whether a range begins where it ends."""
    return any(
        sign in _RANGES
        and (
            low.value == high.value
            if isinstance(low, Literal) and isinstance(high, Literal)
            else low == high and low in _MARKED
        )
        for sign, low, high in zip(program, program[2:], program[3:], strict=False)
    )


def _compares_a_count_with_text(program: Program, schema: Schema) -> bool:
    """Whether a number of rows is to be what a column of texts or times holds: "drugs with 3 to their name rows"."""
    for place, (sign, counted) in enumerate(pairwise(program)):
        if sign not in _PLAIN or counted not in _COUNTS:
            continue
        of_a_column = counted != _COUNT_ALL
        behind = program[place + 2 + of_a_column :]
        for item in behind[: _OPERANDS if sign in _RANGES else 1]:
            if isinstance(item, ColumnRef) and schema.columns[item.column].type in ("text", "time"):
                return True
            if not isinstance(item, Literal) and item not in _MARKED:
                break  # what ends elsewhere
    return False


def _compares_what_has_no_order(program: Program, schema: Schema) -> bool:
    """Whether a day is to be a name, words come before others, or a column of words, all known, is told from now."""
    for sign, column, other in zip(program, program[1:], program[2:], strict=False):
        if not isinstance(column, ColumnRef) or not isinstance(sign, Production):
            continue
        kind = schema.columns[column.column].type
        if sign.name in CALENDAR and _holds_no_times(column, schema):
            return True
        if sign not in _PLAIN:
            continue
        if isinstance(other, ColumnRef) and {kind, schema.columns[other.column].type} in _APART:
            return True
        if sign in _RANGES and kind == "time" and other == _SCALAR:
            return True
        if sign.name in ORDERS and _is_no_bound(other, schema.columns[column.column]):
            return True
    return False


def _is_no_bound(item: Terminal, column: Column) -> bool:
    """Whether nothing of a column is more or less than this: a word, or a number that a flag lacks."""
    if isinstance(item, Literal) and not item.format and _is_wordy(item.value):
        return True
    value = item.value if isinstance(item, Literal) else _MARKS.get(item)
    return value is not None and _is_flag(column) and value not in column.values


def _is_flag(column: Column) -> bool:
    return column.type == "number" and set(column.values) == set(FLAG)


def _holds_no_times(item: ColumnRef, schema: Schema) -> bool:
    """Whether a column holds words, all of which are known, says no or yes, or tells rows apart by a number."""
    column = schema.columns[item.column]
    return (
        _holds_words(column)
        or _is_flag(column)
        or (column.type == "number" and schema.profile.columns[item.column].kind == "identifier")
    )


def _is_wordy(value: str | float) -> bool:
    return isinstance(value, str) and _DIGIT.search(value) is None


def _adds_up_no_amounts(program: Program, schema: Schema) -> bool:
    """Whether it totals or averages days, or a column that tells rows apart or refers to others': numbers of nothing."""
    added = [
        item.column for first, item in pairwise(program) if first in _SUMS and isinstance(item, ColumnRef)
    ]
    if not added:
        return False
    if any(_DAYS.match(schema.columns[column].sql_type) for column in added):
        return True
    keys = {column for key in schema.foreign_keys for column in (*key.columns, *key.references)}
    keys.update(table.primary_key[0] for table in schema.tables if len(table.primary_key) == 1)
    return not keys.isdisjoint(added)


def _misses_a_primary_key(program: Program, schema: Schema) -> bool:
    """Whether rows are to have no primary key, and not for want of a partner."""
    return _LEFT_JOIN not in program and any(
        sign == _IS_NULL
        and isinstance(item, ColumnRef)
        and schema.tables[schema.columns[item.column].table].primary_key == (item.column,)
        for sign, item in pairwise(program)
    )


def _joins_past_a_key(program: Program, schema: Schema) -> bool:
    """Whether a doctor's and a stay's department are to be the same though a stay refers to its doctor."""
    joined = [
        (one.column, other.column)
        for table, one, other in zip(program, program[1:], program[2:], strict=False)
        if isinstance(table, TableRef) and isinstance(one, ColumnRef) and isinstance(other, ColumnRef)
    ]
    if not joined:
        return False
    references = {key.columns[0]: key.references[0] for key in schema.foreign_keys if len(key.columns) == 1}

    def tables(*columns: int) -> frozenset[int]:
        return frozenset(schema.columns[column].table for column in columns)

    connected = {found for pair in references.items() if len(found := tables(*pair)) > 1}
    return any(
        one in references and references[one] == references.get(other) and tables(one, other) in connected
        for one, other in joined
    )


def _rules_itself_out(nodes: Sequence[Node]) -> bool:
    """Whether no row can meet a query's conditions, as a column would have to have two values, or one that it must not."""
    if not nodes:
        return False
    from fastsql.grammar.clauses import chain  # of few programs

    return any(
        _exclude(one, other)
        for one in nodes
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
