"""The BERT encoder in torch. Texts of all kinds run through its matrices as one long row of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.model.config import EncoderConfig
from fastsql.training.network.attention import additive_mask, attention, heads_first, heads_last
from fastsql.training.network.bins import Bins
from fastsql.training.network.dropout import Dropout
from fastsql.training.network.linear import Linear


class EncoderLayer(nn.Module):
    """Post-norm transformer layer (Devlin et al., 2019)."""

    def __init__(self, config: EncoderConfig, dropout: float) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = Linear(config.hidden, 3 * config.hidden)
        self.out = Linear(config.hidden, config.hidden)
        self.attention_norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.ffn_in = Linear(config.hidden, config.ffn)
        self.ffn_out = Linear(config.ffn, config.hidden)
        self.ffn_norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, shapes: Sequence[tuple[int, int]], masks: Sequence[Tensor | None]) -> Tensor:
        """X [tokens, hidden], a concatenation of groups of `shapes` (texts, length); `masks` are theirs, added to scores."""
        qkv = self.qkv(x)
        attended, start = [], 0
        for (texts, length), mask in zip(shapes, masks, strict=True):
            group = qkv[start : start + texts * length]
            start += texts * length
            query, key, value = heads_first(group.view(texts, length, -1), 3, self.heads)
            attended.append(heads_last(attention(query, key, value, mask)).flatten(0, 1))
        x = self.attention_norm(x + self.dropout(self.out(torch.cat(attended))))
        hidden = F.gelu(self.ffn_in(x), approximate="tanh")
        output: Tensor = self.ffn_norm(x + self.dropout(self.ffn_out(hidden)))
        return output


CACHED_TOKENS = 500_000
"""Tokens of schemas whose frozen states are kept, at 4 bytes for each of `hidden` numbers; then all are computed anew."""


class Encoder(nn.Module):
    """Token and position embeddings, then the layers.

    The embeddings and the first `frozen` layers keep their weights, and drop nothing out: what they make of a text of a
    schema is computed once.
    """

    def __init__(self, config: EncoderConfig, dropout: float, frozen: int = 0) -> None:
        super().__init__()
        self.frozen = frozen
        self.word = nn.Embedding(config.vocabulary, config.hidden)
        self.position = nn.Embedding(config.positions, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer(config, dropout) for _ in range(config.layers))
        self.dropout = Dropout(dropout)
        self._states: dict[bytes, Tensor] = {}
        self._tokens = 0
        if frozen:
            for part in (self.word, self.position, self.norm, *self.layers[:frozen]):
                part.requires_grad_(False)

    def train(self, mode: bool = True) -> Encoder:
        """As `nn.Module.train`; frozen layers stay in evaluation."""
        super().train(mode)
        for layer in self.layers[: self.frozen]:
            layer.eval()
        return self

    def forward(self, groups: Sequence[Tensor], lengths: Tensor | None = None) -> list[Tensor]:
        """Encode groups of texts, int64[texts, tokens] each, to float[texts, tokens, hidden] each.

        Only the last group may be padded; `lengths` int64[texts] are its texts' own lengths.
        """
        if self.word.weight.is_cuda and not self.frozen:
            return self._in_bins(groups, lengths)
        if self.frozen:
            with torch.no_grad():
                x = self._frozen(groups, lengths)
        else:
            x = self._embed(groups)
        return self._through(self.layers[self.frozen :], x, groups, _last_masked(groups, lengths))

    def _in_bins(self, groups: Sequence[Tensor], lengths: Tensor | None) -> list[Tensor]:
        """What `forward` gives, by fewer and larger products."""
        bins = Bins.of(groups, lengths)
        masks = [_mask(ids, own) for ids, own in zip(bins.padded, bins.lengths, strict=True)]
        return bins.apart(self._through(self.layers, self._embed(bins.padded), bins.padded, masks))

    def _frozen(self, groups: Sequence[Tensor], lengths: Tensor | None) -> Tensor:
        """States behind the frozen layers [tokens, hidden]; those of groups without padding are kept."""
        kept, padded = (groups, []) if lengths is None else (groups[:-1], groups[-1:])
        if self._tokens > CACHED_TOKENS:
            self._forget()
        keys = [[row.tobytes() for row in group.cpu().numpy()] for group in kept]
        new = [[number for number, key in enumerate(rows) if key not in self._states] for rows in keys]
        read = [group[numbers] for group, numbers in zip(kept, new, strict=True) if numbers]
        states = iter(self._lower([*read, *padded], lengths))
        for rows, numbers in zip(keys, new, strict=True):
            if numbers:
                found = next(states).clone()  # not a view of everything that was read
                self._states |= {rows[number]: state for number, state in zip(numbers, found, strict=True)}
                self._tokens += found[..., 0].numel()
        known = [self._states[key] for rows in keys for key in rows]
        return torch.cat([*known, *(state.flatten(0, 1) for state in states)])

    def _load_from_state_dict(self, *arguments: Any) -> None:
        self._forget()
        super()._load_from_state_dict(*arguments)

    def _forget(self) -> None:
        """Drops the states that are kept: other weights make others."""
        self._states, self._tokens = {}, 0

    def _lower(self, groups: Sequence[Tensor], lengths: Tensor | None) -> list[Tensor]:
        """The states of each group behind the frozen layers."""
        if not groups:
            return []
        masks = _last_masked(groups, lengths)
        return self._through(self.layers[: self.frozen], self._embed(groups), groups, masks)

    def _through(
        self, layers: nn.ModuleList, x: Tensor, groups: Sequence[Tensor], masks: Sequence[Tensor | None]
    ) -> list[Tensor]:
        """States [tokens, hidden] of the groups behind some layers, as float[texts, tokens, hidden] each."""
        shapes = [(group.shape[0], group.shape[1]) for group in groups]
        for layer in layers:
            x = layer(x, shapes, masks)
        states = torch.split(x, [group.numel() for group in groups])
        return [state.view(*group.shape, -1) for state, group in zip(states, groups, strict=True)]

    def _embed(self, groups: Sequence[Tensor]) -> Tensor:
        ids = torch.cat([group.reshape(-1) for group in groups])
        places = [torch.arange(group.shape[1], device=ids.device).repeat(group.shape[0]) for group in groups]
        x = self.word(ids) + self.position(torch.cat(places))
        states: Tensor = self.norm(_cast(x))
        return states if self.frozen else self.dropout(states)


def _last_masked(groups: Sequence[Tensor], lengths: Tensor | None) -> list[Tensor | None]:
    """Masks of groups of which the last alone may be padded."""
    masks: list[Tensor | None] = [None] * len(groups)
    if lengths is not None:
        masks[-1] = _mask(groups[-1], lengths)
    return masks


def _mask(ids: Tensor, lengths: Tensor) -> Tensor:
    """What is added to scores of texts [texts, tokens] that are so long: 0 or -inf, [texts, 1, 1, tokens]."""
    columns = torch.arange(ids.shape[1], device=ids.device)
    return additive_mask((columns[None, :] < lengths[:, None])[:, None, None, :], torch.float32)


def _cast(x: Tensor) -> Tensor:
    """X in the type of autocast, where that is on."""
    device = x.device.type
    return x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x
