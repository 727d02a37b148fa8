"""Learning rate over the run, and the moving average of the weights."""

from __future__ import annotations

import math
from typing import Generic, TypeVar

import torch
from torch import nn

from fastsql.training.config import OptimSettings, ScheduleSettings

M = TypeVar("M", bound=nn.Module)


def run_fraction(schedule: ScheduleSettings, epochs: float, seconds: float, updates: int = 0) -> float:
    """How much of the run is over, 0 to 1: epochs, updates or time, whichever is further."""
    parts = [epochs / schedule.epochs] if schedule.epochs > 0 else []
    if schedule.updates > 0:
        parts.append(updates / schedule.updates)
    if schedule.minutes > 0:
        parts.append(seconds / (60 * schedule.minutes))
    return min(1.0, max(parts, default=1.0))


def rate_factor(fraction: float, warmup: float, final: float) -> float:
    """Share of the peak learning rate: linear warm-up, then a cosine down to `final`.

    It depends on the fraction alone, so a run that is given more time on resuming falls more slowly from there on.
    """
    if fraction < warmup:
        return max(fraction, 0.01 * warmup) / warmup
    progress = (fraction - warmup) / max(1e-9, 1.0 - warmup)
    return final + (1.0 - final) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))


def make_optimizer(model: nn.Module, encoder: nn.Module, settings: OptimSettings) -> torch.optim.AdamW:
    """AdamW in groups: the pretrained encoder learns more slowly; biases, norms and embeddings do not decay."""
    pretrained = {id(parameter) for parameter in encoder.parameters()}
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            decays = parameter.ndim >= 2 and "embed" not in name
            groups.setdefault((id(parameter) in pretrained, decays), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "lr": 0.0,
                "peak": settings.encoder_rate if in_encoder else settings.rate,
                "weight_decay": settings.weight_decay if decays else 0.0,
            }
            for (in_encoder, decays), parameters in sorted(groups.items(), key=lambda item: item[0])
        ],
        betas=(0.9, 0.98),
        eps=1e-8,
        fused=True,
    )


def set_rates(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Every group's learning rate to `factor` times its peak."""
    for group in optimizer.param_groups:
        group["lr"] = factor * group["peak"]


class MovingAverage(Generic[M]):
    """Exponential moving average of a model's weights, kept in a second model (Polyak averaging).

    The average starts short, so that it does not drag the random start along: decay = min(limit, (1 + t) / (10 + t)).
    """

    def __init__(self, average: M, decay: float, steps: int = 0) -> None:
        self.model: M = average.eval()
        self.decay = decay
        self.steps = steps
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Moves the average towards `model`, once a step."""
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        self.steps += 1
        both = zip(self.model.parameters(), model.parameters(), strict=True)
        # What is frozen is its own average: four weights of five where the encoder is.
        trained = [(mine.data, one.data) for mine, one in both if one.requires_grad]
        torch._foreach_lerp_([mine for mine, _ in trained], [one for _, one in trained], 1.0 - decay)
        for mine, other in zip(self.model.buffers(), model.buffers(), strict=True):
            mine.copy_(other)
