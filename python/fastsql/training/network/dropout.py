"""Dropout that is cheap on a CPU, where drawing one Bernoulli variable per state costs more than the layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Zeroes states with probability `rate`, rounded to 1/256: one random byte decides on a state."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.threshold = round(rate * 256)

    def forward(self, x: Tensor) -> Tensor:
        """X in evaluation; in training a copy with some states zero and the others scaled up."""
        if not self.training or not self.threshold:
            return x
        if x.is_cuda:
            return F.dropout(x, self.threshold / 256)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.threshold
        return x * kept.to(x.dtype).mul_(256 / (256 - self.threshold))
