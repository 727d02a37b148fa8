"""The dev score: how often greedy decoding would find the gold program, on templates and databases seen and unseen."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from fastsql.grammar.actions import CANDIDATE, START
from fastsql.training.batches.batch import Batch
from fastsql.training.batches.maker import ExampleMaker
from fastsql.training.batches.stream import plan_epoch
from fastsql.training.network.model import Model
from fastsql.training.objectives.decisions import Output, decision_loss

DEV_BATCH = 32


PARTS = {"templates": 1, "examples": 2, "databases": 2}
"""The parts of the dev set, and what each counts in `DevScore.value`: templates that train lacks and templates that it has
(about as in ehrsql2024), and databases that it lacks."""


@dataclass(frozen=True)
class DevScore:
    """Shares of examples with the right program (see `right_programs`), 0 to 1, and the mean loss of a decision.

    A part without examples is None.
    """

    templates: float | None
    examples: float | None
    databases: float | None
    loss: float

    @property
    def value(self) -> float:
        """One number for early stopping."""
        shares = {"templates": self.templates, "examples": self.examples, "databases": self.databases}
        known = [(share, PARTS[name]) for name, share in shares.items() if share is not None]
        return sum(share * weight for share, weight in known) / max(1, sum(weight for _, weight in known))

    def __str__(self) -> str:
        shown = (("seen", self.examples), ("unseen", self.templates), ("new databases", self.databases))
        return " ".join(f"{name} {share:.1%}" for name, share in shown if share is not None)


@dataclass(frozen=True)
class DevPart:
    """Held-out examples in batches; `total` counts those, too, that could not be traced: they are wrong."""

    batches: tuple[Batch, ...]
    total: int

    @classmethod
    def prepare(cls, maker: ExampleMaker, limit: int) -> DevPart:
        """At most `limit` samples of the maker's, the same ones at each call."""
        numbers = list(range(len(maker.samples)))
        random.Random(0).shuffle(numbers)
        chosen = sorted(numbers[:limit]) if limit else sorted(numbers)
        if not chosen:
            return cls((), 0)
        # Every one of them once, however often an epoch of training shows the like.
        sizes = [replace(size, weight=1.0) for size in maker.sizes()]
        plan = plan_epoch([sizes[number] for number in chosen], DEV_BATCH, 4000, random.Random(0))
        batches: list[Batch] = []
        for places in plan:
            members = [chosen[place] for place in places]
            batch, _ = maker.make(members, 0)
            if batch is not None:
                batches.append(batch)
        return cls(tuple(batches), len(chosen))


def right_programs(batch: Batch, output: Output) -> NDArray[np.bool_]:
    """bool[B]: every decision is the gold one, or begins to spell out the candidate that the gold one points at.

    A value that both a dictionary and the question's words offer is the same literal either way. Where the span ends
    is not looked at: that decision comes after one that was not taken.
    """
    best = output.best.cpu().numpy()
    offsets = batch.layout.offsets
    candidate, token = batch.actions - offsets[CANDIDATE], best - offsets[START]
    points = (candidate >= 0) & (candidate < batch.layout.sizes[CANDIDATE])
    spells = points & (token >= 0) & (token < batch.layout.sizes[START])
    rows, steps = np.nonzero(spells & (best != batch.actions))
    first = batch.candidate_weights[rows, candidate[rows, steps]].argmax(axis=1)
    best = best.copy()
    same = first == token[rows, steps]
    best[rows[same], steps[same]] = batch.actions[rows[same], steps[same]]
    right: NDArray[np.bool_] = ((best == batch.actions) | ~batch.decision_mask).all(axis=1)
    return right


def score(model: Model, parts: Mapping[str, DevPart]) -> DevScore:
    """Scores a model (in `eval` mode here, whatever it was before) on the parts, named as in `PARTS`."""
    was_training = model.training
    model.eval()
    shares: dict[str, float | None] = {}
    loss, decisions = 0.0, 0
    with torch.no_grad():
        for name, part in parts.items():
            right = 0
            for batch in part.batches:
                output = decision_loss(model, batch)
                right += int(right_programs(batch, output).sum())
                here = int(batch.decision_mask.sum())
                loss += float(output.loss) * here
                decisions += here
            shares[name] = right / part.total if part.total else None
    model.train(was_training)
    return DevScore(**shares, loss=loss / max(1, decisions))
