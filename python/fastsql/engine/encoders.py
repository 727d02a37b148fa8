"""Which encoder reads the texts: the device's own, or the graph of the bundle in ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.backends import ENCODERS, encoder_runtime
from fastsql.errors import ModelError

if TYPE_CHECKING:
    from fastsql.model.weights import WeightFile

_OWN = {"cpu": "native", "cuda": "native", "python": "numpy"}
"""Of each device."""


def resolve_encoder(encoder: str, device: str, weights: WeightFile) -> str:
    """What `encoder` stands for on a device: "native", "numpy" or "onnxruntime".

    "auto" is the device's own, except that "python" takes ONNX Runtime where that is installed. Where a bundle's weights
    hold no encoder, it is ONNX Runtime.

    Raises ModelError: no such encoder, none of that device, or none in this bundle.
    """
    own = _OWN[device]
    if encoder not in ENCODERS:
        choices = ", ".join(map(repr, ENCODERS))
        raise ModelError(f"unknown encoder {encoder!r}", where="encoder", remedy=f"Use one of {choices}.")
    if encoder == "auto":
        if not weights.has_encoder or (device == "python" and encoder_runtime() == "onnxruntime"):
            return "onnxruntime"
        return own
    if encoder not in (own, "onnxruntime"):
        raise ModelError(
            f"the device {device!r} has no encoder {encoder!r}",
            where="encoder",
            remedy=f"Use 'auto', {own!r} or 'onnxruntime'.",
        )
    if encoder == own and not weights.has_encoder:
        raise ModelError(
            f"it holds no encoder for {encoder!r}",
            where=str(weights.path),
            remedy="Use encoder='onnxruntime', which reads the bundle's encoder.onnx.",
        )
    return encoder
