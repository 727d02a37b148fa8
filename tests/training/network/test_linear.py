"""Linear maps in bfloat16 are those in float32 but for rounding, over few numbers of rows."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.training.network import linear  # noqa: E402
from fastsql.training.network.linear import LEAST_ROWS, Linear, bf16_products, filled_up  # noqa: E402

ROUNDING = 2.0**-7
"""Of the largest number that is rounded: eight bits, and as much again for the sum."""


@pytest.mark.parametrize("shape", [(100, 24), (3, 50, 24), (2, 4, 16, 24)])
@pytest.mark.parametrize("bias", [True, False])
def test_outputs_and_gradients_are_those_of_float32(shape: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(0)
    layer, x = Linear(24, 16, bias=bias), torch.randn(shape, requires_grad=True)
    wanted = torch.randn(*shape[:-1], 16)

    def step(enabled: bool) -> list[torch.Tensor]:
        layer.zero_grad()
        x.grad = None
        with bf16_products(enabled):
            y = layer(x)
        torch.autograd.backward((y * wanted).sum())
        return [y.detach(), *(one.grad.clone() for one in (x, *layer.parameters()))]

    exact, rounded = step(False), step(True)
    assert not torch.equal(exact[0], rounded[0])
    for one, other in zip(exact, rounded, strict=True):
        assert one.shape == other.shape
        assert other.dtype == torch.float32
        assert (one - other).abs().max() <= 2 * ROUNDING * one.abs().max()


def test_what_needs_no_gradient_gets_none() -> None:
    layer, x = Linear(24, 16), torch.randn(100, 24)
    layer.weight.requires_grad_(False)
    with bf16_products(True):
        torch.autograd.backward(layer(x).sum())
    assert layer.weight.grad is None
    assert torch.equal(layer.bias.grad, torch.full((16,), 100.0))


@pytest.mark.parametrize("x", [torch.ones(LEAST_ROWS - 1, 24), torch.ones(100, 24, dtype=torch.float64)])
def test_few_rows_and_other_types_are_left_as_they_are(x: torch.Tensor) -> None:
    layer = Linear(24, 16).to(x.dtype)
    with bf16_products(True):
        found = layer(x)
    assert torch.equal(found, layer(x))


def test_no_product_is_rounded_outside() -> None:
    layer, x = Linear(24, 16), torch.randn(100, 24)
    with bf16_products(True), bf16_products(False):
        inside = layer(x)
    assert torch.equal(inside, layer(x))
    with pytest.raises(RuntimeError), bf16_products(True):
        raise RuntimeError
    assert torch.equal(inside, layer(x))


def test_batches_of_all_sizes_meet_a_few_dozen_numbers_of_rows() -> None:
    sizes = range(LEAST_ROWS, 4097)
    filled = [filled_up(size) for size in sizes]
    assert all(0 <= more - size < linear._LARGEST_STEP for size, more in zip(sizes, filled, strict=True))
    assert all(more <= 1.5 * size for size, more in zip(sizes, filled, strict=True))
    assert len(set(filled)) <= 40
