"""A run over a small network, for so many minutes, alone or in a team. It can be stopped at any moment and resumed."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from fastsql.synthesis.generate import Report
from fastsql.training.runs.checkpoint import LAST, save_checkpoint
from fastsql.training.runs.position import Clock, Position, Smoothed
from fastsql.training.runs.ready import TrainingError
from fastsql.training.runs.schedule import MovingAverage, rate_factor, set_rates
from fastsql.training.runs.team import Team

_NOTE_SECONDS = 30.0
Batch = TypeVar("Batch")
Network = TypeVar("Network", bound=nn.Module)


class Steps(Protocol):
    """What a run's settings say of its steps."""

    @property
    def warmup(self) -> float:
        """The share of the run in which rates rise."""

    @property
    def final_rate(self) -> float:
        """The rate at the end, as a share of the peak."""

    @property
    def clip(self) -> float:
        """The largest norm of a gradient."""

    @property
    def ema(self) -> float:
        """The decay of the weights' average."""


class Minutes(Protocol):
    """How long a run is, and what happens how often."""

    @property
    def minutes(self) -> float:
        """All of it."""

    @property
    def checkpoint(self) -> float:
        """From one checkpoint to the next."""

    @property
    def dev(self) -> float:
        """From one look at what is held out to the next."""


class SingleRun(ABC, Generic[Network, Batch]):
    """A run: its network, the average of its weights, and where it is.

    Of a `team` each process takes its share of the batches, and the leader alone tests and saves.
    """

    def __init__(
        self,
        network: Network,
        optimizer: torch.optim.Optimizer,
        steps: Steps,
        minutes: Minutes,
        *,
        seed: int,
        folder: Path,
        report: Report,
    ) -> None:
        """The `optimizer`'s groups have their highest rate as "peak"; checkpoints and figures go to `folder`."""
        self.network, self.optimizer = network, optimizer
        self.steps, self.minutes = steps, minutes
        self.seed, self.folder, self.report = seed, folder, report
        self.average = MovingAverage(copy.deepcopy(network), steps.ema)
        self.position = Position()
        self.team = Team()

    @abstractmethod
    def epoch(self, seed: str) -> Iterator[Batch]:
        """The batches of an epoch, the same for the same seed."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """What is made less, of the network as it is."""

    @abstractmethod
    def test(self, train: float) -> None:
        """Tells the figures of what is held out, by the average; `train` is the loss of the latest steps."""

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """What a checkpoint holds beside the state of the run: plain data."""

    def go(self) -> None:
        """Learn until the time is over; checkpoints and dev figures on the way."""
        self.team.gather()
        clock, loss = Clock(self.position.seconds), Smoothed()
        saved = noted = tested = self.position.seconds
        for batch in self._batches():
            loss.add(self._step(batch))
            seconds = clock.seconds()
            self.position.seconds, over = self.team.agree(seconds, seconds >= self.minutes.minutes * 60)
            if self.team.rank:
                if over:
                    return
                continue
            if seconds - noted >= _NOTE_SECONDS:
                noted = seconds
                self.report(
                    f"{seconds / 60:.1f} min  epoch {self.position.epoch}  step {self.position.step}"
                    f"  loss {loss.value:.3f}  rate {self.factor():.3f}"
                )
            if over or seconds - tested >= self.minutes.dev * 60:
                tested = seconds
                self.test(loss.value)
            if over or seconds - saved >= self.minutes.checkpoint * 60:
                saved = seconds
                self._save()
            if over:
                return

    def factor(self) -> float:
        """The share of the peak rate at this moment."""
        done = min(1.0, self.position.seconds / max(1.0, 60 * self.minutes.minutes))
        return rate_factor(done, self.steps.warmup, self.steps.final_rate)

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from where a checkpoint was written."""
        self.network.load_state_dict(state["network"])
        self.average.model.load_state_dict(state["average"])
        self.average.steps = state["average_steps"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.position = Position(**state["position"])
        torch.set_rng_state(state["random"])

    def _batches(self) -> Iterator[Batch]:
        """Batches without end, from where the run stands; of as many as a team has processes, this one's."""
        size = self.team.size
        while True:
            epoch = self.epoch(f"{self.seed}/{self.position.epoch}")
            rest = islice(epoch, self.position.batch, None)
            # What is left at the end of an epoch, fewer than the processes, is left out.
            for together in zip(*[rest] * size, strict=False):
                self.position.batch += size
                yield together[self.team.rank]
            if not self.position.batch:
                raise TrainingError(
                    f"an epoch has fewer batches than the {size} processes",
                    remedy="Learn from more, or with fewer --processes.",
                )
            self.position.epoch += 1
            self.position.batch = 0

    def _step(self, batch: Batch) -> float:
        set_rates(self.optimizer, self.factor())
        self.network.train()
        loss = self.loss(batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.team.average(self.network.parameters())
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.steps.clip)
        self.optimizer.step()
        self.average.update(self.network)
        self.position.step += 1
        return loss.item()

    def _save(self) -> None:
        save_checkpoint(
            self.folder / LAST,
            {
                **self.described(),
                "network": self.network.state_dict(),
                "average": self.average.model.state_dict(),
                "average_steps": self.average.steps,
                "optimizer": self.optimizer.state_dict(),
                "position": asdict(self.position),
                "random": torch.get_rng_state(),
            },
        )
