"""The model: a NumPy reference of encoder, graph and decoder, and the bundle it is shipped in."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fastsql.model.bundle import Bundle, BundleConfig, load_bundle, open_bundle
from fastsql.model.config import EncoderConfig, ModelConfig

if TYPE_CHECKING:
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

_LAZY = ("Model", "QuestionState", "SchemaState")
"""Of the reference, which the native core does without: imported when it is asked for."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module("fastsql.model.model"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
