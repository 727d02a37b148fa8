"""The action decoder in torch, all decisions of a batch at once (teacher forcing)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.grammar.actions import (
    CANDIDATE,
    COLUMN,
    END,
    KINDS,
    POINTERS,
    SCHEMA_VALUE,
    START,
    STEP,
    TABLE,
    WEIGHT_NAMES,
)
from fastsql.linking.nodes import NodeLayout
from fastsql.model.config import ModelConfig
from fastsql.training.network.attention import additive_mask, attention
from fastsql.training.network.dropout import Dropout


class DecoderLayer(nn.Module):
    """Pre-norm layer: attention to earlier decisions, to the graph's rows, and a feed-forward net."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d
        self.heads = config.heads
        self.self_norm = nn.LayerNorm(d)
        self.self_qkv = nn.Linear(d, 3 * d)
        self.self_out = nn.Linear(d, d)
        self.cross_norm = nn.LayerNorm(d)
        self.cross_query = nn.Linear(d, d)
        self.cross_kv = nn.Linear(d, 2 * d)
        self.cross_out = nn.Linear(d, d)
        self.ffn_norm = nn.LayerNorm(d)
        self.ffn_in = nn.Linear(d, config.ffn)
        self.ffn_out = nn.Linear(config.ffn, d)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, causal: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """X [B, D, d], memory [B, N, d]; the masks are 0 or -inf, [D, D] and [B, 1, 1, N]."""
        query, key, value = self._heads(self.self_qkv(self.self_norm(x)), 3)
        states = attention(query, key, value, causal)
        x = x + self.dropout(self.self_out(states.transpose(1, 2).flatten(2)))

        (query,) = self._heads(self.cross_query(self.cross_norm(x)), 1)
        key, value = self._heads(self.cross_kv(memory), 2)
        states = attention(query, key, value, memory_mask)
        x = x + self.dropout(self.cross_out(states.transpose(1, 2).flatten(2)))

        hidden = F.relu(self.ffn_in(self.ffn_norm(x)))
        output: Tensor = x + self.dropout(self.ffn_out(hidden))
        return output

    def _heads(self, x: Tensor, parts: int) -> Tensor:
        batch, rows, _ = x.shape
        return x.view(batch, rows, parts, self.heads, -1).permute(2, 0, 3, 1, 4)


class Decoder(nn.Module):
    """Embeds what was decided, runs the layers and scores every action of the flat layout."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d
        self.d = d
        # Two more productions: none (the action was a pointer) and start.
        self.production = nn.Embedding(config.n_productions + 2, d)
        self.kind = nn.Embedding(len(KINDS) + 1, d)
        self.row = nn.Linear(d, d)
        self.symbol = nn.Embedding(config.n_symbols, d)
        self.parent = nn.Embedding(config.n_productions + 1, d)
        self.position = nn.Embedding(config.max_steps, d)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = nn.LayerNorm(d)
        self.production_scores = nn.Linear(d, config.n_productions)
        self.pointer_query = nn.Linear(d, len(POINTERS) * d)
        self.pointer_key = nn.ModuleDict(
            {WEIGHT_NAMES[kind]: nn.Linear(d, d, bias=False) for kind in POINTERS}
        )
        self.dropout = Dropout(config.dropout)
        for embedding in (self.production, self.kind, self.symbol, self.parent):
            nn.init.normal_(embedding.weight, std=0.1)
        with torch.no_grad():
            self.position.weight.copy_(0.1 * _sinusoids(config.max_steps, d))

    def forward(
        self,
        previous: tuple[Tensor, Tensor, Tensor],
        symbols: Tensor,
        parents: Tensor,
        memory: Tensor,
        memory_mask: Tensor,
        nodes: NodeLayout,
        values: Tensor,
    ) -> Tensor:
        """Scores float[B, D, A] of all actions, legal or not.

        `previous` is (kind, production, row), int64[B, D] each (see `Batch`); `memory` [B, N, d] holds
        the states of `nodes`; `values` [W, d] are the schema values.
        """
        batch, steps = symbols.shape
        kind, production, row = previous
        rows = torch.cat(
            [memory, values.expand(batch, -1, -1).to(memory.dtype), memory.new_zeros(batch, 1, self.d)], dim=1
        )
        pointed = rows.gather(1, row[:, :, None].expand(-1, -1, self.d))
        x = (
            self.production(production)
            + self.kind(kind)
            + self.row(pointed)
            + self.symbol(symbols)
            + self.parent(parents)
            + self.position.weight[:steps]
        )
        x = self.dropout(x)
        earlier = torch.ones(steps, steps, dtype=torch.bool, device=x.device).tril()
        causal = additive_mask(earlier, memory.dtype)
        for layer in self.layers:
            x = layer(x, causal, memory, memory_mask)
        x = self.norm(x)

        targets = {
            TABLE: memory[:, nodes.tables],
            COLUMN: memory[:, nodes.columns],
            CANDIDATE: memory[:, nodes.candidates],
            SCHEMA_VALUE: values[None],
            START: memory[:, nodes.tokens],
            END: memory[:, nodes.tokens],
            STEP: x,
        }
        queries = (self.pointer_query(x) * self.d**-0.5).split(self.d, dim=-1)
        scores = [self.production_scores(x)]
        for pointer, query in zip(POINTERS, queries, strict=True):
            keys: Tensor = self.pointer_key[WEIGHT_NAMES[pointer]](targets[pointer])
            scores.append(query @ keys.transpose(-1, -2))
        return torch.cat(scores, dim=-1)


def _sinusoids(count: int, d: int) -> Tensor:
    """float[count, d] sine and cosine waves of growing length (Vaswani et al., 2017), to start positions from."""
    angles = torch.arange(count)[:, None] * torch.exp(torch.arange(0, d, 2) * (-math.log(10_000.0) / d))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
