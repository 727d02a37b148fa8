"""The check that a bundle decides as the trained model does: decision by decision along gold, then by search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from fastsql.grammar.actions import NO_ACTION, STEP
from fastsql.model import load_bundle
from fastsql.model.attention import Array
from fastsql.model.model import Model as Reference
from fastsql.model.model import SchemaState
from fastsql.schema import Schema
from fastsql.training.batches.batch import Instance, collate, instance_layout, shared_actions
from fastsql.training.bundles.export import load_trained
from fastsql.training.bundles.search_agreement import SearchAgreement, compare_searches
from fastsql.training.network.model import Model

COMPARED_AT_ONCE = 16


def check_bundle(
    bundle: str | Path, schema: Schema, instances: Sequence[Instance], searches: int
) -> tuple[Agreement, SearchAgreement]:
    """Compares the reference pipeline, run from the bundle, with the torch model that has the bundle's weights.

    First decision by decision along gold, then by what their beam searches find on their own for the first `searches`.
    """
    reference, trained = load_bundle(bundle), load_trained(bundle)
    state = reference.encode_schema(schema)
    questions = [instance.prepared for instance in instances[:searches]]
    return (
        compare(trained, reference, state, instances),
        compare_searches(trained, reference, schema, state, questions),
    )


@dataclass(frozen=True)
class Agreement:
    """How a bundle's decisions compare with a model's, given the gold decisions before each.

    `same` of `examples` agree in every decision; `decisions` of all `of_decisions` do. `worst` is the largest
    difference of a legal action's log-probability.
    """

    examples: int
    same: int
    decisions: int
    of_decisions: int
    worst: float


@torch.no_grad()
def compare(
    model: Model, reference: Reference, schema: SchemaState, instances: Sequence[Instance]
) -> Agreement:
    """Decide every step of `instances` with both models; the torch model is left in evaluation mode."""
    model.eval()
    ids = (reference.tokenizer.cls, reference.tokenizer.sep)
    same = decisions = of_decisions = 0
    worst = 0.0
    for start in range(0, len(instances), COMPARED_AT_ONCE):
        some = instances[start : start + COMPARED_AT_ONCE]
        batch = collate(some, schema.inputs, model.config, ids)
        scores = model(batch).float().cpu().numpy()
        for padded, instance in zip(scores, some, strict=True):
            own = instance_layout(instance, schema.inputs, model.config)
            places, padded_places = shared_actions(
                own, batch.layout, instance.entries, batch.entries.shape[1]
            )
            legal = instance.trace.legal[:, places]
            theirs = _log_probabilities(padded[: len(legal), padded_places], legal)
            ours = _log_probabilities(teacher_forced(reference, schema, instance)[:, places], legal)
            equal = theirs.argmax(axis=1) == ours.argmax(axis=1)
            same += bool(equal.all())
            decisions += int(equal.sum())
            of_decisions += len(equal)
            worst = max(worst, float(np.abs(theirs[legal] - ours[legal]).max()))
    return Agreement(len(instances), same, decisions, of_decisions, worst)


def teacher_forced(reference: Reference, schema: SchemaState, instance: Instance) -> Array:
    """Scores float32[D, A] of the reference for each decision of a trace, given the gold ones before it."""
    trace = instance.trace
    own = instance_layout(instance, schema.inputs, reference.config)
    steps = own.sizes[STEP] - instance.entries if instance.entries else None
    state = reference.start(reference.encode_question(instance.prepared, schema, steps=steps))
    previous = np.concatenate([[NO_ACTION], trace.actions[:-1]])
    rows = [
        state.step(previous[step : step + 1], trace.symbols[step : step + 1], trace.parents[step : step + 1])[
            0
        ]
        for step in range(len(trace.actions))
    ]
    return np.stack(rows)


def _log_probabilities(scores: Array, legal: NDArray[np.bool_]) -> Array:
    masked = np.where(legal, scores, -np.inf)
    masked = masked - masked.max(axis=1, keepdims=True)
    result: Array = masked - np.log(np.exp(masked).sum(axis=1, keepdims=True))
    return result
