"""Earlier turns in torch: what `fastsql.model.turns` computes for one question, for a padded batch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fastsql.model.config import AGES, ENTRY_KINDS, ENTRY_PLACES, ModelConfig
from fastsql.model.turns import ENTRY_FEATURES, TURN_FEATURES
from fastsql.schema.sqltypes import TYPE_CLASSES
from fastsql.training.network.linear import Linear


class Turns(nn.Module):
    """First states of the turns' nodes, and the states of what they offer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d
        self.question = Linear(d, d)
        self.age = nn.Embedding(AGES, d)
        self.usable = nn.Embedding(config.callings, d)
        self.entry_kind = nn.Embedding(len(ENTRY_KINDS), d)
        self.entry_type = nn.Embedding(len(TYPE_CLASSES), d)
        self.entry_place = nn.Embedding(ENTRY_PLACES, d)
        self.entry_norm = nn.LayerNorm(d)
        for embedding in (self.age, self.usable, self.entry_kind, self.entry_type, self.entry_place):
            nn.init.normal_(embedding.weight, std=0.1)

    def first_states(self, pooled: Tensor, features: Tensor) -> Tensor:
        """Pooled questions [B, K, d] and features int64[B, K, 2] to [B, K, d]."""
        states: Tensor = self.question(pooled)
        for name, feature in zip(TURN_FEATURES, features.unbind(-1), strict=True):
            states = states + getattr(self, name)(feature)
        return states

    def entry_states(self, entries: Tensor, turns: Tensor, items: Tensor) -> Tensor:
        """Entries int64[B, E, 5], final states of turns [B, K, d] and of the schema's items [B, S, d] to [B, E, d]."""
        turn, *features, item = entries.unbind(-1)
        d = turns.shape[-1]

        def gather(rows: Tensor, places: Tensor) -> Tensor:
            return rows.gather(1, places[..., None].expand(-1, -1, d))

        # The row behind the items stands for none.
        items = torch.cat([items, items.new_zeros(len(items), 1, d)], dim=1)
        states = gather(turns, turn) + gather(items, torch.where(item < 0, items.shape[1] - 1, item))
        for name, feature in zip(ENTRY_FEATURES, features, strict=True):
            states = states + getattr(self, name)(feature)
        normed: Tensor = self.entry_norm(states)
        return normed


class TurnPointers(nn.Module):
    """The decoder's part: a pointer at a turn as an action that was taken, its query and its key."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.kind = nn.Embedding(1, config.d)
        self.query = Linear(config.d, config.d)
        self.key = Linear(config.d, config.d, bias=False)
        nn.init.normal_(self.kind.weight, std=0.1)
