"""The engine for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.backends import encoder_runtime, resolve_device
from fastsql.engine.base import Engine

if TYPE_CHECKING:
    from fastsql.model import Bundle

_ENCODERS = {"onnxruntime": "onnx", "numpy": "numpy"}


def open_engine(bundle: Bundle, device: str, threads: int) -> Engine:
    """The engine of a bundle on a device; `threads` 0 leaves their number to the engine.

    Raises ModelError: no such device here, or a file of the bundle is damaged.
    """
    found = resolve_device(device)
    if found == "cuda":
        from fastsql.engine.cuda import CudaEngine

        return CudaEngine(bundle, threads)
    if found == "cpu":
        from fastsql.engine.native import NativeEngine

        return NativeEngine(bundle, threads)
    from fastsql.engine.reference import ReferenceEngine

    return ReferenceEngine(bundle.model(_ENCODERS[encoder_runtime()], threads))
