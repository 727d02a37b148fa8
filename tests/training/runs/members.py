"""What the other processes of a team do in tests; they import this alone, and not the tests with all that these need."""

from __future__ import annotations

import os
import signal

import torch

from fastsql.training.runs.team import Team


def parameters(*gradients: float | None) -> list[torch.nn.Parameter]:
    """One of two numbers for each; None stands for no gradient."""
    made = [torch.nn.Parameter(torch.zeros(2)) for _ in gradients]
    for parameter, gradient in zip(made, gradients, strict=True):
        parameter.grad = None if gradient is None else torch.full((2,), float(gradient))
    return made


def take_part(team: Team) -> None:
    """Steps whose gradients are the process's number, until the leader ends."""
    team.gather()
    fraction, ends = team.agree(-1.0, False)
    while not ends:
        own = parameters(team.rank, None, fraction)
        team.average(own)
        assert own[0].grad is not None
        assert own[0].grad.tolist() == [1.0, 1.0]
        fraction, ends = team.agree(-1.0, False)


def fail(team: Team) -> None:
    raise ValueError("no such batch")


def die(team: Team) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
