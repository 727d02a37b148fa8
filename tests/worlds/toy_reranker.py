"""A reranker small enough to build in a test: random weights over the toy tokenizer."""

from __future__ import annotations

import numpy as np

from fastsql.grammar import load_grammar
from fastsql.model.attention import Array
from fastsql.reranker.config import RerankerConfig
from fastsql.reverse.source import ITEMS, OTHER

from .toy_model import WORDPIECE


def make_config(**sizes: int) -> RerankerConfig:
    """Small sizes."""
    return RerankerConfig(
        pieces=WORDPIECE.vocabulary,
        symbols=(OTHER, *ITEMS, *load_grammar().productions),
        **{"hidden": 16, "heads": 2, "ffn": 24, "layers": 2, **sizes},
    )


def random_weights(config: RerankerConfig, seed: int = 0) -> dict[str, Array]:
    """Weights large enough that every part shows in the log-odds."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(1.0 if "norm.weight" in name else 0.0, 0.3, shape).astype(np.float32)
        for name, shape in config.shapes().items()
    }
