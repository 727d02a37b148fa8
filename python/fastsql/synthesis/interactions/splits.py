"""Splits of interactions: random, and compositional (EHR-SeqSQL, section 5.1 and appendix B).

A *composition* is the query of a single question without its values, functions and times; its *components* are the finest
steps that it is taken apart to, masked alike. In a compositional split, the test set's compositions are not in train, but
all of their components are.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.program import Literal, Production, Program, TurnRef
from fastsql.synthesis.interactions.interaction import Interaction

Parts = tuple[list[Interaction], list[Interaction]]
TEST_SHARE = 0.07
"""Of a random split; about the paper's (649 of 9,195)."""
_TIMES = {"in": 2, "since": 2, "until": 2, "date": 2, "same": 2, "within": 3}
"""Filters on time, and how many columns and values each takes."""
COMPOSITIONS = 46 / 167
"""Compositions of the test part of a compositional split, at most: the paper's share. Otherwise, most of ours go there."""
_UNITS = ("year", "month", "day", "hour", "time", "eq", "ne", "lt", "le", "gt", "ge")


def open_form(program: Program) -> str:
    """A query, or a step, without its values, functions and filters on time; turns that it refers to have no numbers."""
    return " ".join(_masked(program))


def split_random(interactions: Sequence[Interaction], seed: int, share: float = TEST_SHARE) -> Parts:
    """Train and test, drawn by interaction."""
    numbers = list(range(len(interactions)))
    random.Random(f"{seed}/split").shuffle(numbers)
    test = set(numbers[: round(share * len(numbers))])
    return (
        [one for number, one in enumerate(interactions) if number not in test],
        [one for number, one in enumerate(interactions) if number in test],
    )


def split_compositional(interactions: Sequence[Interaction], share: float = COMPOSITIONS) -> Parts:
    """Train and test by the greedy algorithm of appendix B.

    All compositions begin in train. The one with most components whose components are all in what would be left of train
    goes to test, until there is none, or until test has its `share` of them.
    """
    components: defaultdict[str, set[str]] = defaultdict(set)
    for one in interactions:
        components[one.composition] |= one.components
    left = Counter(part for parts in components.values() for part in parts)
    train = sorted(components, key=lambda name: (-len(components[name]), name))
    test: set[str] = set()
    for name in train:
        if len(test) >= share * len(components):
            break
        # What is passed over once stays so: components of train only become fewer.
        if all(left[part] > 1 for part in components[name]):
            test.add(name)
            left.subtract(components[name])
    return (
        [one for one in interactions if one.composition not in test],
        [one for one in interactions if one.composition in test],
    )


SPLITS: Mapping[str, Callable[[Sequence[Interaction], int], Parts]] = {
    "random": split_random,
    "compositional": lambda interactions, _seed: split_compositional(interactions),
}
"""Train and test of interactions, by a seed."""


def _masked(program: Program) -> list[str]:
    """The terminals of a program; filters on time are no part of it, as a template has places for them."""
    parts: list[str] = []
    left = 0
    for terminal in program:
        if left:
            left -= 1
            continue
        match terminal:
            case Production(name) if name in AGGREGATES and name != "count_all":
                parts.append("aggregate")
            case Production(name):
                left = _time_terminals(name)
                if not left:
                    parts.append(name)
            case Literal():
                parts.append("value")
            case TurnRef():
                parts.append("turn")
            case other:
                parts.append(repr(other))
    return parts


def _time_terminals(name: str) -> int:
    """How many terminals a filter on time has behind its production; 0 for another one."""
    kind, _, unit = name.rpartition("_")
    if unit not in _UNITS:
        return 0
    return _TIMES.get(kind, 0)
