"""Observations as calibration fits them, made up: of schemas trained on and of others, with a second opinion and without."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np

from fastsql.reliability import Evidence
from fastsql.reliability.judges import SecondModels
from fastsql.training.calibration.observe import Observation
from fastsql.training.calibration.questions import (
    AS_WRITTEN,
    FOREIGN,
    FOREIGN_MADE,
    MADE,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
    Question,
)
from fastsql.training.corpus.split import Pair

D = 16
MODELS = SecondModels("a digest", "another")


def observations(number: int = 300) -> list[Observation]:
    """The surer the model, the oftener it is right; unanswerable questions have strange words, a state and no answer."""
    return list(_observations(number))


@cache
def _observations(number: int) -> tuple[Observation, ...]:
    rng = random.Random(0)
    made = []
    for place in range(number):
        part = rng.choice((SEEN, UNSEEN, UNANSWERABLE, MADE))
        refuse = part in (UNANSWERABLE, MADE)
        sequence = rng.gauss(3 if part == SEEN else 1, 2)
        right = not refuse and rng.random() < 1 / (1 + 2.718 ** (-sequence - 1))
        evidence = Evidence(sequence=sequence, margin=rng.gauss(3, 1), strangeness=rng.gauss(4 * refuse, 2))
        looked = replace(evidence, void=float(rng.random() < (0.9 if refuse else 0.1)))
        state = np.array([rng.gauss(refuse and not axis, 1) for axis in range(D)], dtype=np.float32)
        group = f"removed {place % 7}" if part == MADE and place % 2 else f"{part} {place // 2}"
        pair = Pair(str(place), f"{'why' if refuse else 'how many'} {place}", "", "ward")
        kind = group.partition(" ")[0] if part == MADE else ""
        question = Question(pair, part, group, None, kind=kind)
        made.append(Observation(question, evidence, looked, state, 0.3, right))
    asked = [item for item in made if item.question.part == UNANSWERABLE][:20]
    written = [replace(item, question=replace(item.question, part=AS_WRITTEN)) for item in asked]
    return (*made, *written)


def of_parts(*parts: str) -> list[Observation]:
    """Those of some parts."""
    return [item for item in observations() if item.question.part in parts]


def of_other_schemas(number: int = 200) -> list[Observation]:
    """Over six databases: a query of what the question does not say is oftener wrong, and what is not met has no answer."""
    rng = random.Random(1)
    made = []
    for place in range(number):
        refuse = rng.random() < 0.3
        unsaid = float(rng.randrange(3))
        evidence = Evidence(
            sequence=rng.gauss(1, 1),
            strangeness=rng.gauss(6, 1),
            unmet=min(max(rng.gauss(0.3 + 0.5 * refuse, 0.15), 0), 1),
            unsaid=unsaid,
        )
        right = not refuse and rng.random() < (0.9, 0.5, 0.1)[int(unsaid)]
        part, kind = (FOREIGN_MADE, "lacking") if refuse else (FOREIGN, "")
        pair = Pair(str(place), "how many", "", f"shop{place % 6}")
        question = Question(pair, part, f"database shop{place % 6}", None, values=place % 2 == 0, kind=kind)
        state = np.full(D, 5.0, dtype=np.float32)
        made.append(Observation(question, evidence, evidence, state, 0.3, right))
    return made


def seconded() -> list[Observation]:
    """Those over other schemas, with a second opinion: where it is doubtful, the query is wrong."""
    rng = random.Random(2)
    return [_asked_about(item, rng) for item in of_other_schemas()]


def doubted() -> list[Observation]:
    """`observations`, and what becomes with a second opinion of those that the model is not sure of."""
    rng = random.Random(3)
    return [
        replace(item, told=_asked_about(item, rng)) if item.evidence.sequence < 2 else item
        for item in observations()
    ]


def _asked_about(item: Observation, rng: random.Random) -> Observation:
    said = {
        "lead": rng.gauss(3 if item.right else -3, 1),
        "likelihood": rng.gauss(-2 if item.right else -4, 0.5),
    }
    looked = None if item.inspected is None else replace(item.inspected, **said)
    return replace(item, evidence=replace(item.evidence, **said), inspected=looked)
