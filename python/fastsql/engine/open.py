"""The engine for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.backends import resolve_device
from fastsql.engine.base import Engine
from fastsql.engine.encoders import resolve_encoder
from fastsql.errors import ModelError
from fastsql.model.config import RAT

if TYPE_CHECKING:
    from fastsql.model import Bundle

_MODEL_ENCODERS = {"onnxruntime": "onnx", "numpy": "numpy"}
"""What `Bundle.model` calls them."""


def open_engine(bundle: Bundle, device: str, threads: int, encoder: str = "auto") -> Engine:
    """The engine of a bundle on a device; `threads` 0 leaves their number to the engine.

    Raises ModelError: no such device or encoder here, none for this model, or a file of the bundle is damaged.
    """
    found = resolve_device(device)
    if bundle.config.model.graph != RAT and found != "python":
        return _line_graph(bundle, found, threads, encoder)
    if found == "cuda":
        from fastsql.engine.cuda import CudaEngine

        return CudaEngine(bundle, threads, encoder)
    if found == "cpu":
        from fastsql.engine.native import NativeEngine

        return NativeEngine(bundle, threads, encoder)
    from fastsql.engine.reference import ReferenceEngine

    chosen = resolve_encoder(encoder, found, bundle.weights())
    return ReferenceEngine(bundle.model(_MODEL_ENCODERS[chosen], threads), chosen)


def _line_graph(bundle: Bundle, device: str, threads: int, encoder: str) -> Engine:
    """Of a graph with edges that have states, only the search is native."""
    if device == "cuda":
        raise ModelError(
            f"its graph is {bundle.config.model.graph!r}, which no GPU computes",
            where=str(bundle.path),
            remedy="Use device='auto'.",
        )
    from fastsql.engine.line_graph import LineGraphEngine

    return LineGraphEngine(bundle, resolve_encoder(encoder, "python", bundle.weights()), threads)
