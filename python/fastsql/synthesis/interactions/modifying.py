"""Turns that only say what changes: "what about the first one?" (EHR-SeqSQL, section 3.3, modifying questions)."""

from __future__ import annotations

import random

from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import Production, Program, TableRef, TurnRef
from fastsql.grammar.tree import read_tree
from fastsql.synthesis.interactions.decompose import Steps
from fastsql.synthesis.interactions.selects import END, Select, joined, read_select

SHARE = 0.7
"""How often a turn that could be put so is."""
_KEEP = (Production("keep"),)


def modify(steps: Steps, grammar: Grammar, rng: random.Random) -> Steps:
    """The steps, where some that differ from an earlier one in one clause say this clause alone."""
    changed = list(steps)
    selects = [
        read_select(read_tree(step, grammar)) if isinstance(step[0], TableRef) else None for step in steps
    ]
    for number, select in enumerate(selects):
        for earlier in range(number - 1, -1, -1):
            before = selects[earlier]
            change = None if select is None or before is None else _change(select, before, earlier)
            if change is not None:
                if rng.random() < SHARE:
                    changed[number] = change
                break
    return tuple(changed)


def _change(select: Select, before: Select, turn: int) -> Program | None:
    """What a query changes of an earlier one: its order, or one of its conditions; None for anything else."""
    if (select.source, select.joins, select.grouping, select.keys, select.having, select.items) != (
        before.source,
        before.joins,
        before.grouping,
        before.keys,
        before.having,
        before.items,
    ):
        return None
    same_conditions = sorted(map(repr, select.conditions)) == sorted(map(repr, before.conditions))
    if same_conditions and select.tail not in (before.tail, END):
        sort = "sort_groups" if select.grouping else "sort_rows"
        return (Production("extend"), TurnRef(turn), Production(sort), *select.tail)
    shared = set(select.conditions) & set(before.conditions)
    one_differs = len(select.conditions) == len(before.conditions) == len(shared) + 1
    if one_differs and select.tail == before.tail:
        return (Production("extend_from"), TurnRef(turn), *joined(select.conditions), *_KEEP)
    return None
