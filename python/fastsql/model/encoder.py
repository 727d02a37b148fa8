"""The BERT encoder (Devlin et al., 2019): tokens in, one state per token out.

`NumpyEncoder` is the reference; `onnx_encoder.py` has the same function in ONNX Runtime.
Texts come in groups of equal length, so that nothing is padded and nothing masked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fastsql.model.attention import Array, Part, attention
from fastsql.model.config import EncoderConfig

Ids = NDArray[np.int32]

EPSILON = 1e-12
"""Of its layer norms."""
TOKENS_AT_ONCE = 4096
"""Tokens of schema texts that are encoded in one call, so that memory does not grow with the schema."""


class Encoder(Protocol):
    """What the model asks of an encoder."""

    def encode(self, ids: Ids) -> Array:
        """Ids int32[texts, tokens], with [CLS] and [SEP], to states float32[texts, tokens, hidden]."""
        ...


class NumpyEncoder:
    """The encoder in NumPy."""

    def __init__(self, config: EncoderConfig, weights: Part, word: WordTable) -> None:
        self.config = config
        self.weights = weights
        self.word = word

    def encode(self, ids: Ids) -> Array:
        """See `Encoder.encode`."""
        x = self._embed(ids)
        for index in range(self.config.layers):
            x = encoder_layer(self.weights.at(f"layers.{index}"), x, self.config.heads)
        return x

    def _embed(self, ids: Ids) -> Array:
        x = self.word.rows(ids) + self.weights["position.weight"][: ids.shape[1]]
        return self.weights.norm("norm", x, EPSILON)


class WordTable:
    """Word embeddings, kept as they are stored: int8[vocabulary, hidden] and a scale for every word."""

    def __init__(self, quantised: NDArray[np.int8], scale: Array) -> None:
        self.quantised = quantised
        self.scale = scale

    def rows(self, ids: Ids) -> Array:
        """float32[.., hidden], the embeddings of some words."""
        return self.quantised[ids].astype(np.float32) * self.scale[ids][..., None]


def encode_groups(encoder: Encoder, groups: Sequence[Ids]) -> Array:
    """The mean state of every text of all groups, float32[texts, hidden]."""
    means = []
    for group in groups:
        count = max(1, TOKENS_AT_ONCE // group.shape[1])
        means += [
            encoder.encode(group[start : start + count]).mean(axis=1) for start in range(0, len(group), count)
        ]
    return np.concatenate(means)


def encoder_layer(layer: Part, x: Array, heads: int) -> Array:
    """A post-norm layer over texts x [texts, tokens, hidden]."""
    texts, tokens, _ = x.shape
    qkv = layer.linear("qkv", x).reshape(texts, tokens, 3, heads, -1)
    query, key, value = qkv.transpose(2, 0, 3, 1, 4)  # [texts, heads, tokens, e] each
    mixed = attention(query, key, value).transpose(0, 2, 1, 3).reshape(x.shape)
    x = layer.norm("attention_norm", x + layer.linear("out", mixed), EPSILON)
    return layer.norm("ffn_norm", x + layer.linear("ffn_out", gelu(layer.linear("ffn_in", x))), EPSILON)


def gelu(x: Array) -> Array:
    """The Gaussian error linear unit in its tanh form (Hendrycks and Gimpel, 2016)."""
    inner = np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)
    y: Array = np.float32(0.5) * x * (1 + np.tanh(inner))
    return y
