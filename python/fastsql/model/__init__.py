"""The model: a NumPy reference of encoder, graph and decoder, and the bundle it is shipped in."""

from __future__ import annotations

from fastsql.model.bundle import Bundle, BundleConfig, load_bundle, open_bundle
from fastsql.model.config import EncoderConfig, ModelConfig
from fastsql.model.model import Model, QuestionState, SchemaState

__all__ = [
    "Bundle",
    "BundleConfig",
    "EncoderConfig",
    "Model",
    "ModelConfig",
    "QuestionState",
    "SchemaState",
    "load_bundle",
    "open_bundle",
]
