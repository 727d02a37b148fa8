"""Relation-aware graph attention in torch, batched over questions that share one schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.model.config import ModelConfig
from fastsql.training.network.attention import (
    LocalEdges,
    heads_first,
    heads_last,
    merge_halves,
    relation_attention,
    relation_scores,
    relation_values,
)
from fastsql.training.network.dropout import Dropout
from fastsql.training.network.linear import Linear


class Projected(NamedTuple):
    """Queries, keys and values of n rows, [1 or B, h, n, e] each."""

    query: Tensor  # scaled
    key: Tensor
    value: Tensor


class SchemaRows(NamedTuple):
    """What the layer makes of s schema rows before any question."""

    rows: Tensor  # [1 or B, s, d], the layer's input
    projected: Projected
    mixed: Tensor  # [1 or B, h, s, e], attention of the schema rows to schema rows
    log_sum: Tensor  # [1 or B, h, s, 1], log of the sum of exponentials of that attention


class GraphLayer(nn.Module):
    """Pre-norm layer: relation-aware attention, then a feed-forward net.

    Question rows (B of them: tokens and candidates) attend to themselves and to the schema rows. Schema rows
    attend to schema rows, and in a joint layer to the question's as well.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.scale = (config.d // config.heads) ** -0.5
        self.norm = nn.LayerNorm(config.d)
        self.qkv = Linear(config.d, 3 * config.d)
        self.relation_key = nn.Parameter(torch.randn(config.relations, config.d // config.heads) * 0.02)
        self.relation_value = nn.Parameter(torch.randn(config.relations, config.d // config.heads) * 0.02)
        self.out = Linear(config.d, config.d)
        self.ffn_norm = nn.LayerNorm(config.d)
        self.ffn_in = Linear(config.d, config.ffn)
        self.ffn_out = Linear(config.ffn, config.d)
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        question: Tensor,
        schema: Tensor,
        node_mask: Tensor,
        relations: Tensor,
        item_relations: Tensor,
        schema_relations: Tensor,
        joint: bool,
    ) -> tuple[Tensor, Tensor]:
        """Question [B, q, d], schema [1 or B, s, d]; relations int64 [B, 1, q, q + s], [B, 1, s, q], [1, 1, s, s].

        `node_mask` is 0 or -inf, [B, 1, 1, q]. Returns both kinds of rows; the schema's are still shared by the
        batch ([1, s, d]) unless the layer is joint.
        """
        projected, schema_projected = self._project(question), self._project(schema)
        rows = self.question(question, projected, schema_projected, node_mask, relations)
        read = self.read_schema(schema, schema_projected, schema_relations)
        if joint:
            return rows, self.schema_with_question(read, projected, node_mask, item_relations)
        return rows, self.schema_without_question(read)

    def read_schema(
        self, rows: Tensor, projected: Projected, relations: Tensor, local: LocalEdges | None = None
    ) -> SchemaRows:
        """Attention of schema rows to themselves."""
        return SchemaRows(rows, projected, *self._attend(*projected, relations, local=local))

    def schema_without_question(self, schema: SchemaRows) -> Tensor:
        """The layer's output for schema rows that see schema rows only."""
        return self._finish(schema.rows, schema.mixed)

    def question(
        self,
        rows: Tensor,
        projected: Projected,
        schema: Projected,
        node_mask: Tensor,
        relations: Tensor,
        local: LocalEdges | None = None,
    ) -> Tensor:
        """The layer's output for question rows, which see everything."""
        query, key, value = projected
        n_question = rows.shape[1]
        scores = torch.cat(
            [query @ key.transpose(-1, -2) + node_mask, query @ schema.key.transpose(-1, -2)], dim=-1
        )
        scores = scores + relation_scores(query, self.relation_key, relations)
        if local is not None:
            scores = local.limit(scores, query)
        weights = torch.softmax(scores, dim=-1)
        mixed = weights[..., :n_question] @ value + weights[..., n_question:] @ schema.value
        mixed = mixed + relation_values(weights, self.relation_value, relations)
        return self._finish(rows, mixed if local is None else local.mix(mixed, weights))

    def schema_with_question(
        self,
        schema: SchemaRows,
        question: Projected,
        node_mask: Tensor,
        relations: Tensor,
        local: LocalEdges | None = None,
    ) -> Tensor:
        """The layer's output for schema rows that see schema and question rows.

        Schema to schema is the same for all questions, so the two parts of the softmax are computed apart and put
        together by their logarithmic sums; no [B, s, s] array is made.
        """
        _, key, value = question
        mixed, log_sum = self._attend(schema.projected.query, key, value, relations, node_mask, local)
        return self._finish(schema.rows, merge_halves(schema.mixed, schema.log_sum, mixed, log_sum))

    def _project(self, rows: Tensor) -> Projected:
        query, key, value = heads_first(self.qkv(self.norm(rows)), 3, self.heads)
        return Projected(query * self.scale, key, value)

    def _attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        relations: Tensor,
        mask: Tensor | None = None,
        local: LocalEdges | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attention to a part of the columns, and the log of its sum of exponentials."""
        own = self.relation_key, self.relation_value
        return relation_attention(query, key, value, *own, relations, mask, local)

    def _finish(self, rows: Tensor, mixed: Tensor) -> Tensor:
        rows = rows + self.dropout(self.out(heads_last(mixed)))
        hidden = F.relu(self.ffn_in(self.ffn_norm(rows)))
        output: Tensor = rows + self.dropout(self.ffn_out(hidden))
        return output


class Edges(NamedTuple):
    """What the rows of a batch are to each other: `node_mask` 0 or -inf, [B, 1, 1, q]; relations as a layer takes them."""

    node_mask: Tensor
    relations: Tensor
    item_relations: Tensor
    schema_relations: Tensor


def run_graph(
    layers: Iterable[nn.Module], cached_layers: int, question: Tensor, items: Tensor, edges: Edges
) -> tuple[Tensor, Tensor, Tensor]:
    """The questions' rows and the schema's behind all layers, and the schema's behind the cached ones."""
    cached = items
    for index, layer in enumerate(layers):
        joint = index >= cached_layers
        question, items = layer(question, items, *edges, joint)
        if not joint:
            cached = items
    return question, items, cached
