"""The reranker in torch, as it is trained; `fastsql.reranker.network` is the same in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.reranker.config import RerankerConfig
from fastsql.reranker.reading import KINDS, MAX_TOKENS, Row
from fastsql.reverse.source import TABLE_MARKS
from fastsql.training.network.attention import attention, heads_first, heads_last
from fastsql.training.network.dropout import Dropout
from fastsql.training.network.linear import Linear

_GROUPS = 8
"""Groups of rows of like length that are padded together."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Rows one behind the other: `ids`, `kinds`, `tables`, `shared`, `places` int64[tokens], `first` int64[rows].

    For attention they are spread over groups of like length: `spread` int64[cells] is the token of every cell, `cells`
    int64[tokens] the cell of every token, `groups` the shape (rows, length) of each and the mask of its padding.
    """

    ids: Tensor
    kinds: Tensor
    tables: Tensor
    shared: Tensor
    places: Tensor
    first: Tensor
    spread: Tensor
    cells: Tensor
    groups: tuple[tuple[tuple[int, int], Tensor], ...]


def pack(rows: Sequence[Row]) -> Packed:
    """Rows, at least one, as tensors."""
    lengths = np.array([len(row.ids) for row in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    order = np.argsort(lengths, kind="stable")
    spread, groups, cells, before = [], [], np.zeros(starts[-1], dtype=np.int64), 0
    for chosen in np.array_split(order, min(_GROUPS, len(order))):
        columns = np.arange(lengths[chosen].max())
        present = columns < lengths[chosen][:, None]
        # A cell without a token of its own shows its row's first: masked as a column, and never read as a row.
        tokens = starts[chosen][:, None] + np.where(present, columns, 0)
        cells[tokens[present]] = before + np.flatnonzero(present)
        before += present.size
        spread.append(tokens.ravel())
        mask = np.where(present, 0.0, -np.inf).astype(np.float32)[:, None, None]
        groups.append(((len(chosen), len(columns)), torch.from_numpy(mask)))

    def joined(name: str) -> Tensor:
        return torch.from_numpy(np.concatenate([getattr(row, name) for row in rows]).astype(np.int64))

    return Packed(
        ids=joined("ids"),
        kinds=joined("kinds"),
        tables=joined("tables"),
        shared=joined("shared"),
        places=torch.from_numpy(np.concatenate([np.arange(length) for length in lengths])),
        first=torch.from_numpy(starts[:-1]),
        spread=torch.from_numpy(np.concatenate(spread)),
        cells=torch.from_numpy(cells),
        groups=tuple(groups),
    )


class _Spread(torch.autograd.Function):
    """Tokens [n, d] to cells [m, d]; only the cells that are a token's own hand gradients back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, spread: Tensor, cells: Tensor) -> Tensor:
        ctx.save_for_backward(cells)
        return x.index_select(0, spread)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (cells,) = ctx.saved_tensors
        return gradients[0].index_select(0, cells), None, None


class _Gather(torch.autograd.Function):
    """The inverse: cells [m, d] to tokens [n, d]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cells: Tensor) -> Tensor:
        ctx.save_for_backward(cells)
        ctx.cells = len(x)
        return x.index_select(0, cells)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (cells,) = ctx.saved_tensors
        found = gradients[0].new_zeros(ctx.cells, gradients[0].shape[1])
        return found.index_copy_(0, cells, gradients[0]), None


class _Layer(nn.Module):
    """Post-norm transformer layer (Devlin et al., 2019)."""

    def __init__(self, config: RerankerConfig, dropout: float) -> None:
        super().__init__()
        hidden = config.hidden
        self.heads = config.heads
        self.qkv, self.out = Linear(hidden, 3 * hidden), Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.ffn_in, self.ffn_out = Linear(hidden, config.ffn), Linear(config.ffn, hidden)
        self.ffn_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, rows: Packed) -> Tensor:
        """X [tokens, hidden]; the tokens of a row see each other."""
        x = self.attention_norm(x + self.dropout(self.out(self._mixed(self.qkv(x), rows))))
        inner = F.gelu(self.ffn_in(x), approximate="tanh")
        y: Tensor = self.ffn_norm(x + self.dropout(self.ffn_out(inner)))
        return y

    def _mixed(self, qkv: Tensor, rows: Packed) -> Tensor:
        spread: Tensor = _Spread.apply(qkv, rows.spread, rows.cells)  # type: ignore[no-untyped-call]
        parts = torch.split(spread, [count * length for (count, length), _ in rows.groups])
        mixed = []
        for part, (shape, mask) in zip(parts, rows.groups, strict=True):
            query, key, value = heads_first(part.view(*shape, -1), 3, self.heads)
            mixed.append(heads_last(attention(query, key, value, mask)).flatten(0, 1))
        found: Tensor = _Gather.apply(torch.cat(mixed), rows.cells)  # type: ignore[no-untyped-call]
        return found


class _Output(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.hidden, self.log_odds = nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
        nn.init.zeros_(self.log_odds.weight)
        nn.init.zeros_(self.log_odds.bias)


class RerankerNetwork(nn.Module):
    """Layers of a BERT encoder over questions with programs. Embeddings of word pieces and places stay as they are."""

    def __init__(self, config: RerankerConfig, dropout: float = 0.1) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.pieces, config.hidden)
        self.positions = nn.Embedding(MAX_TOKENS, config.hidden)
        self.symbols = nn.Embedding(len(config.symbols), config.hidden)
        self.kinds = nn.Embedding(KINDS, config.hidden)
        self.tables = nn.Embedding(TABLE_MARKS + 1, config.hidden)
        self.shared = nn.Embedding(2, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.layers = nn.ModuleList(_Layer(config, dropout) for _ in range(config.layers))
        self.output = _Output(config.hidden)
        self.dropout = Dropout(dropout)
        for table in (self.words, self.positions):
            table.weight.requires_grad_(False)
        for table in (self.kinds, self.tables, self.shared):
            nn.init.normal_(table.weight, std=0.01)  # beside words, whose entries are about 0.05

    def forward(self, rows: Packed) -> Tensor:
        """Log-odds [rows] of each program being what is asked."""
        pieces = self.config.pieces
        worded = self.words(rows.ids.clamp(max=pieces - 1))
        symbols = self.symbols((rows.ids - pieces).clamp(min=0))
        x = torch.where((rows.ids < pieces)[:, None], worded, symbols)
        x = x + self.positions(rows.places) + self.kinds(rows.kinds)
        x = self.dropout(self.norm(x + self.tables(rows.tables) + self.shared(rows.shared)))
        for layer in self.layers:
            x = layer(x, rows)
        hidden = torch.tanh(self.output.hidden(self.dropout(x[rows.first])))
        found: Tensor = self.output.log_odds(self.dropout(hidden)).squeeze(-1)
        return found
