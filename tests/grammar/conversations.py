"""Random conversations: each turn is decoded with made-up scores, and may point at those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from fastsql.grammar import ActionSpace, Program, Turn, read_program, read_turn
from fastsql.grammar.actions import PRODUCTION

from .walking import HABITS, Bias, Walk, walk

TURNS = 6
"""Turns of a conversation."""
POINTING = (
    "previous",
    "extend",
    "extend_from",
    "in_previous",
    "not_in_previous",
    "previous_value",
    "keep",
    "sort_rows",
    "sort_groups",
    "and_having",
)
"""Productions that need an earlier turn."""
FOND: tuple[Bias, ...] = (
    {},
    dict.fromkeys(POINTING, 3.0),
    {"extend": 9.0, "extend_from": 6.0, "keep": 6.0, "and_having": 9.0, "sort_groups": 5.0, "group": 6.0},
    {"previous": 9.0, "join": 5.0, "extend": 4.0, "all_columns": 3.0},
    {"in_previous": 7.0, "not_in_previous": 7.0, "previous_value": 5.0, "end": 6.0},
    {"extend": 7.0, "sort_rows": 7.0, "sort_groups": 7.0, "and_having": 5.0, "group": 5.0, "end": 3.0},
    {"bare": 5.0, "previous_value": 9.0, "plus": 3.0, "union": 3.0, "previous": 3.0},
)
"""How fond a decoder is of what came before."""


@dataclass(frozen=True)
class Asked:
    """A turn with the space in which it was decoded."""

    space: ActionSpace
    walk: Walk
    program: Program
    turn: Turn


def converse(
    space: ActionSpace,
    seed: int,
    bias: Bias = HABITS["none"],
    *,
    decode: Callable[[ActionSpace, int, Bias], Walk] = walk,
) -> Iterator[Asked]:
    """A conversation over the space's schema, all of its questions being the space's; some turns cannot be used."""
    random = np.random.default_rng(seed)
    fond = dict(FOND[seed % len(FOND)]) | dict(bias)
    for number in range(TURNS):
        result = decode(space, seed * TURNS + number, fond)
        program = read_program(result.decisions, space)
        turn = read_turn(program, space, usable=bool(random.random() < 0.85))
        yield Asked(space, result, program, turn)
        space = replace(space, turns=(*space.turns, turn))


def count_pointing(space: ActionSpace, decisions: tuple[int, ...]) -> set[str]:
    """The productions that need an earlier turn, among decisions."""
    names = (space.grammar.productions[a] for kind, a in map(space.locate, decisions) if kind == PRODUCTION)
    return {name for name in names if name in POINTING}
