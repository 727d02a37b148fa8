"""The reverse model in NumPy: the reference, written in the order in which data flows.

A source is encoded once; the decoder then says, after each piece of a question, how likely every next one is. A piece is
written from the vocabulary or copied from the source: one softmax is taken over both (Gu et al., 2016, CopyNet), and what a
piece gets from both is added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.model.attention import Array, Part, softmax
from fastsql.model.encoder import WordTable
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.source import Ints, Kind, Source

_NEVER = np.float32(-1e9)
"""Added to a score that must not count."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Sources, padded to the longest, as the decoder reads them.

    `ids` int32[B, S], -1 where padded; `kinds` int32[B, S]; `mask` [B, S], 0 or `_NEVER`; `copyable` the same for what can
    be copied; `keys` [B, S, d] of copying; `cross` key and value [2, B, h, S, e] of every decoder layer.
    """

    ids: Ints
    kinds: Ints
    mask: Array
    copyable: Array
    keys: Array
    cross: tuple[Array, ...]

    def rows(self, chosen: NDArray[np.intp]) -> Encoded:
        """Some of the sources, in this order; one may come several times."""
        return Encoded(
            self.ids[chosen],
            self.kinds[chosen],
            self.mask[chosen],
            self.copyable[chosen],
            self.keys[chosen],
            tuple(layer[:, chosen] for layer in self.cross),
        )


Memory = tuple[Array, ...]
"""Keys and values [2, B, h, t, e] of every decoder layer for the pieces so far."""


class ReverseNetwork:
    """Encoder, decoder and scores; `words` are the embeddings of word pieces."""

    def __init__(self, config: ReverseConfig, weights: Part, words: WordTable) -> None:
        self.config = config
        self._weights = weights
        self._words = words
        self.output_of = np.full(config.pieces, len(config.outputs), dtype=np.int32)
        """int32[pieces]: the row of the output that writes a piece; the last for those that none does."""
        self.output_of[list(config.outputs)] = np.arange(len(config.outputs))

    def encode(self, sources: Sequence[Source]) -> Encoded:
        """Read sources, at least one."""
        pieces, weights = self.config.pieces, self._weights
        ids, kinds, tables = (
            _padded([getattr(one, name) for one in sources]) for name in ("ids", "kinds", "tables")
        )
        present = np.arange(ids.shape[1]) < np.array([[len(one.ids)] for one in sources])
        worded = weights.linear("source_words", self._words.rows(np.minimum(ids, pieces - 1)))
        symbols = weights["symbols.weight"][np.maximum(ids - pieces, 0)]
        x = np.where((ids < pieces)[..., None], worded, symbols)
        x = x + weights["kinds.weight"][kinds] + weights["tables.weight"][tables]
        x = x + positions(0, ids.shape[1], self.config.d)
        mask = np.where(present, np.float32(0), _NEVER)
        for number in range(self.config.encoder_layers):
            layer = weights.at(f"encoder.layers.{number}")
            query, key, value = self._heads(layer.linear("qkv", layer.norm("attention_norm", x)), 3)
            x = x + layer.linear("out", _attend(query, key, value, mask[:, None, None]))
            x = _feed(layer, x)
        states = weights.at("encoder").norm("norm", x)
        return Encoded(
            np.where(present, ids, -1).astype(np.int32),
            kinds,
            mask,
            np.where(present & (kinds != Kind.SYMBOL), np.float32(0), _NEVER),
            weights.linear("copy.key", states),
            tuple(
                self._heads(weights.linear(f"decoder.layers.{number}.cross.key_value", states), 2)
                for number in range(self.config.decoder_layers)
            ),
        )

    def decode(self, encoded: Encoded, pieces: Ints, memory: Memory | None = None) -> tuple[Array, Memory]:
        """States [B, t, d] behind `pieces` [B, t], and the memory with them added; without one, a question begins."""
        before = 0 if memory is None else memory[0].shape[-2]
        x = self._weights.linear("target_words", self._words.rows(pieces))
        x = x + positions(before, pieces.shape[1], self.config.d)
        rows = np.arange(before + pieces.shape[1])
        causal = np.where(rows <= rows[before:, None], np.float32(0), _NEVER)
        kept = []
        for number, cross in enumerate(encoded.cross):
            layer = self._weights.at(f"decoder.layers.{number}")
            qkv = self._heads(layer.linear("qkv", layer.norm("attention_norm", x)), 3)
            known = qkv[1:] if memory is None else np.concatenate([memory[number], qkv[1:]], axis=-2)
            kept.append(known)
            x = x + layer.linear("out", _attend(qkv[0], known[0], known[1], causal))
            (query,) = self._heads(layer.linear("cross.query", layer.norm("cross_norm", x)), 1)
            x = x + layer.linear("cross.out", _attend(query, cross[0], cross[1], encoded.mask[:, None, None]))
            x = _feed(layer, x)
        return self._weights.at("decoder").norm("norm", x), tuple(kept)

    def scores(self, encoded: Encoded, states: Array, before: Ints) -> tuple[Array, Array]:
        """What may come behind `before` [B, t] with `states` [B, t, d], unnormalised.

        Returns written [B, t, outputs + 1], the last for all pieces that cannot be written, and copied [B, t, S].
        """
        weights = self._weights
        query = weights.linear("copy.query", states) * np.float32(self.config.d**-0.5)
        copied = query @ encoded.keys.swapaxes(-1, -2)
        previous = np.concatenate([np.full_like(encoded.ids[:, :1], -2), encoded.ids[:, :-1]], axis=1)
        follows = weights["copy.follows"][encoded.kinds][:, None]
        copied = copied + (previous[:, None] == before[..., None]) * follows
        copied = copied + (weights["copy.kinds"][encoded.kinds] + encoded.copyable)[:, None]
        return weights.linear("output", states), copied

    def log_probabilities(self, encoded: Encoded, pieces: Ints) -> Array:
        """Log probability of every piece [B, T], each behind those before it."""
        start = np.full((len(pieces), 1), self.config.start, dtype=np.int32)
        before = np.concatenate([start, pieces[:, :-1]], axis=1)
        states, _ = self.decode(encoded, before)
        written, copied = self.scores(encoded, states, before)
        number = self.output_of[pieces]
        others = self.config.pieces - len(self.config.outputs)
        share = (number == len(self.config.outputs)) * np.float32(np.log(max(1, others)))
        chosen = np.take_along_axis(written, number[..., None], axis=-1)[..., 0] - share
        same = encoded.ids[:, None] == pieces[..., None]
        taken = _logsumexp(np.where(same, copied, _NEVER))
        total = np.logaddexp(_logsumexp(written), _logsumexp(copied))
        result: Array = np.logaddexp(chosen, taken) - total
        return result

    def _heads(self, x: Array, parts: int) -> Array:
        """[B, n, parts * d] to [parts, B, h, n, e]."""
        batch, rows, _ = x.shape
        y: Array = x.reshape(batch, rows, parts, self.config.heads, -1).transpose(2, 0, 3, 1, 4)
        return y


def _attend(query: Array, key: Array, value: Array, mask: Array) -> Array:
    """Query [B, h, n, e] over key and value [B, h, m, e], the mask added to the scores: [B, n, h * e]."""
    scores = query @ key.swapaxes(-1, -2) * np.float32(query.shape[-1] ** -0.5) + mask
    mixed = softmax(scores) @ value
    batch, heads, rows, width = mixed.shape
    y: Array = mixed.transpose(0, 2, 1, 3).reshape(batch, rows, heads * width)
    return y


def _feed(layer: Part, x: Array) -> Array:
    inner = np.maximum(layer.linear("ffn_in", layer.norm("ffn_norm", x)), 0)
    y: Array = x + layer.linear("ffn_out", inner)
    return y


def positions(first: int, count: int, d: int) -> Array:
    """Sines and cosines of positions from `first` on (Vaswani et al., 2017), float32[count, d]."""
    steps = np.exp(np.arange(0, d, 2) * (-np.log(10_000.0) / d))
    angles = np.arange(first, first + count)[:, None] * steps
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def _logsumexp(scores: Array) -> Array:
    largest = scores.max(axis=-1, keepdims=True)
    y: Array = np.log(np.exp(scores - largest).sum(axis=-1)) + largest[..., 0]
    return y


def _padded(rows: Sequence[Ints]) -> Ints:
    table = np.zeros((len(rows), max(map(len, rows))), dtype=np.int32)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
