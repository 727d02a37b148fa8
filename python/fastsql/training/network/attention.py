"""The algebra of `fastsql.model.attention` in torch: heads, attention, relations. Linear maps and norms are torch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

NOT_SEEN = -50.0
"""See `fastsql.model.attention`."""


def heads_first(x: Tensor, parts: int, heads: int) -> Tensor:
    """[.., rows, parts * heads * e] to [parts, .., heads, rows, e]."""
    return x.view(*x.shape[:-1], parts, heads, -1).movedim(-3, 0).transpose(-3, -2)


def heads_last(x: Tensor) -> Tensor:
    """[.., heads, rows, e] to [.., rows, heads * e], the inverse of `heads_first` for one part."""
    return x.transpose(-3, -2).flatten(-2)


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Query [.., n, e], key and value [.., m, e]; `mask` is added to the scores (0 or -inf). Returns [.., n, e].

    On short rows and a CPU this is several times faster, backward above all, than torch's fused kernel, which is made
    for long ones. On a GPU that is one launch instead of five.
    """
    if query.is_cuda:
        return F.scaled_dot_product_attention(
            query, key, value, None if mask is None else mask.to(query.dtype)
        )
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2)
    if mask is not None:
        scores = scores + mask.to(scores.dtype)
    return torch.softmax(scores, dim=-1) @ value


def additive_mask(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where `allowed` bool is true, -inf elsewhere."""
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill(~allowed, -torch.inf)


class LocalEdges(NamedTuple):
    """What the first half of the heads is limited to, and has E keys and values of its own for (LGESQL's local view).

    `seen` bool[1 or B, 1, n, m]; `rows` and `places` int64[E] count rows [B * n] and cells [B * n * m]; the edges' `key` and
    `value` are [E, e].
    """

    seen: Tensor
    rows: Tensor
    places: Tensor
    key: Tensor
    value: Tensor

    def limit(self, scores: Tensor, query: Tensor) -> Tensor:
        """Scores [B, h, n, m] of queries [B, h, n, e], limited to what is seen, with what the edges say added."""
        local, other = scores.tensor_split(2, dim=1)
        half = local.shape[1]
        queries = query[:, :half].movedim(1, 2).flatten(0, 1)[self.rows]
        said = (queries * self.key[:, None].to(queries.dtype)).sum(dim=-1)
        cells = local.numel() // half
        grid = said.new_zeros(cells, half).index_copy(0, self.places, said)
        grid = grid.view(len(local), *local.shape[2:], half).movedim(-1, 1)
        return torch.cat([(local + grid).masked_fill(~self.seen, NOT_SEEN), other], dim=1)

    def mix(self, mixed: Tensor, weights: Tensor) -> Tensor:
        """What rows have mixed, [B, h, n, e], and the edges' values by attention weights [B, h, n, m]."""
        local, other = mixed.tensor_split(2, dim=1)
        half = local.shape[1]
        shares = weights[:, :half].movedim(1, -1).flatten(0, 2)[self.places]
        values = shares[..., None] * self.value[:, None].to(shares.dtype)
        rows = local.movedim(1, 2).flatten(0, 1).index_add(0, self.rows, values)
        local = rows.view(len(local), local.shape[2], half, -1).movedim(1, 2)
        return torch.cat([local, other], dim=1)


class _SoftmaxWithLogSum(torch.autograd.Function):
    """Scores [.., n, m] to weights [.., n, m] and the log of the sum of exponentials, float32[.., n, 1]."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> tuple[Tensor, Tensor]:
        weights = torch.softmax(scores, dim=-1)
        ctx.save_for_backward(weights)
        ctx.dtype = scores.dtype
        return weights, scores.float().logsumexp(dim=-1, keepdim=True)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        of_weights, of_log_sum = gradients
        (weights,) = ctx.saved_tensors
        found = torch.ops.aten._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        scores: Tensor = found.addcmul_(weights, of_log_sum.to(weights.dtype)).to(ctx.dtype)
        return scores


def softmax_with_log_sum(scores: Tensor) -> tuple[Tensor, Tensor]:
    """The softmax of scores [.., m] over their last axis, and the log of the sum of their exponentials, float32[.., 1].

    As `torch.softmax` beside `torch.logsumexp`, which computes the exponentials anew backward: these are the weights.
    """
    apply: Callable[..., tuple[Tensor, Tensor]] = _SoftmaxWithLogSum.apply
    return apply(scores)


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


def relation_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    relation_key: Tensor,
    relation_value: Tensor,
    relations: Tensor,
    mask: Tensor | None = None,
    local: LocalEdges | None = None,
) -> tuple[Tensor, Tensor]:
    """Relation-aware attention, with the log of each row's sum of exponentials.

    Query [1 or B, h, n, e], scaled already, key and value [1 or B, h, m, e], relations [1 or B, 1, n, m]; `mask` is added to
    the scores. With `local` edges, half of the heads see these alone. Returns [B, h, n, e] and float32[B, h, n, 1].
    """
    scores = query @ key.transpose(-1, -2)
    if mask is not None:
        scores = scores + mask
    scores = scores + relation_scores(query, relation_key, relations)
    if local is not None:
        scores = local.limit(scores, query.expand(len(scores), -1, -1, -1))
    weights, log_sum = softmax_with_log_sum(scores)
    mixed = weights @ value + relation_values(weights, relation_value, relations)
    return mixed if local is None else local.mix(mixed, weights), log_sum


def merge_halves(mixed: Tensor, log_sum: Tensor, other: Tensor, other_log_sum: Tensor) -> Tensor:
    """Attention to the columns of two attentions at once, from what each has mixed and the log of its sum."""
    share = torch.sigmoid(other_log_sum - log_sum).to(mixed.dtype)
    return mixed + share * (other - mixed)
