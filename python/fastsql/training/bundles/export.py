"""From a trained model to a bundle and back, and the check that the bundle decides as the trained model does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save

from fastsql.grammar.compile import load_grammar
from fastsql.model.attention import Array
from fastsql.model.bundle import (
    CARD,
    CONFIG,
    ENCODER,
    TOKENIZER,
    WEIGHTS,
    BundleConfig,
    open_bundle,
    write_json,
    write_manifest,
)
from fastsql.model.decoder import NONE_YET
from fastsql.model.layout import ActionLayout
from fastsql.model.model import Model as Reference
from fastsql.model.model import SchemaState
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import SCALE, WORD, dequantise, quantise, weight_shapes
from fastsql.training.batches.batch import Instance, collate, instance_layout
from fastsql.training.bundles.onnx_graph import encoder_graph
from fastsql.training.network.model import Model

QUANTISED_ENTRIES = 2**14
"""Matrices of at least so many entries are stored as int8; below, the gain is not worth the rounding."""

COMPARED_AT_ONCE = 16


def export_bundle(
    model: Model,
    tokenizer: Tokenizer,
    folder: str | Path,
    *,
    name: str,
    productions: Sequence[str],
    symbols: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    card: str = "",
) -> Path:
    """Write a bundle and return its folder, which is made if need be.

    `productions` and `symbols` are the grammar's names, in order; `card` is the content of the README.md.
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    config = BundleConfig(name, model.config, tuple(productions), tuple(symbols), settings or {})
    write_json(path / CONFIG, config.to_dict())
    (path / WEIGHTS).write_bytes(save(_stored(model)))  # `save_file` would make it readable by its owner only
    (path / ENCODER).write_bytes(encoder_graph(path / WEIGHTS, model.config.encoder))
    (path / TOKENIZER).write_text(tokenizer.json_text, encoding="utf-8")
    (path / CARD).write_text(card or f"# {name}\n", encoding="utf-8")
    write_manifest(path)
    open_bundle(path).weights()  # a mistake shows here, not where the bundle is used
    return path


def _stored(model: Model) -> dict[str, NDArray[Any]]:
    tensors: dict[str, NDArray[Any]] = {}
    state = model.state_dict()
    for weight in weight_shapes(model.config):
        array: Array = np.ascontiguousarray(state[weight].detach().float().cpu().numpy())
        if array.ndim == 2 and (array.size >= QUANTISED_ENTRIES or weight == WORD):
            tensors[weight], tensors[weight + SCALE] = quantise(array)
        else:
            tensors[weight] = array
    return tensors


def bundle_weights(path: str | Path) -> dict[str, torch.Tensor]:
    """Every weight of a bundle in float32, by its parameter's name in `fastsql.training.network.model.Model`."""
    file = open_bundle(path).weights()
    weights = {**file.read(encoder=True), WORD: dequantise(*file.words())}
    return {name: torch.from_numpy(array) for name, array in weights.items()}


_BY_PRODUCTION: tuple[str, ...] = (
    "decoder.production.weight",
    "decoder.parent.weight",
    "decoder.production_scores.weight",
    "decoder.production_scores.bias",
)
_BY_SYMBOL: tuple[str, ...] = ("decoder.symbol.weight",)


def renumbered(path: str | Path, own: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A bundle's weights in the numbering of the grammar of today: rows follow their production's or symbol's name.

    `own` are the weights of a new model, which rows of names that the bundle lacks are taken from. Rows behind the
    last production (none, start) keep their distance from the end.
    """
    config = open_bundle(path).config
    grammar = load_grammar()
    weights = bundle_weights(path)
    for tensors, before, now in (
        (_BY_PRODUCTION, config.productions, grammar.productions),
        (_BY_SYMBOL, config.symbols, grammar.symbols),
    ):
        old = {name: row for row, name in enumerate(before)}
        pairs = [(row, old[name]) for row, name in enumerate(now) if name in old]
        for name in tensors:
            extra = len(own[name]) - len(now)
            here = [row for row, _ in pairs] + [len(now) + row for row in range(extra)]
            there = [row for _, row in pairs] + [len(before) + row for row in range(extra)]
            moved = own[name].detach().clone().cpu()
            if moved.shape[1:] == weights[name].shape[1:]:
                moved[here] = weights[name][there]
                weights[name] = moved
    return weights


def load_trained(path: str | Path) -> Model:
    """The torch model with a bundle's dequantised weights, in evaluation mode."""
    model = Model(open_bundle(path).config.model)
    model.load_state_dict(bundle_weights(path))
    return model.eval()


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
        scores = model.scores(batch).float().cpu().numpy()
        for padded, instance in zip(scores, some, strict=True):
            own = instance_layout(instance, schema.inputs, model.config)
            places, padded_places = shared_actions(own, batch.layout)
            legal = instance.trace.legal[:, places]
            theirs = _log_probabilities(padded[: len(legal), padded_places], legal)
            ours = _log_probabilities(teacher_forced(reference, schema, instance)[:, places], legal)
            equal = theirs.argmax(axis=1) == ours.argmax(axis=1)
            same += bool(equal.all())
            decisions += int(equal.sum())
            of_decisions += len(equal)
            worst = max(worst, float(np.abs(theirs[legal] - ours[legal]).max()))
    return Agreement(len(instances), same, decisions, of_decisions, worst)


def shared_actions(own: ActionLayout, padded: ActionLayout) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Flat numbers in both layouts of the actions that both have."""
    pairs = [
        (own.offsets[kind] + np.arange(width), padded.offsets[kind] + np.arange(width))
        for kind, width in enumerate(map(min, own.sizes, padded.sizes))
    ]
    return np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs])


def teacher_forced(reference: Reference, schema: SchemaState, instance: Instance) -> Array:
    """Scores float32[D, A] of the reference for each decision of a trace, given the gold ones before it."""
    trace = instance.trace
    state = reference.start(reference.encode_question(instance.prepared, schema))
    previous = np.concatenate([[NONE_YET], trace.actions[:-1]])
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
