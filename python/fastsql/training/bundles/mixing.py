"""Weights between two models of one lineage: what was learnt last, without all that it cost of what was known before.

Training on from a bundle moves its weights along a way on which the loss hardly rises (Wortsman et al. 2022, "Robust
fine-tuning of zero-shot models"): the mean of both ends keeps most of what either is good at. And what one model learnt
meanwhile, the difference between two versions of it, can be added to another that began from the first (Ilharco et al. 2023,
"Editing models with task arithmetic"). Neither costs anything when parsing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from fastsql.errors import ModelError
from fastsql.model.bundle import TOKENIZER, Bundle, manifest_digest
from fastsql.model.config import ModelConfig
from fastsql.model.weights import WORD
from fastsql.training.bundles.deepen import deepened
from fastsql.training.bundles.renumber import with_callings
from fastsql.training.bundles.weights import bundle_weights
from fastsql.training.bundles.widen import widened
from fastsql.training.network.model import Model


def mixed_weights(state: Mapping[str, Any], bundle: Bundle, share: float) -> dict[str, torch.Tensor]:
    """`share` of a checkpoint's averaged weights, and the rest of a bundle's: parameter by parameter.

    The checkpoint may have further graph layers, heads and hidden units, which began as such that add nothing (`deepened`,
    `widened`).

    Raises ValueError for a share that is not between 0 and 1, ModelError for a bundle with another tokenizer, or a model of
    other sizes or another grammar.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is a number from 0 to 1, not {share!r}")
    config, grammar = bundle.config, state["grammar"]
    own = ModelConfig.from_dict(dict(state["model_config"])).to_dict()
    # No weight depends on these.
    sizes = config.model.to_dict() | {
        name: own[name]
        for name in ("turn_values", "spelled_names", "whole_keys", "dropout", "encoder_dropout")
    }
    if not sizes["named_turns"]:
        sizes["named_turns"] = own["named_turns"]  # a row less, which is made up
    sizes["joint_layers"] = max(
        sizes["joint_layers"], own["joint_layers"]
    )  # layers that add nothing, which are made up
    widths = {name: own[name] for name in ("d", "heads", "ffn")}
    if config.model.grows_to(**widths):
        sizes |= widths  # heads and hidden units that add nothing
    alike = (
        sizes == own
        and list(config.productions) == list(grammar["productions"])
        and list(config.symbols) == list(grammar["symbols"])
        and (bundle.path / TOKENIZER).read_text(encoding="utf-8") == state["tokenizer"]
    )
    if not alike:
        raise ModelError(
            "has other sizes, another tokenizer or another grammar than the checkpoint",
            where=str(bundle.path),
            remedy="Give the bundle that the run was started from.",
        )
    others = with_callings(bundle_weights(bundle.path), state["ema"])
    others = deepened(widened(others, state["ema"]), state["ema"])
    return {name: torch.lerp(others[name], weight.float(), share) for name, weight in state["ema"].items()}


def carried_over(bundle: Bundle, before: Bundle, after: Bundle, share: float) -> Model:
    """The bundle's model with `share` of what another learnt between two versions of it: a start to train on from.

    The bundle began from `before`, maybe in another language: what has another shape there, such as words, stays its own.
    Graph layers that only `after` has come in as layers that added nothing before (`deepened`).

    Raises ValueError for a share that is not between 0 and 1, ModelError for models of other sizes or another grammar.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is a number from 0 to 1, not {share!r}")
    for other in (before, after):
        if _comparable(other) != _comparable(bundle):
            raise ModelError(
                f"has other sizes or another grammar than {bundle.path}",
                where=str(other.path),
                remedy="Give the bundle that this one began from, and a later version of that.",
            )
    newest = bundle_weights(after.path)
    own, earlier = (deepened(bundle_weights(one.path), newest) for one in (bundle, before))
    moved = {
        name: weight + share * (newest[name] - earlier[name])
        for name, weight in own.items()
        if name != WORD and weight.shape == earlier[name].shape == newest[name].shape
    }
    layers = max(one.config.model.joint_layers for one in (bundle, after))
    model = Model(replace(bundle.config.model, joint_layers=layers))
    model.load_state_dict(own | moved)
    return model


def _comparable(bundle: Bundle) -> tuple[object, ...]:
    """What the weights of two models must have in common for a difference of theirs to mean something to a third."""
    model = bundle.config.model
    encoder = replace(model.encoder, vocabulary=1)
    sizes = replace(
        model,
        joint_layers=0,
        named_turns=False,
        spelled_names=False,
        whole_keys=False,
        turn_values=False,
        encoder=encoder,
    )
    return sizes, tuple(bundle.config.productions), tuple(bundle.config.symbols)


def origin(bundle: Bundle, share: float) -> dict[str, object]:
    """What the settings of a mixed bundle say of that."""
    return {"share": share, "with": bundle.config.name, "manifest": manifest_digest(bundle.path)[:12]}
