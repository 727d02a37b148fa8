"""The BERT encoder in torch. Texts of all kinds run through its matrices as one long row of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.model.config import EncoderConfig
from fastsql.training.network.attention import additive_mask, attention, heads_first, heads_last
from fastsql.training.network.dropout import Dropout


class EncoderLayer(nn.Module):
    """Post-norm transformer layer (Devlin et al., 2019)."""

    def __init__(self, config: EncoderConfig, dropout: float) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.hidden, 3 * config.hidden)
        self.out = nn.Linear(config.hidden, config.hidden)
        self.attention_norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.ffn_in = nn.Linear(config.hidden, config.ffn)
        self.ffn_out = nn.Linear(config.ffn, config.hidden)
        self.ffn_norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, shapes: Sequence[tuple[int, int]], mask: Tensor | None) -> Tensor:
        """X [tokens, hidden], a concatenation of groups of `shapes` (texts, length); `mask` is the last group's."""
        qkv = self.qkv(x)
        attended, start = [], 0
        for index, (texts, length) in enumerate(shapes):
            group = qkv[start : start + texts * length]
            start += texts * length
            query, key, value = heads_first(group.view(texts, length, -1), 3, self.heads)
            last = index == len(shapes) - 1
            attended.append(heads_last(attention(query, key, value, mask if last else None)).flatten(0, 1))
        x = self.attention_norm(x + self.dropout(self.out(torch.cat(attended))))
        hidden = F.gelu(self.ffn_in(x), approximate="tanh")
        output: Tensor = self.ffn_norm(x + self.dropout(self.ffn_out(hidden)))
        return output


class Encoder(nn.Module):
    """Token and position embeddings, then the layers."""

    def __init__(self, config: EncoderConfig, dropout: float) -> None:
        super().__init__()
        self.word = nn.Embedding(config.vocabulary, config.hidden)
        self.position = nn.Embedding(config.positions, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer(config, dropout) for _ in range(config.layers))
        self.dropout = Dropout(dropout)

    def forward(self, groups: Sequence[Tensor], lengths: Tensor | None = None) -> list[Tensor]:
        """Encode groups of texts, int64[texts, tokens] each, to float[texts, tokens, hidden] each.

        Only the last group may be padded; `lengths` int64[texts] are its texts' own lengths.
        """
        shapes = [(group.shape[0], group.shape[1]) for group in groups]
        x = self._embed(groups)
        mask = None
        if lengths is not None:
            columns = torch.arange(shapes[-1][1], device=x.device)
            mask = additive_mask((columns[None, :] < lengths[:, None])[:, None, None, :], x.dtype)
        for layer in self.layers:
            x = layer(x, shapes, mask)
        states = torch.split(x, [texts * length for texts, length in shapes])
        return [state.view(*shape, -1) for state, shape in zip(states, shapes, strict=True)]

    def _embed(self, groups: Sequence[Tensor]) -> Tensor:
        ids = torch.cat([group.reshape(-1) for group in groups])
        places = [torch.arange(group.shape[1], device=ids.device).repeat(group.shape[0]) for group in groups]
        x = self.word(ids) + self.position(torch.cat(places))
        if torch.is_autocast_enabled(ids.device.type):
            x = x.to(torch.get_autocast_dtype(ids.device.type))
        states: Tensor = self.dropout(self.norm(x))
        return states
