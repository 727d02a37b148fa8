"""The encoder in training: what is frozen stays, and is computed once a text."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.model.config import EncoderConfig  # noqa: E402
from fastsql.training.network.encoder import Encoder  # noqa: E402

SIZES = EncoderConfig(layers=3, hidden=8, heads=2, ffn=16, vocabulary=30, positions=12)
TEXTS = [torch.tensor([[1, 5, 2], [1, 6, 2]]), torch.tensor([[1, 7, 8, 9, 2]])]
QUESTIONS = torch.tensor([[1, 3, 4, 2], [1, 3, 2, 0]])
LENGTHS = torch.tensor([4, 3])


def encoder(frozen: int) -> Encoder:
    torch.manual_seed(3)
    return Encoder(SIZES, 0.5, frozen).train()


def states(model: Encoder) -> list[torch.Tensor]:
    return model([*TEXTS, QUESTIONS], LENGTHS)


@pytest.mark.parametrize("frozen", [1, 2, 3])
def test_frozen_layers_compute_what_they_would_in_use(frozen: int) -> None:
    free, held = encoder(0).eval(), encoder(frozen).eval()
    for _ in range(2):  # computed, then remembered
        for expected, found in zip(states(free), states(held), strict=True):
            torch.testing.assert_close(found, expected)


def test_without_a_layer_to_train_nothing_is_dropped_out() -> None:
    model = encoder(3)
    for first, second in zip(states(model), states(model), strict=True):
        torch.testing.assert_close(first, second)


def test_only_what_is_not_frozen_has_a_gradient() -> None:
    model = encoder(2)
    sum(group.sum() for group in states(model)).backward()
    taught = {name.split(".")[1] for name, weight in model.named_parameters() if weight.grad is not None}
    assert taught == {"2"}


def test_states_are_forgotten_with_the_weights() -> None:
    model, other = encoder(2).eval(), encoder(2).eval()
    states(model)
    with torch.no_grad():
        other.layers[0].qkv.weight.add_(1.0)
    model.load_state_dict(copy.deepcopy(other.state_dict()))
    for expected, found in zip(states(other), states(model), strict=True):
        torch.testing.assert_close(found, expected)


def test_texts_of_about_one_length_are_read_together_on_a_gpu() -> None:
    """Which the processor can compute, too: padding and bins change no state."""
    model = encoder(0).eval()
    longer = torch.tensor([[1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 2]])
    for groups, lengths in (
        ([*TEXTS, longer, QUESTIONS], LENGTHS),
        ([*TEXTS, longer], None),
        ([QUESTIONS], LENGTHS),
    ):
        expected, found = model(groups, lengths), model._in_bins(groups, lengths)
        assert [group.shape for group in found] == [group.shape for group in expected]
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            read = torch.arange(one.shape[1])[None, :] < (
                LENGTHS[:, None] if number == len(groups) - 1 and lengths is not None else one.shape[1]
            )
            torch.testing.assert_close(other[read.expand(one.shape[:2])], one[read.expand(one.shape[:2])])
