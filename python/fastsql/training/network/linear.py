"""Linear maps whose products may be of bfloat16, over numbers of rows that come again.

Processors with matrix units multiply bfloat16 several times faster than float32, but their libraries compile a product anew
for each number of rows that it meets, and no two batches of a run have as many. So rows are filled up to one of a few
dozen numbers. Sums are float32, and so is all that is not a product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

LEAST_ROWS = 32
"""Fewer are multiplied in float32: what is gained would be less than the conversions take."""
_STEPS = ((64, 16), (256, 32), (1024, 64), (2048, 128))
_LARGEST_STEP = 256

_of_bf16 = False


@contextmanager
def bf16_products(enabled: bool) -> Iterator[None]:
    """Within, maps of many float32 rows multiply in bfloat16, and so do their gradients, wherever those are computed."""
    global _of_bf16
    before, _of_bf16 = _of_bf16, enabled
    try:
        yield
    finally:
        _of_bf16 = before


def filled_up(rows: int) -> int:
    """The number of rows that so many are filled up to: at most half as many again."""
    step = next((step for most, step in _STEPS if rows <= most), _LARGEST_STEP)
    return -(-rows // step) * step


class Linear(nn.Linear):
    """A linear map, x [.., in] to [.., out]; see `bf16_products`."""

    def forward(self, x: Tensor) -> Tensor:
        """As `nn.Linear`."""
        rows = x.numel() // self.in_features
        if not _of_bf16 or rows < LEAST_ROWS or x.dtype != torch.float32:
            return super().forward(x)
        apply: Callable[..., Tensor] = _Product.apply
        found = apply(x.reshape(rows, self.in_features), self.weight, self.bias)
        return found.view(*x.shape[:-1], self.out_features)


class _Product(torch.autograd.Function):
    """X [rows, in], weight [out, in], bias [out] or None to float32[rows, out]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        filled, narrow = _filled(x), weight.to(torch.bfloat16)
        ctx.save_for_backward(filled, narrow)
        ctx.rows, ctx.biased = len(x), bias is not None
        found = (filled @ narrow.T)[: len(x)].float()
        return found if bias is None else found.add_(bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        (gradient,) = gradients
        x, weight = ctx.saved_tensors
        filled = _filled(gradient)
        of_x, of_weight, of_bias = ctx.needs_input_grad
        return (
            (filled @ weight)[: ctx.rows].float() if of_x else None,
            (filled.T @ x).float() if of_weight else None,
            gradient.sum(0) if of_bias and ctx.biased else None,
        )


def _filled(rows: Tensor) -> Tensor:
    """Bfloat16 of rows, and zeros below them."""
    found = rows.new_empty((filled_up(len(rows)), rows.shape[1]), dtype=torch.bfloat16)
    found[: len(rows)] = rows
    found[len(rows) :] = 0
    return found
