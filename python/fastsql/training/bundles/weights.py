"""The weights of a bundle, as training takes them."""

from __future__ import annotations

from pathlib import Path

import torch

from fastsql.model.bundle import open_bundle
from fastsql.model.weights import WORD, dequantise


def bundle_weights(path: str | Path) -> dict[str, torch.Tensor]:
    """Every weight of a bundle in float32, by its parameter's name in `fastsql.training.network.model.Model`."""
    file = open_bundle(path).weights()
    weights = {**file.read(encoder=True), WORD: dequantise(*file.words())}
    return {name: torch.from_numpy(array) for name, array in weights.items()}
