"""The action decoder in torch, all decisions of a batch at once (teacher forcing)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.grammar.actions import POINTER_KINDS, SCHEMA_VALUE, STEP, TURN, WEIGHT_NAMES
from fastsql.linking.nodes import NodeLayout
from fastsql.model.config import ModelConfig
from fastsql.model.pointing import pointed_nodes
from fastsql.training.network.attention import additive_mask, attention, heads_first, heads_last
from fastsql.training.network.dropout import Dropout
from fastsql.training.network.linear import Linear
from fastsql.training.network.turns import TurnPointers


@dataclass(frozen=True, eq=False)
class Memory:
    """What the decoder reads of B questions: `rows` [B, N, d], the states of `nodes`.

    `mask` [B, 1, 1, N] is 0 or -inf, `value_rows` [W, d] are the schema's, `entry_rows` [B, E, d] what earlier turns offer.
    """

    rows: Tensor
    mask: Tensor
    nodes: NodeLayout
    value_rows: Tensor
    entry_rows: Tensor

    def repeat(self, count: int) -> Memory:
        """One question's memory for `count` hypotheses."""
        return replace(
            self,
            rows=self.rows.expand(count, -1, -1),
            mask=self.mask.expand(count, -1, -1, -1),
            entry_rows=self.entry_rows.expand(count, -1, -1),
        )


class DecoderLayer(nn.Module):
    """Pre-norm layer: attention to earlier decisions, to the graph's rows, and a feed-forward net."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d
        self.heads = config.heads
        self.self_norm = nn.LayerNorm(d)
        self.self_qkv = Linear(d, 3 * d)
        self.self_out = Linear(d, d)
        self.cross_norm = nn.LayerNorm(d)
        self.cross_query = Linear(d, d)
        self.cross_kv = Linear(d, 2 * d)
        self.cross_out = Linear(d, d)
        self.ffn_norm = nn.LayerNorm(d)
        self.ffn_in = Linear(d, config.ffn)
        self.ffn_out = Linear(config.ffn, d)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, causal: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """X [B, D, d], memory [B, N, d]; the masks are 0 or -inf, [D, D] and [B, 1, 1, N]."""
        x = self._attend_to_decisions(x, causal)
        x = self._attend_to_graph(x, memory, memory_mask)
        return self._feed_forward(x)

    def _attend_to_decisions(self, x: Tensor, causal: Tensor) -> Tensor:
        """Attention of every decision to itself and those before it."""
        query, key, value = heads_first(self.self_qkv(self.self_norm(x)), 3, self.heads)
        output: Tensor = x + self.dropout(self.self_out(heads_last(attention(query, key, value, causal))))
        return output

    def _attend_to_graph(self, x: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """Attention of every decision to the graph's rows."""
        (query,) = heads_first(self.cross_query(self.cross_norm(x)), 1, self.heads)
        key, value = heads_first(self.cross_kv(memory), 2, self.heads)
        output: Tensor = x + self.dropout(
            self.cross_out(heads_last(attention(query, key, value, memory_mask)))
        )
        return output

    def _feed_forward(self, x: Tensor) -> Tensor:
        """The feed-forward net of every decision."""
        hidden = F.relu(self.ffn_in(self.ffn_norm(x)))
        output: Tensor = x + self.dropout(self.ffn_out(hidden))
        return output


class Decoder(nn.Module):
    """Embeds what was decided, runs the layers and scores every action of the flat layout."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d
        self.d = d
        # Two more productions: none (the action was a pointer) and start.
        self.production = nn.Embedding(config.n_productions + 2, d)
        self.kind = nn.Embedding(len(WEIGHT_NAMES) + 1, d)
        self.row = Linear(d, d)
        self.symbol = nn.Embedding(config.n_symbols, d)
        self.parent = nn.Embedding(config.n_productions + 1, d)
        self.position = nn.Embedding(config.max_steps, d)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = nn.LayerNorm(d)
        self.production_scores = Linear(d, config.n_productions)
        self.pointer_query = Linear(d, len(POINTER_KINDS) * d)
        self.pointer_key = nn.ModuleDict(
            {WEIGHT_NAMES[kind]: Linear(d, d, bias=False) for kind in POINTER_KINDS}
        )
        self.turn = TurnPointers(config) if config.turns else None
        self.dropout = Dropout(config.dropout)
        for embedding in (self.production, self.kind, self.symbol, self.parent):
            nn.init.normal_(embedding.weight, std=0.1)
        with torch.no_grad():
            self.position.weight.copy_(0.1 * _sinusoids(config.max_steps, d))

    def forward(
        self, previous: tuple[Tensor, Tensor, Tensor], symbols: Tensor, parents: Tensor, memory: Memory
    ) -> Tensor:
        """Scores float[B, D, A] of all actions, legal or not.

        `previous` is (kind, production, row), int64[B, D] each (see `Batch`).
        """
        x = self._embed(previous, symbols, parents, memory)
        steps = symbols.shape[1]
        earlier = torch.ones(steps, steps, dtype=torch.bool, device=x.device).tril()
        causal = additive_mask(earlier, memory.rows.dtype)
        for layer in self.layers:
            x = layer(x, causal, memory.rows, memory.mask)
        return self._scores(self.norm(x), memory)

    def pointer_keys(self, kind: int, rows: Tensor) -> Tensor:
        """What queries of a kind of pointer are compared with, for rows [.., n, d] that it can point at."""
        if kind == TURN and self.turn is not None:
            keys: Tensor = self.turn.key(rows)
        else:
            keys = self.pointer_key[WEIGHT_NAMES[kind]](rows)
        return keys

    def _embed(
        self, previous: tuple[Tensor, Tensor, Tensor], symbols: Tensor, parents: Tensor, memory: Memory
    ) -> Tensor:
        """What is known before each decision, [B, D, d]."""
        batch, steps = symbols.shape
        kind, production, row = previous
        states = memory.rows
        values = memory.value_rows.expand(batch, -1, -1).to(states.dtype)
        entries = memory.entry_rows.to(states.dtype)
        rows = torch.cat([states, values, entries, states.new_zeros(batch, 1, self.d)], dim=1)
        pointed = rows.gather(1, row[:, :, None].expand(-1, -1, self.d))
        x: Tensor = self.dropout(
            self.production(production)
            + self._kind(kind)
            + self.row(pointed)
            + self.symbol(symbols)
            + self.parent(parents)
            + self.position.weight[:steps]
        )
        return x

    def _kind(self, kind: Tensor) -> Tensor:
        """Embeddings of kinds of action; behind the start comes a pointer at a turn."""
        if self.turn is None:
            embedded: Tensor = self.kind(kind)
            return embedded
        return F.embedding(kind, torch.cat([self.kind.weight, self.turn.kind.weight]))

    def _scores(self, x: Tensor, memory: Memory) -> Tensor:
        """Scores of all actions for final states x [B, D, d]."""
        targets = {kind: memory.rows[:, part] for kind, part in pointed_nodes(memory.nodes).items()}
        targets |= {SCHEMA_VALUE: memory.value_rows[None], STEP: x}
        queries = (self.pointer_query(x) * self.d**-0.5).split(self.d, dim=-1)
        scores = [self.production_scores(x)]
        for kind, query in zip(POINTER_KINDS, queries, strict=True):
            scores.append(query @ self.pointer_keys(kind, targets[kind]).transpose(-1, -2))
            if kind == STEP:
                scores.append(query @ self.pointer_keys(STEP, memory.entry_rows).transpose(-1, -2))
        if self.turn is not None:
            scores.append(
                self.turn.query(x) * self.d**-0.5 @ self.pointer_keys(TURN, targets[TURN]).transpose(-1, -2)
            )
        return torch.cat(scores, dim=-1)


def _sinusoids(count: int, d: int) -> Tensor:
    """float[count, d] sine and cosine waves of growing length (Vaswani et al., 2017), to start positions from."""
    angles = torch.arange(count)[:, None] * torch.exp(torch.arange(0, d, 2) * (-math.log(10_000.0) / d))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
