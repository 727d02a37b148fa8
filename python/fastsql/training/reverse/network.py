"""The reverse model in torch, as it is trained; `fastsql.reverse.network` is the same in NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.source import TABLE_MARKS, Kind
from fastsql.training.network.attention import additive_mask, attention, heads_first, heads_last
from fastsql.training.network.dropout import Dropout


@dataclass(frozen=True, eq=False)
class ReverseBatch:
    """Programs and questions, padded: `ids`, `kinds`, `tables` int64[B, S], `pieces` int64[B, T] up to the end piece.

    `length` int64[B] tokens of each source, `written` bool[B, T] the pieces that are no padding.
    """

    ids: Tensor
    kinds: Tensor
    tables: Tensor
    length: Tensor
    pieces: Tensor
    written: Tensor


class ReverseNetwork(nn.Module):
    """Encoder and decoder with layer norm before each part (Xiong et al., 2020), and one softmax over what can be written
    and what can be copied (Gu et al., 2016, CopyNet).
    """

    def __init__(self, config: ReverseConfig, words: Tensor, dropout: float = 0.1) -> None:
        """`words` float32[pieces, words]: the embeddings of word pieces, which stay as they are."""
        super().__init__()
        self.config = config
        d = config.d
        self.words = nn.Embedding(len(words), words.shape[1], _weight=words)
        self.words.weight.requires_grad_(False)
        self.symbols = nn.Embedding(len(config.symbols), d)
        self.kinds = nn.Embedding(len(Kind), d)
        self.tables = nn.Embedding(TABLE_MARKS + 1, d)
        self.source_words = nn.Linear(config.words, d, bias=False)
        self.target_words = nn.Linear(config.words, d, bias=False)
        self.encoder = _Stack(_EncoderLayer(config, dropout) for _ in range(config.encoder_layers))
        self.decoder = _Stack(_DecoderLayer(config, dropout) for _ in range(config.decoder_layers))
        self.output = nn.Linear(d, len(config.outputs) + 1)
        self.copy = _Copy(d)
        self.dropout = Dropout(dropout)
        self.register_buffer("output_of", output_numbers(config), persistent=False)
        self._start()

    output_of: Tensor

    def _start(self) -> None:
        """Embeddings small beside the words'; the output starts from the words, so that likes are likely together."""
        for table in (self.symbols, self.kinds, self.tables):
            nn.init.normal_(table.weight, std=0.5)
        with torch.no_grad():
            nn.init.orthogonal_(self.source_words.weight)
            self.target_words.weight.copy_(self.source_words.weight)
            rows = self.words.weight[list(self.config.outputs)] @ self.source_words.weight.T
            self.output.weight[:-1] = rows * self.config.d**-0.5
            nn.init.normal_(self.output.weight[-1:], std=self.config.d**-0.5)
            nn.init.zeros_(self.output.bias)

    def encode(self, batch: ReverseBatch) -> tuple[Tensor, Tensor]:
        """States of the sources [B, S, d] and the mask of their padding [B, 1, 1, S]."""
        ids, pieces = batch.ids, self.config.pieces
        worded = self.source_words(self.words(ids.clamp(max=pieces - 1)))
        symbols = self.symbols((ids - pieces).clamp(min=0))
        x = torch.where((ids < pieces).unsqueeze(-1), worded, symbols)
        x = x + self.kinds(batch.kinds) + self.tables(batch.tables) + positions(ids.shape[1], self.config.d)
        rows = torch.arange(ids.shape[1])
        mask = additive_mask(rows < batch.length[:, None], x.dtype)[:, None, None]
        return self.encoder(self.dropout(x), mask), mask

    def log_probabilities(self, batch: ReverseBatch) -> Tensor:
        """Log probability of every piece of the questions [B, T], each after those before it."""
        states, mask = self.encode(batch)
        start = batch.pieces.new_full((len(batch.pieces), 1), self.config.start)
        before = torch.cat([start, batch.pieces[:, :-1]], dim=1)
        rows = torch.arange(before.shape[1])
        causal = additive_mask(rows[:, None] >= rows, states.dtype)
        x = self.target_words(self.words(before)) + positions(before.shape[1], self.config.d)
        h = self.decoder(self.dropout(x), causal, states, mask)
        return self._score(h, states, mask, before, batch)

    def _score(self, h: Tensor, states: Tensor, mask: Tensor, before: Tensor, batch: ReverseBatch) -> Tensor:
        written = self.output(h)  # [B, T, V + 1]
        copied = self.copy(h, states, batch, before) + mask[:, 0]
        copied = copied.masked_fill((batch.kinds == Kind.SYMBOL)[:, None], -torch.inf)  # [B, T, S]
        total = torch.logaddexp(written.logsumexp(-1), copied.logsumexp(-1))
        number = self.output_of[batch.pieces]  # the last number stands for all pieces that cannot be written
        others = self.config.pieces - len(self.config.outputs)
        share = (number == len(self.config.outputs)) * math.log(max(1, others))
        chosen = written.gather(-1, number.unsqueeze(-1)).squeeze(-1) - share
        same = batch.ids[:, None] == batch.pieces[:, :, None]
        taken = copied.masked_fill(~same, -torch.inf).logsumexp(-1)
        return torch.logaddexp(chosen, taken) - total


class _Copy(nn.Module):
    """How much each token of the source asks to be copied next."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.query = nn.Linear(d, d, bias=False)
        self.key = nn.Linear(d, d, bias=False)
        self.kinds = nn.Parameter(torch.zeros(len(Kind)))
        self.follows = nn.Parameter(torch.ones(len(Kind)))

    def forward(self, h: Tensor, states: Tensor, batch: ReverseBatch, before: Tensor) -> Tensor:
        """Scores [B, T, S]. What follows the piece written last is a word or a value going on."""
        scores = (self.query(h) * h.shape[-1] ** -0.5) @ self.key(states).transpose(-1, -2)
        previous = torch.cat([torch.full_like(batch.ids[:, :1], -1), batch.ids[:, :-1]], dim=1)
        follows = (previous[:, None] == before[:, :, None]) * self.follows[batch.kinds][:, None]
        total: Tensor = scores + follows + self.kinds[batch.kinds][:, None]
        return total


class _Stack(nn.Module):
    def __init__(self, layers: Iterable[_EncoderLayer]) -> None:
        super().__init__()
        layers = list(layers)
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(layers[0].d)

    def forward(self, x: Tensor, *context: Tensor) -> Tensor:
        """X [B, n, d] through all layers and a last norm."""
        for layer in self.layers:
            x = layer(x, *context)
        normed: Tensor = self.norm(x)
        return normed


class _EncoderLayer(nn.Module):
    def __init__(self, config: ReverseConfig, dropout: float) -> None:
        super().__init__()
        d, self.d, self.heads = config.d, config.d, config.heads
        self.attention_norm, self.ffn_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ffn_in, self.ffn_out = nn.Linear(d, config.ffn), nn.Linear(config.ffn, d)
        self.dropout = Dropout(dropout)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """Rows of x [B, n, d] mixed as the mask allows."""
        query, key, value = heads_first(self.qkv(self.attention_norm(x)), 3, self.heads).unbind(0)
        mixed: Tensor = x + self.dropout(self.out(heads_last(attention(query, key, value, mask))))
        return mixed

    def feed(self, x: Tensor) -> Tensor:
        """The feed-forward half."""
        inner = nn.functional.relu(self.ffn_in(self.ffn_norm(x)))
        fed: Tensor = x + self.dropout(self.ffn_out(self.dropout(inner)))
        return fed

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """X [B, n, d], mask [B, 1, 1, n]."""
        return self.feed(self.attend(x, mask))


class _Cross(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.query, self.key_value, self.out = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)


class _DecoderLayer(_EncoderLayer):
    def __init__(self, config: ReverseConfig, dropout: float) -> None:
        super().__init__(config, dropout)
        self.cross_norm, self.cross = nn.LayerNorm(config.d), _Cross(config.d)

    def forward(self, x: Tensor, causal: Tensor, states: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        """X [B, T, d] over itself, then over the source's states [B, S, d]."""
        x = self.attend(x, causal)
        (query,) = heads_first(self.cross.query(self.cross_norm(x)), 1, self.heads).unbind(0)
        key, value = heads_first(self.cross.key_value(states), 2, self.heads).unbind(0)
        x = x + self.dropout(self.cross.out(heads_last(attention(query, key, value, mask))))
        return self.feed(x)


def positions(length: int, d: int) -> Tensor:
    """Sines and cosines of positions (Vaswani et al., 2017), float32[length, d]."""
    steps = torch.exp(torch.arange(0, d, 2) * (-math.log(10_000.0) / d))
    angles = torch.arange(length)[:, None] * steps
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def output_numbers(config: ReverseConfig) -> Tensor:
    """int64[pieces]: the row of the output that writes a piece; the last for those that none does."""
    numbers = torch.full((config.pieces,), len(config.outputs), dtype=torch.int64)
    numbers[list(config.outputs)] = torch.arange(len(config.outputs))
    return numbers
