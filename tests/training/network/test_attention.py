"""Attention on a GPU is torch's fused one: the same as ours, whatever is masked."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from torch.nn import functional as F  # noqa: E402

from fastsql.training.network.attention import additive_mask, attention  # noqa: E402


@pytest.mark.parametrize("masked", ["nothing", "the end of each text", "what comes later"])
def test_the_fused_attention_of_a_gpu_is_ours(masked: str) -> None:
    """The same scale, and the same masks: those of texts, [texts, 1, 1, tokens], and of decisions, [steps, steps]."""
    torch.manual_seed(1)
    query, key, value = torch.randn(3, 2, 4, 5, 8)
    mask = {
        "nothing": None,
        "the end of each text": additive_mask(
            (torch.arange(5)[None] < torch.tensor([5, 3, 1, 2])[:, None])[:, None, None], torch.float32
        ),
        "what comes later": additive_mask(torch.ones(5, 5, dtype=torch.bool).tril(), torch.float32),
    }[masked]
    query, key, value = (part.transpose(0, 1) for part in (query, key, value))  # four texts, two heads
    fused = F.scaled_dot_product_attention(query, key, value, mask)
    torch.testing.assert_close(attention(query, key, value, mask), fused)
