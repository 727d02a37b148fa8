"""Decoding with made-up scores: what the automaton promises is checked at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar import ActionSpace, State
from fastsql.grammar.actions import PRODUCTION

Bias = Mapping[str, float]
"""What is added to the scores of productions, by name, and of every pointer, by "@" and its kind's number."""

_NESTING = (
    "scalar",
    "in",
    "not_in",
    "derived",
    "or",
    "and",
    "not",
    "case",
    "plus",
    "minus",
    "times",
    "divide",
)
_LONGER = (
    "join",
    "left_join",
    "on",
    "also",
    "group",
    "having",
    "distinct",
    "asc",
    "desc",
    "partition",
    "offset",
)
_SET_OPERATIONS = ("union", "union_all", "intersect", "except")

HABITS: Mapping[str, Bias] = {
    "none": {},
    "nest in every way": dict.fromkeys(_NESTING, 6.0) | {"end": -6.0},
    "subqueries in subqueries": {
        "scalar": 9.0,
        "in": 6.0,
        "not_in": 6.0,
        "between": 8.0,
        "not_between": 8.0,
        "end": -3.0,
    },
    "subqueries of aggregates": {
        "scalar": 9.0,
        "sum": 7.0,
        "having": 9.0,
        "group": 6.0,
        "between": 8.0,
        "test": 6.0,
    },
    "cases in cases": {"case": 9.0, "eq": 3.0, "not_between": 3.0},
    "parentheses in parentheses": {"not": 9.0, "or": 4.0, "and": 4.0, "minus": 9.0},
    "derived tables": {"derived": 9.0, "join": 3.0, "left_join": 3.0},
    "join a table with itself": {"join": 9.0, "left_join": 9.0, "on": 5.0, "@1": 4.0, "@2": 3.0},
    "ways along keys": {"along": 9.0, "gather": 6.0, "derived": 4.0, "in": 3.0, "desc": 2.0},
    "set operations": dict.fromkeys(_SET_OPERATIONS, 9.0) | {"derived": 2.0, "scalar": 3.0},
    "never stop": dict.fromkeys(_LONGER, 4.0) | {"end": -50.0, "limit": -50.0},
    "many items": {"end": -9.0, "limit": -9.0, "union": 3.0, "test": 2.0, "@2": 3.0, "@7": 3.0},
    "no FROM": {"bare": 9.0, "scalar": 2.0, "plus": 6.0, "minus": 6.0, "divide": 6.0},
    "times": {
        "hours_between": 9.0,
        "days_between": 7.0,
        "within_hour": 5.0,
        "date_eq": 5.0,
        "in_year": 4.0,
        "desc": 6.0,
    },
    "text": {"contains": 9.0, "not_contains": 6.0, "@5": 6.0, "eq": 5.0, "in_list": 4.0, "also": 5.0},
    "patterns": {
        "begins": 9.0,
        "ends": 8.0,
        "like": 8.0,
        "not_like": 6.0,
        "holds": 5.0,
        "substring": 6.0,
        "@3": 4.0,
    },
    "all columns": {
        "all_columns": 9.0,
        "union": 6.0,
        "except": 6.0,
        "join": 2.0,
        "cross_join": 4.0,
        "on_cond": 5.0,
    },
    "casts in casts": {"as_real": 9.0, "as_text": 8.0, "modulo": 8.0, "when": 8.0, "holds": 6.0, "asc": 3.0},
    "conditions as values": {
        "holds": 9.0,
        "or": 5.0,
        "not": 5.0,
        "sum": 6.0,
        "having": 5.0,
        "on_cond": 9.0,
        "join": 4.0,
    },
    "windows": {"dense_rank": 9.0, "rank": 6.0, "partition": 6.0, "derived": 4.0},
    "windows over aggregates, filtered from outside": {
        "derived": 4.0,
        "rank": 9.0,
        "partition": 9.0,
        "min": 7.0,
        "eq": 7.0,
        "group": -4.0,
    },
    "sums over windows": {
        **dict.fromkeys(("over", "sum_over", "count_rows_over", "max_over", "lag"), 6.0),
        **dict.fromkeys(
            ("partition", "asc_then", "desc_nulls_first", "whole", "divide", "coalesce", "group"), 5.0
        ),
        "derived": 3.0,
    },
    "rows that are missing": {
        "not_exists": 9.0,
        "and": 5.0,
        "or": 5.0,
        "coalesce": 5.0,
        "concat": 5.0,
        "contains_value": 6.0,
    },
    "functions in functions": {
        **dict.fromkeys(
            ("coalesce", "nullif", "round", "abs", "length", "upper", "concat", "concat_space"), 7.0
        ),
        "asc_nulls_last": 5.0,
        "desc_nulls_first": 5.0,
        "constant": 4.0,
        "label": 4.0,
    },
    "computed dates": {
        **dict.fromkeys(
            ("years_between", "quarter_start", "week_start_back", "quarter_start_back", "day_back"), 7.0
        ),
        **dict.fromkeys(
            ("weekday_of", "seconds_between", "on_date", "this_year", "between", "holds", "distinct"), 5.0
        ),
    },
}
"""Ways in which a decoder may go wrong."""


@dataclass(frozen=True)
class Walk:
    """One decoding: the decisions, the number of actions taken, the greatest weight of nesting that was reached."""

    decisions: tuple[int, ...]
    used: int
    deepest: int


def walk(space: ActionSpace, seed: int, bias: Bias = HABITS["none"], noise: float = 1.0) -> Walk:
    """Takes the action of the highest score until the query is complete; scores are noise and bias.

    Raises AssertionError where nothing may come next, or where a completion within the budget is no longer certain.
    """
    random = np.random.default_rng(seed)
    scores = scores_of(space, bias)
    return _walk(
        space, lambda legal: legal[np.argmax(scores[legal] + noise * random.gumbel(size=legal.size))]
    )


def replay(space: ActionSpace, decisions: Iterable[int]) -> Walk:
    """Takes the given decisions."""
    given = iter(decisions)
    return _walk(space, lambda legal: next(given))


def _walk(space: ActionSpace, choose: Callable[[NDArray[np.int64]], Any]) -> Walk:
    state = State.start(space)
    decisions: list[int] = []
    deepest = 0
    while not state.finished:
        legal = state.legal()
        where = f"{space.grammar.symbols[state.symbol]!r} after {state.used} actions"
        assert legal.size > 0, f"a dead end at {where}"
        assert state.used + state.cost <= space.limits.actions, f"the budget is overdrawn at {where}"
        action = int(choose(legal)) if legal.size > 1 else int(legal[0])
        if legal.size > 1:
            decisions.append(action)
        state = state.advance(action, decision=legal.size > 1)
        if state.stack is not None:
            deepest = max(deepest, state.stack.depth)
    return Walk(tuple(decisions), state.used, deepest)


def scores_of(space: ActionSpace, bias: Bias) -> NDArray[np.float64]:
    """The bias of every action: float64[A]."""
    scores = np.zeros(space.size)
    for name, added in bias.items():
        if name.startswith("@"):
            kind = int(name[1:])
            scores[space.offsets[kind] : space.offsets[kind + 1]] += added
        else:
            scores[space.flat(PRODUCTION, space.grammar.production(name))] += added
    return scores
