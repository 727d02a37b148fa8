"""Relation-aware graph attention in torch, batched over questions that share one schema."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.model.config import ModelConfig
from fastsql.training.network.dropout import Dropout


def relation_scores(query: Tensor, relation_key: Tensor, relations: Tensor) -> Tensor:
    """Query [1 or B, h, n, e] times the key [R, e] of each edge's relation [1 or B, 1, n, m]: [B, h, n, m]."""
    by_relation = query @ relation_key.to(query.dtype).T
    batch = max(len(query), len(relations))
    heads, rows, columns = query.shape[1], query.shape[2], relations.shape[-1]
    return by_relation.expand(batch, -1, -1, -1).gather(-1, relations.expand(batch, heads, rows, columns))


def relation_values(weights: Tensor, relation_value: Tensor, relations: Tensor) -> Tensor:
    """Attention weights [.., n, m] summed per relation, times the value embeddings [R, e]: [.., n, e]."""
    mass = weights.new_zeros(*weights.shape[:-1], len(relation_value))
    mass = mass.scatter_add(-1, relations.expand_as(weights), weights)
    return mass @ relation_value.to(mass.dtype)


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
        self.qkv = nn.Linear(config.d, 3 * config.d)
        self.relation_key = nn.Parameter(torch.randn(config.relations, config.d // config.heads) * 0.02)
        self.relation_value = nn.Parameter(torch.randn(config.relations, config.d // config.heads) * 0.02)
        self.out = nn.Linear(config.d, config.d)
        self.ffn_norm = nn.LayerNorm(config.d)
        self.ffn_in = nn.Linear(config.d, config.ffn)
        self.ffn_out = nn.Linear(config.ffn, config.d)
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
        query, key, value = self._project(question)
        schema_query, schema_key, schema_value = self._project(schema)
        n_question = question.shape[1]

        scores = torch.cat(
            [query @ key.transpose(-1, -2) + node_mask, query @ schema_key.transpose(-1, -2)], dim=-1
        )
        scores = scores + relation_scores(query, self.relation_key, relations)
        weights = torch.softmax(scores, dim=-1)
        mixed = weights[..., :n_question] @ value + weights[..., n_question:] @ schema_value
        mixed = mixed + relation_values(weights, self.relation_value, relations)

        scores = schema_query @ schema_key.transpose(-1, -2)
        own, own_sum = self._partial(
            scores + relation_scores(schema_query, self.relation_key, schema_relations),
            schema_value,
            schema_relations,
        )
        if joint:
            # Schema to schema is the same for all questions, so the two parts of the softmax are computed apart
            # and put together by their logarithmic sums; no [B, s, s] array is made.
            scores = schema_query @ key.transpose(-1, -2) + node_mask
            other, other_sum = self._partial(
                scores + relation_scores(schema_query, self.relation_key, item_relations),
                value,
                item_relations,
            )
            share = torch.sigmoid(other_sum - own_sum).to(own.dtype)
            own = own + share * (other - own)
        return self._finish(question, mixed), self._finish(schema, own)

    def _project(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, count, _ = rows.shape
        qkv = self.qkv(self.norm(rows)).view(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return qkv[0] * self.scale, qkv[1], qkv[2]

    def _partial(self, scores: Tensor, value: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Attention over some of the columns: the mixed values, and the log of the sum of exponentials."""
        log_sum = scores.float().logsumexp(dim=-1, keepdim=True)
        weights = torch.softmax(scores, dim=-1)
        return weights @ value + relation_values(weights, self.relation_value, relations), log_sum

    def _finish(self, rows: Tensor, mixed: Tensor) -> Tensor:
        rows = rows + self.dropout(self.out(mixed.transpose(1, 2).flatten(2)))
        hidden = F.relu(self.ffn_in(self.ffn_norm(rows)))
        output: Tensor = rows + self.dropout(self.ffn_out(hidden))
        return output
