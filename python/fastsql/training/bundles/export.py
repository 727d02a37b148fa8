"""From a trained model to a bundle and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

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
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import SCALE, WORD, quantise, weight_shapes
from fastsql.training.bundles.onnx_graph import encoder_graph
from fastsql.training.bundles.replacing import replacing
from fastsql.training.bundles.weights import bundle_weights
from fastsql.training.network.model import Model

QUANTISED_ENTRIES = 2**14
"""Matrices of at least so many entries are stored as int8; below, the gain is not worth the rounding."""

MOST_OF_A_WORD = 31
"""The largest entry of a word's vector as it is stored: 63 values, six bits each or fewer in a compressed file."""


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
    exact: Collection[str] = (),
) -> Path:
    """Write a bundle and return its folder, which is made if need be; a bundle that lies there is replaced as a whole.

    `productions` and `symbols` are the grammar's names, in order; `card` is the content of the README.md; `exact` are names
    of weights that stay as they are, whatever their size.
    """
    config = BundleConfig(name, model.config, tuple(productions), tuple(symbols), settings or {})
    with replacing(folder) as path:
        write_json(path / CONFIG, config.to_dict())
        (path / WEIGHTS).write_bytes(
            save(_stored(model, exact))
        )  # `save_file` would make it readable by its owner only
        (path / ENCODER).write_bytes(encoder_graph(path / WEIGHTS, model.config.encoder))
        (path / TOKENIZER).write_text(tokenizer.json_text, encoding="utf-8")
        (path / CARD).write_text(card or f"# {name}\n", encoding="utf-8")
        write_manifest(path)
        open_bundle(path).weights()  # a mistake shows here, not where the bundle is used
    return Path(folder)


def _stored(model: Model, exact: Collection[str]) -> dict[str, NDArray[Any]]:
    tensors: dict[str, NDArray[Any]] = {}
    state = model.state_dict()
    for weight in weight_shapes(model.config):
        array: Array = np.ascontiguousarray(state[weight].detach().float().cpu().numpy())
        large = array.size >= QUANTISED_ENTRIES and weight not in exact
        if weight == WORD:
            tensors[weight], tensors[weight + SCALE] = quantise(array, MOST_OF_A_WORD)
        elif array.ndim == 2 and large:
            tensors[weight], tensors[weight + SCALE] = quantise(array)
        else:
            tensors[weight] = array
    return tensors


def load_trained(path: str | Path) -> Model:
    """The torch model with a bundle's dequantised weights, in evaluation mode."""
    model = Model(open_bundle(path).config.model)
    model.load_state_dict(bundle_weights(path))
    return model.eval()
