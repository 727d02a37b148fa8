"""What training asks of the graph beside decisions: which parts of the query a word stands in, and which items it names.

Syntactic role prediction (CSS, section 5.2) and graph pruning (LGESQL; Cao et al., ACL 2021, section 3.4). Both read a
node's state and a context vector, by multi-head attention over its neighbours: for a token all nodes, for a schema item the
question's. Their weights are training's alone; no bundle has them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.explanation.roles import ROLES
from fastsql.training.batches.batch import Batch
from fastsql.training.network.attention import attention, heads_first, heads_last
from fastsql.training.network.decoder import Memory
from fastsql.training.network.linear import Linear


class Context(nn.Module):
    """A node's state beside what it attends to: [.., n, 2d]."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = Linear(d, d, bias=False)
        self.key_value = Linear(d, 2 * d, bias=False)
        self.out = Linear(d, d, bias=False)

    def forward(self, nodes: Tensor, neighbours: Tensor, mask: Tensor) -> Tensor:
        """Nodes [B, n, d], neighbours [B, m, d]; `mask` [B, 1, 1, m] is 0 or -inf."""
        (query,) = heads_first(self.query(nodes), 1, self.heads)
        key, value = heads_first(self.key_value(neighbours), 2, self.heads)
        context = self.out(heads_last(attention(query, key, value, mask)))
        return torch.cat([nodes, context.to(nodes.dtype)], dim=-1)


class Auxiliary(nn.Module):
    """The losses of both tasks; one with a weight of 0 is not asked."""

    def __init__(self, d: int, heads: int, roles: float, pruning: float) -> None:
        super().__init__()
        self.weights = {"roles": roles, "pruning": pruning}
        self.token_context, self.item_context = Context(d, heads), Context(d, heads)
        self.roles = Linear(2 * d, len(ROLES))
        self.used = Linear(2 * d, 1)

    def forward(self, memory: Memory, batch: Batch) -> Tensor:
        """The weighted sum of the mean binary cross entropies; 0 where no example of the batch has labels."""
        total = memory.rows.new_zeros(())
        known = torch.from_numpy(batch.known_roles).to(memory.rows.device)
        if not known.any():
            return total
        rows, mask = memory.rows[known], memory.mask[known]
        question, schema = memory.nodes.question, memory.nodes.schema
        if self.weights["roles"]:
            states = self.token_context(rows[:, memory.nodes.tokens], rows, mask)
            labels = torch.from_numpy(batch.token_roles).to(states.device)[known]
            there = (mask[:, 0, 0, memory.nodes.tokens] == 0)[..., None].expand_as(labels)
            total = total + self.weights["roles"] * _cross_entropy(self.roles(states), labels, there)
        if self.weights["pruning"]:
            states = self.item_context(rows[:, schema], rows[:, question], mask[..., question])
            labels = torch.from_numpy(batch.used_items).to(states.device)[known][..., None]
            there = torch.ones_like(labels, dtype=torch.bool)
            total = total + self.weights["pruning"] * _cross_entropy(self.used(states), labels, there)
        return total


def _cross_entropy(scores: Tensor, labels: Tensor, there: Tensor) -> Tensor:
    """Mean over what is there."""
    return F.binary_cross_entropy_with_logits(scores[there].float(), labels[there].float())
