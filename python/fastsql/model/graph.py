"""Relation-aware attention over question tokens, value candidates, tables and columns.

Rows cost, and the schema's are most of them, so a layer reads the schema once (`GraphLayer.read_schema`, cached for
the layers in which schema rows do not see the question, and for the first that they do) and a question pays for its
own rows. In a joint layer each schema row's softmax over schema and question is put together from the two halves by
their logarithmic sums; the schema's half is the cached one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.model.attention import (
    Array,
    LocalEdges,
    Part,
    heads_first,
    heads_last,
    merge_halves,
    relation_attention,
)
from fastsql.model.config import ModelConfig

if TYPE_CHECKING:
    from fastsql.model.line_graph import SchemaLines

Relations = NDArray[np.uint8]

SCORES_AT_ONCE = 2**23
"""Attention scores that are held in memory at a time where schema rows attend."""


@dataclass(frozen=True, eq=False)
class SchemaRows:
    """What one layer makes of S schema rows before any question: h heads of size e."""

    rows: Array  # [S, d], the layer's input
    query: Array  # [h, S, e], scaled
    key: Array  # [h, S, e]
    value: Array  # [h, S, e]
    mixed: Array  # [h, S, e], attention of the schema rows to schema rows
    log_sum: Array  # [h, S, 1], log of the sum of exponentials of that attention


@dataclass(frozen=True, eq=False)
class SchemaGraph:
    """What the layers make of S schema rows before any question."""

    layers: tuple[SchemaRows, ...]  # of the cached layers, and of the first joint one
    items: Array  # [S, d], after the cached layers
    relations: Relations  # uint8[S, S]
    lines: tuple[SchemaLines, ...] = ()
    """Before each of `layers`, where edges have states (`fastsql.model.lge`)."""


class GraphLayer:
    """Pre-norm layer: relation-aware attention (RAT-SQL, Wang et al., 2020, section 4), then a feed-forward net."""

    def __init__(self, config: ModelConfig, weights: Part) -> None:
        self.heads = config.heads
        self.scale = np.float32((config.d // config.heads) ** -0.5)
        self.weights = weights
        self.relation_key = weights["relation_key"]
        self.relation_value = weights["relation_value"]

    def read_schema(self, rows: Array, relations: Relations, local: LocalEdges | None = None) -> SchemaRows:
        """Attention of schema rows [S, d] to themselves; `relations` uint8[S, S]."""
        query, key, value = self._project(rows)
        mixed, log_sum = self._attend(query, key, value, relations, local)
        return SchemaRows(rows, query, key, value, mixed, log_sum)

    def schema_without_question(self, schema: SchemaRows) -> Array:
        """The layer's output for schema rows that see schema rows only, [S, d]."""
        return self._finish(schema.rows, schema.mixed)

    def question(
        self, rows: Array, schema: SchemaRows, relations: Relations, local: LocalEdges | None = None
    ) -> Array:
        """The layer's output for q question rows [q, d], which see everything; `relations` uint8[N, N], N = q + S."""
        query, key, value = self._project(rows)
        edges = relations[: len(rows)]
        keys, values = (
            np.concatenate([key, schema.key], axis=1),
            np.concatenate([value, schema.value], axis=1),
        )
        mixed, _ = relation_attention(
            query, keys, values, self.relation_key, self.relation_value, edges, local
        )
        return self._finish(rows, mixed)

    def schema_with_question(
        self, schema: SchemaRows, question: Array, relations: Relations, local: LocalEdges | None = None
    ) -> Array:
        """The layer's output for schema rows that see schema and question rows, [S, d]."""
        if not len(question):
            return self.schema_without_question(schema)
        _, key, value = self._project(question)
        edges = relations[len(question) :, : len(question)]
        mixed, log_sum = self._attend(schema.query, key, value, edges, local)
        return self._finish(schema.rows, merge_halves(schema.mixed, schema.log_sum, mixed, log_sum))

    def _project(self, rows: Array) -> tuple[Array, Array, Array]:
        query, key, value = heads_first(
            self.weights.linear("qkv", self.weights.norm("norm", rows)), 3, self.heads
        )
        return query * self.scale, key, value

    def _attend(
        self, query: Array, key: Array, value: Array, relations: Relations, local: LocalEdges | None = None
    ) -> tuple[Array, Array]:
        """Attention to a part of the columns, and the log of its sum of exponentials."""
        # A schema of thousands of columns would need gigabytes if all its rows were taken at once.
        count = max(1, SCORES_AT_ONCE // (self.heads * key.shape[1]))
        weights = self.relation_key, self.relation_value
        blocks = [
            relation_attention(
                query[:, start : start + count],
                key,
                value,
                *weights,
                relations[start : start + count],
                None if local is None else local.block(start, start + count),
            )
            for start in range(0, query.shape[1], count)
        ]
        return np.concatenate([mixed for mixed, _ in blocks], axis=1), np.concatenate(
            [logs for _, logs in blocks], axis=1
        )

    def _finish(self, rows: Array, mixed: Array) -> Array:
        rows = rows + self.weights.linear("out", heads_last(mixed))
        hidden = np.maximum(self.weights.linear("ffn_in", self.weights.norm("ffn_norm", rows)), 0)
        return rows + self.weights.linear("ffn_out", hidden)


class Graph:
    """All layers: the encoder `rat`."""

    layers: Sequence[GraphLayer]
    layer_class: type[GraphLayer] = GraphLayer

    def __init__(self, config: ModelConfig, weights: Part) -> None:
        self.cached_layers = config.cached_layers
        count = config.cached_layers + config.joint_layers
        self.layers = [self.layer_class(config, weights.at(f"graph.{index}")) for index in range(count)]

    def read_schema(self, rows: Array, relations: Relations) -> SchemaGraph:
        """First states of a schema's rows [S, d] through the layers that no question changes; `relations` uint8[S, S]."""
        layers, items = [], rows
        for layer in self.layers[: self.cached_layers]:
            layers.append(layer.read_schema(items, relations))
            items = layer.schema_without_question(layers[-1])
        if self.cached_layers < len(self.layers):
            layers.append(self.layers[self.cached_layers].read_schema(items, relations))
        return SchemaGraph(tuple(layers), items, relations)

    def read(self, rows: Array, schema: SchemaGraph, relations: Relations) -> tuple[Array, Array]:
        """A question's rows [q, d] and the schema's [S, d] behind all layers; `relations` uint8[N, N], N = q + S."""
        items = schema.items
        for index, layer in enumerate(self.layers):
            # The first layers are cached; a second joint layer sees schema rows that this question has changed.
            cached = index < len(schema.layers)
            read = schema.layers[index] if cached else layer.read_schema(items, schema.relations)
            if index >= self.cached_layers:
                items = layer.schema_with_question(read, rows, relations)
            rows = layer.question(rows, read, relations)
        return rows, items
