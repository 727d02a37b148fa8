"""Weights between two models of one lineage: what was learnt last, without all that it cost of what was known before.

Training on from a bundle moves its weights along a way on which the loss hardly rises (Wortsman et al. 2022, "Robust
fine-tuning of zero-shot models"): the mean of both ends keeps most of what either is good at. It costs nothing when parsing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fastsql.errors import ModelError
from fastsql.model.bundle import TOKENIZER, Bundle, manifest_digest
from fastsql.training.bundles.deepen import deepened
from fastsql.training.bundles.export import bundle_weights
from fastsql.training.bundles.renumber import with_callings


def mixed_weights(state: Mapping[str, Any], bundle: Bundle, share: float) -> dict[str, torch.Tensor]:
    """`share` of a checkpoint's averaged weights, and the rest of a bundle's: parameter by parameter.

    The checkpoint may have further graph layers, which began as layers that add nothing (`deepened`).

    Raises ValueError for a share that is not between 0 and 1, ModelError for a bundle with another tokenizer, or a model of
    other sizes or another grammar.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is a number from 0 to 1, not {share!r}")
    config, grammar = bundle.config, state["grammar"]
    own = {"named_turns": False, "turn_values": False, "spelled_names": False, **state["model_config"]}
    # No weight depends on these.
    sizes = config.model.to_dict() | {name: own[name] for name in ("turn_values", "spelled_names")}
    if not sizes["named_turns"]:
        sizes["named_turns"] = own["named_turns"]  # a row less, which is made up
    sizes["joint_layers"] = max(
        sizes["joint_layers"], own["joint_layers"]
    )  # layers that add nothing, which are made up
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
    others = deepened(with_callings(bundle_weights(bundle.path), state["ema"]), state["ema"])
    return {name: torch.lerp(others[name], weight.float(), share) for name, weight in state["ema"].items()}


def origin(bundle: Bundle, share: float) -> dict[str, object]:
    """What the settings of a mixed bundle say of that."""
    return {"share": share, "with": bundle.config.name, "manifest": manifest_digest(bundle.path)[:12]}
