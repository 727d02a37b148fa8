"""The weights of a bundle as a run starts from them: of today's grammar, and as wide and as deep as the run's model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from fastsql.model.bundle import open_bundle
from fastsql.model.config import ModelConfig
from fastsql.training.bundles.deepen import deepened
from fastsql.training.bundles.renumber import renumbered
from fastsql.training.bundles.widen import widened
from fastsql.training.network.model import Model


def starting_weights(path: str | Path, config: ModelConfig, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A bundle's weights for a new model of `config` with the weights `own`: in their shapes where that can be."""
    bundle = open_bundle(path).config.model
    narrow = replace(config, d=bundle.d, heads=bundle.heads, ffn=bundle.ffn)
    # Rows of productions are put in the order of today's grammar before they grow.
    known = renumbered(path, own if narrow == config else Model(narrow).state_dict())
    return deepened(widened(known, own), own)
