"""Questions after others that have nothing to do with them: a conversation changes its topic, and says so by no sign."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from fastsql.grammar.program import Program, TurnRef
from fastsql.training.corpus.sample import Sample

MOST = 3
"""Unrelated questions that come before one."""


def after_others(samples: Sequence[Sample], share: float, seed: int) -> tuple[Sample, ...]:
    """The samples, of which this `share` is asked after single questions about the same database.

    What comes first in a conversation has no earlier turn any more, and what does not, refers to the same turns as before.
    The same arguments give the same.
    """
    alone: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if not sample.earlier and not sample.pair.interaction:
            alone[sample.pair.db_id].append(sample)
    rng = random.Random(f"{seed}/others")
    return tuple(
        _after(sample, alone[sample.pair.db_id], rng) if rng.random() < share else sample
        for sample in samples
    )


def _after(sample: Sample, others: Sequence[Sample], rng: random.Random) -> Sample:
    said = {sample.pair.question, *(question for question, _ in sample.earlier)}
    drawn = rng.sample(others, min(len(others), rng.randint(1, MOST)))
    first = [(one.pair.question, one.program) for one in drawn if one.pair.question not in said]
    kept = ((question, _moved(program, len(first))) for question, program in sample.earlier)
    return replace(sample, earlier=(*first, *kept), program=_moved(sample.program, len(first)))


def _moved(program: Program, by: int) -> Program:
    """The program with references to turns that lie so much further on."""
    return tuple(TurnRef(one.turn + by) if isinstance(one, TurnRef) else one for one in program)
