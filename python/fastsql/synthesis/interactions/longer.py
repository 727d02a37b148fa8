"""Longer interactions: related ones put together, each step asked once (EHR-SeqSQL, section 5.2 and appendix C.1).

Two single questions are related where a condition of both has the same value. An interaction grows by one that is
related to any that is in it, until it has enough turns.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from fastsql.grammar import GroundingError, IllegalActionError
from fastsql.grammar.program import Literal, Program
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.interactions.checks import Checker, TurnError
from fastsql.synthesis.interactions.construction import ask_steps
from fastsql.synthesis.interactions.decompose import renumbered
from fastsql.synthesis.interactions.interaction import Interaction
from fastsql.synthesis.schema.words import UnsayableError

COUNT = 100
"""Interactions that are put together."""
LENGTHS = (10, 16)
"""Turns that one has at least: a number between these is drawn, for some 14 on average."""
_ATTEMPTS = 5
_SMALL = 20
"""Whole numbers up to this are counts and ranks, and relate nothing."""


def put_together(
    interactions: Sequence[Interaction],
    schema: Schema,
    *,
    seed: int = 1,
    count: int = COUNT,
    profile: Profile | None = None,
) -> list[Interaction]:
    """At most `count` longer interactions over one schema; the same arguments give the same."""
    values = [_values(one) for one in interactions]
    related: defaultdict[str | int | float, list[int]] = defaultdict(list)
    for number, found in enumerate(values):
        for value in sorted(found, key=repr):
            related[value].append(number)
    rng = random.Random(f"{seed}/longer")
    made: list[Interaction] = []
    for _ in range(count * _ATTEMPTS if interactions else 0):
        if len(made) == count:
            break
        least = rng.randint(*LENGTHS)
        steps = _grown(interactions, values, related, least, rng)
        if len(steps) < least:
            continue
        try:
            turns, _ = ask_steps(steps, Checker(schema), rng, profile)
        except (UnsayableError, GroundingError, IllegalActionError, TurnError):
            continue
        made.append(Interaction(f"longer-{len(made):04d}", interactions[0].db_id, turns))
    return made


def _grown(
    interactions: Sequence[Interaction],
    values: Sequence[frozenset[str | int | float]],
    related: dict[str | int | float, list[int]],
    least: int,
    rng: random.Random,
) -> tuple[Program, ...]:
    """The steps of related interactions, at least so many of them if there are."""
    taken = [rng.randrange(len(interactions))]
    steps: list[Program] = []
    known: dict[str, int] = {}
    while True:
        _add(interactions[taken[-1]], steps, known)
        if len(steps) >= least:
            return tuple(steps)
        near = sorted(
            {other for one in taken for value in values[one] for other in related[value]} - set(taken)
        )
        if not near:
            return tuple(steps)
        taken.append(rng.choice(near))


def _add(interaction: Interaction, steps: list[Program], known: dict[str, int]) -> None:
    """Adds the turns of an interaction that are not there yet."""
    numbers: dict[int, int] = {}
    for number, turn in enumerate(interaction.turns):
        if turn.sql not in known:
            known[turn.sql] = len(steps)
            steps.append(renumbered(turn.program, numbers))
        numbers[number] = known[turn.sql]


def _values(interaction: Interaction) -> frozenset[str | int | float]:
    literals = (one for turn in interaction.turns for one in turn.program if isinstance(one, Literal))
    return frozenset(
        one.value
        for one in literals
        if not one.name
        and not one.format
        and not (isinstance(one.value, int | float) and abs(one.value) <= _SMALL)
    )
