from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.training.config import OptimSettings, ScheduleSettings  # noqa: E402
from fastsql.training.runs.schedule import MovingAverage, make_optimizer, rate_factor, run_fraction, set_rates  # noqa: E402


def test_the_rate_rises_then_falls_to_its_end() -> None:
    rates = [rate_factor(step / 100, 0.1, 0.02) for step in range(101)]
    assert rates[10] == pytest.approx(1.0)
    assert rates[:11] == sorted(rates[:11])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[-1] == pytest.approx(0.02)
    assert rates[0] > 0


@pytest.mark.parametrize(
    ("epochs", "minutes", "done", "seconds", "fraction"),
    [
        (10, 0, 5, 999, 0.5),
        (10, 10, 1, 300, 0.5),
        (0, 10, 50, 60, 0.1),
        (10, 10, 20, 0, 1.0),
        (0, 0, 0, 0, 1.0),
    ],
)
def test_whichever_ends_first_counts(
    epochs: float, minutes: float, done: float, seconds: float, fraction: float
) -> None:
    settings = ScheduleSettings(epochs=epochs, minutes=minutes)
    assert run_fraction(settings, done, seconds) == pytest.approx(fraction)


def test_the_encoder_learns_more_slowly_and_biases_do_not_decay() -> None:
    model = torch.nn.ModuleDict({"encoder": torch.nn.Linear(2, 2), "rest": torch.nn.Linear(2, 2)})
    optimizer = make_optimizer(
        model, model["encoder"], OptimSettings(encoder_rate=1.0, rate=5.0, weight_decay=0.1)
    )
    set_rates(optimizer, 0.5)
    groups = {(group["lr"], group["weight_decay"]): len(group["params"]) for group in optimizer.param_groups}
    assert groups == {(0.5, 0.1): 1, (0.5, 0.0): 1, (2.5, 0.1): 1, (2.5, 0.0): 1}


def test_the_average_follows_the_weights() -> None:
    model, average = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    moving = MovingAverage(average, 0.9)
    with torch.no_grad():
        model.weight.fill_(1.0)
        average.weight.fill_(0.0)
    moving.update(model)
    assert average.weight.item() == pytest.approx(0.9)
    for _ in range(200):
        moving.update(model)
    assert average.weight.item() == pytest.approx(1.0)
    assert not average.weight.requires_grad


def test_the_average_leaves_what_is_frozen_alone() -> None:
    model, average = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    model.bias.requires_grad_(False)
    weight, bias = average.weight.item(), average.bias.item()
    MovingAverage(average, 0.9).update(model)
    assert average.bias.item() == bias
    assert average.weight.item() != weight
