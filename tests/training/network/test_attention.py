"""Attention on a GPU is torch's fused one, and a softmax that tells its sum is torch's two: the same as ours."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from torch.nn import functional as F  # noqa: E402

from fastsql.training.network.attention import additive_mask, attention, softmax_with_log_sum  # noqa: E402


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


@pytest.mark.parametrize("masked", ["nothing", "the last of every row", "all but one of a row"])
def test_a_softmax_and_the_log_of_its_sum_are_those_of_torch_and_so_are_their_gradients(masked: str) -> None:
    torch.manual_seed(1)
    scores = 5 * torch.randn(3, 2, 4, 6)
    if masked == "the last of every row":
        scores[..., -1] = -torch.inf
    elif masked == "all but one of a row":
        scores[0, 0, 0, 1:] = -torch.inf
    scores.requires_grad_()
    found = softmax_with_log_sum(scores)
    expected = torch.softmax(scores, dim=-1), torch.logsumexp(scores, dim=-1, keepdim=True)
    torch.testing.assert_close(found, expected)
    upstream = [torch.randn_like(part) for part in expected]
    (gradient,) = torch.autograd.grad(found, scores, upstream)
    (of_torch,) = torch.autograd.grad(expected, scores, upstream)
    torch.testing.assert_close(gradient, of_torch)


def test_a_softmax_keeps_the_type_of_its_scores_and_tells_its_sum_in_float32() -> None:
    torch.manual_seed(1)
    scores = torch.randn(2, 3, 5, dtype=torch.bfloat16, requires_grad=True)
    weights, log_sum = softmax_with_log_sum(scores)
    assert weights.dtype == torch.bfloat16
    assert log_sum.dtype == torch.float32
    (gradient,) = torch.autograd.grad([weights, log_sum], scores, [weights, log_sum])
    assert gradient.dtype == torch.bfloat16
    torch.testing.assert_close(log_sum, torch.logsumexp(scores.float(), dim=-1, keepdim=True))
