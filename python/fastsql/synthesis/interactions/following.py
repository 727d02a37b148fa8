"""Turns behind the last answer: "and in 2022?", "how many is that?". People go on where the single question ended."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from fastsql.grammar.compile import Grammar
from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.inlining import say_groups, write_out
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal, TurnRef
from fastsql.grammar.tree import read_tree
from fastsql.schema import Schema
from fastsql.synthesis.interactions.decompose import Steps
from fastsql.synthesis.interactions.selects import END, Select, is_select, read_select

SHARE = 0.4
"""How often a turn is added that says another value, and how often one that counts."""
_KEEP = (Production("keep"),)
_COUNT = (Production("count_all"),)
_VALUED = 3  # terminals of a condition that compares a column with a value

Values = Mapping[tuple[str, Program], Sequence[Literal]]
"""What conditions compare with, by their productions and columns."""


def known_values(programs: Sequence[Program], grammar: Grammar) -> Values:
    """The values that queries over one schema compare columns with."""
    found: defaultdict[tuple[str, Program], dict[Literal, None]] = defaultdict(dict)
    for program in programs:
        select = _last(program, grammar)
        for condition in select.conditions if select is not None else ():
            if (key := _compared(condition)) is not None:
                literal = condition[-1]
                assert isinstance(literal, Literal)
                found[key][literal] = None
    return {key: tuple(values) for key, values in found.items()}


def follow(steps: Steps, values: Values, schema: Schema, grammar: Grammar, rng: random.Random) -> Steps:
    """The steps with up to two more that go on from the last."""
    written: list[Program] = []
    for step in steps:
        written.append(write_out(step, dict(enumerate(written)), schema, grammar))
    last = len(steps) - 1
    select = _last(written[-1], grammar)
    if select is None:
        return steps
    more: list[Program] = []
    if rng.random() < SHARE and len(select.conditions) == 1:
        (condition,) = select.conditions
        key = _compared(condition)
        others = [one for one in values.get(key, ()) if one != condition[-1]] if key is not None else []
        if others:
            changed = (*condition[:-1], rng.choice(others))
            more.append((Production("extend_from"), TurnRef(last), *changed, *_KEEP))
            last += 1
    counted = _counted(select)
    if rng.random() < SHARE and not select.grouping and counted and select.tail == END:
        more.append((Production("extend"), TurnRef(last), *counted, *END))
    return (*steps, *more)


def _last(program: Program, grammar: Grammar) -> Select | None:
    """A query's clauses, where it selects from tables."""
    tree = read_tree(say_groups(program, grammar), grammar)
    if not is_select(tree):
        return None
    select = read_select(tree)
    return select if select.of_table else None


def _compared(condition: Program) -> tuple[str, Program] | None:
    """What tells conditions apart that differ in their value alone; None for one that is no comparison with a value."""
    if len(condition) != _VALUED or not isinstance(condition[1], ColumnRef):
        return None
    kind, _, literal = condition
    if (
        not isinstance(kind, Production)
        or not isinstance(literal, Literal)
        or kind.name not in ("eq", "date_eq")
    ):
        return None
    return f"{kind.name} {literal.format}", condition[:-1]


def _counted(select: Select) -> Program:
    """What counts what a query shows: its rows, or its one item where that is shown without repeats; () for neither."""
    first, *items = select.items
    if first == Production("distinct"):
        return (Production("count_distinct"), *items) if _is_column(items) else ()
    aggregated = any(
        isinstance(one, Production) and one.name in (*AGGREGATES, "distinct") for one in select.items
    )
    return () if aggregated else _COUNT


def _is_column(items: Sequence[Terminal]) -> bool:
    return len(items) == 1 and isinstance(items[0], ColumnRef)
