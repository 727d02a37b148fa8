"""The algebra that all parts of the model share: linear maps, layer norm, attention, relations.

Everything is float32. A weight has the shape of its PyTorch parameter: a linear map is [out, in].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Weights = Mapping[str, Array]


class Part:
    """The weights below one name: `part("norm")` finds "graph.0.norm.weight" for the part "graph.0."."""

    def __init__(self, weights: Weights, prefix: str = "") -> None:
        self._weights = weights
        self._prefix = prefix

    def at(self, name: str) -> Part:
        """The part below this one."""
        return Part(self._weights, f"{self._prefix}{name}.")

    def __getitem__(self, name: str) -> Array:
        return self._weights[self._prefix + name]

    def linear(self, name: str, x: Array) -> Array:
        """X [.., in] to [.., out]."""
        y: Array = x @ self[f"{name}.weight"].T
        bias = self._weights.get(f"{self._prefix}{name}.bias")
        return y if bias is None else y + bias

    def norm(self, name: str, x: Array, epsilon: float = 1e-5) -> Array:
        """Layer norm over the last axis (Ba et al., 2016)."""
        centred = x - _mean(x)
        variance = _mean(np.square(centred))
        y: Array = (
            centred / np.sqrt(variance + np.float32(epsilon)) * self[f"{name}.weight"] + self[f"{name}.bias"]
        )
        return y


def _mean(x: Array) -> Array:
    """That of the last axis, which ndarray.mean takes three times as long to find for a short one."""
    mean: Array = _sum(x) / np.float32(x.shape[-1])
    return mean


def _sum(x: Array) -> Array:
    total: Array = np.add.reduce(x, axis=-1, keepdims=True)
    return total


def heads_first(x: Array, parts: int, heads: int) -> Array:
    """[rows, parts * heads * e] to [parts, heads, rows, e]."""
    y: Array = x.reshape(len(x), parts, heads, x.shape[1] // (parts * heads)).transpose(1, 2, 0, 3)
    return y


def heads_last(x: Array) -> Array:
    """[heads, rows, e] to [rows, heads * e], the inverse of `heads_first` for one part."""
    y: Array = x.transpose(1, 0, 2).reshape(x.shape[1], x.shape[0] * x.shape[2])
    return y


def softmax(scores: Array) -> Array:
    """Softmax over the last axis, which must not be empty."""
    top: Array = np.maximum.reduce(scores, axis=-1, keepdims=True)
    raised = np.exp(scores - top)
    weights: Array = raised / _sum(raised)
    return weights


def softmax_of_groups(scores: Array, starts: NDArray[np.intp]) -> Array:
    """Softmax over runs of the first axis, none of them empty, which begin at `starts`."""
    lengths = np.diff(starts, append=len(scores))
    raised: Array = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths, axis=0))
    shares: Array = raised / np.repeat(np.add.reduceat(raised, starts), lengths, axis=0)
    return shares


def attention(query: Array, key: Array, value: Array) -> Array:
    """Query [.., n, e], key and value [.., m, e]: every row of the query mixes all values, [.., n, e]."""
    scores = query @ key.swapaxes(-1, -2) * np.float32(query.shape[-1] ** -0.5)
    mixed: Array = softmax(scores) @ value
    return mixed


NOT_SEEN = np.float32(-50.0)
"""The score of what a head does not see: its share is nothing, and yet a row that sees nothing here has a sum to merge."""


@dataclass(frozen=True, eq=False)
class LocalEdges:
    """What the first half of the heads is limited to, and has E keys and values of its own for (LGESQL's local view).

    `seen` bool[n, m]; the edges' `rows` and `columns` int64[E], rows in order; `key` and `value` [E, e].
    """

    seen: NDArray[np.bool_]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    key: Array
    value: Array

    def block(self, start: int, stop: int) -> LocalEdges:
        """That of some of the rows."""
        some = slice(*np.searchsorted(self.rows, (start, stop)))
        return LocalEdges(
            self.seen[start:stop],
            self.rows[some] - start,
            self.columns[some],
            self.key[some],
            self.value[some],
        )

    def limit(self, scores: Array, query: Array) -> None:
        """Limit scores [h, n, m] of queries [h, n, e] to what is seen, and add what the edges say, in place."""
        local = scores[: len(scores) // 2]
        local[:, self.rows, self.columns] += (query[: len(local), self.rows] * self.key).sum(axis=-1)
        local[:, ~self.seen] = NOT_SEEN

    def mix(self, mixed: Array, weights: Array) -> None:
        """Add the edges' values, by attention weights [h, n, m], to what rows have mixed, [h, n, e], in place."""
        for own, shares in zip(mixed[: len(mixed) // 2], weights, strict=False):
            np.add.at(own, self.rows, shares[self.rows, self.columns, None] * self.value)


def relation_scores(query: Array, relation_key: Array, relations: NDArray[np.uint8]) -> Array:
    """Query [h, n, e] times the key [R, e] of each edge's relation, relations uint8[n, m]: [h, n, m].

    Each row meets each relation once, [h, n, R], and the edges pick from that: no array of n x m x e is made.
    """
    by_relation = query @ relation_key.T
    heads, rows, count = by_relation.shape
    flat = relations + np.arange(rows, dtype=np.intp)[:, None] * count
    scores: Array = by_relation.reshape(heads, rows * count)[:, flat.ravel()].reshape(heads, *relations.shape)
    return scores


def relation_values(weights: Array, relation_value: Array, relations: NDArray[np.uint8]) -> Array:
    """Attention weights [h, n, m] summed per relation, times the values [R, e] of the relations: [h, n, e]."""
    heads, rows, _ = weights.shape
    count = len(relation_value)
    bins = relations + np.arange(rows, dtype=np.intp)[:, None] * count
    mass = np.stack([np.bincount(bins.ravel(), head.ravel(), rows * count) for head in weights])
    mixed: Array = mass.reshape(heads, rows, count).astype(np.float32) @ relation_value
    return mixed


def relation_attention(
    query: Array,
    key: Array,
    value: Array,
    relation_key: Array,
    relation_value: Array,
    relations: NDArray[np.uint8],
    local: LocalEdges | None = None,
) -> tuple[Array, Array]:
    """Relation-aware attention (RAT-SQL, Wang et al., 2020, section 4), with the log of each row's sum of exponentials.

    Query [h, n, e], scaled already, key and value [h, m, e], relations uint8[n, m]: [h, n, e] and [h, n, 1]. With `local`
    edges, half of the heads see these alone.
    """
    scores = query @ key.transpose(0, 2, 1) + relation_scores(query, relation_key, relations)
    if local is not None:
        local.limit(scores, query)
    top = scores.max(axis=-1, keepdims=True)
    raised = np.exp(scores - top)
    total = raised.sum(axis=-1, keepdims=True)
    weights = raised / total
    mixed = weights @ value + relation_values(weights, relation_value, relations)
    if local is not None:
        local.mix(mixed, weights)
    return mixed, top + np.log(total)


def merge_halves(mixed: Array, log_sum: Array, other: Array, other_log_sum: Array) -> Array:
    """Attention to the columns of two attentions at once, from what each mixes, [h, n, e], and its log sum, [h, n, 1]."""
    share = 1 / (1 + np.exp(log_sum - other_log_sum))
    merged: Array = mixed + share * (other - mixed)
    return merged
