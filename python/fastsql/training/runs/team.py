"""Processes that train one model together: each takes its share of the batches, and their gradients are averaged.

On two cores two processes of one thread each take half again as many steps as one of two threads: the matrices of a batch
are too small to be parted. Gradients pass through shared memory, and all else through pipes; nothing listens on a network.
"""

from __future__ import annotations

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, multiprocessing, nn

from fastsql.training.runs.ready import TrainingError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

POLL_SECONDS = 5.0
"""How often the leader, waiting, looks whether the others are still there."""


class Team(AbstractContextManager["Team"]):
    """What a run asks of the processes that it is one of; this one is alone."""

    rank = 0
    size = 1

    def gather(self) -> None:
        """Waits until all are ready to take steps."""

    def agree(self, done: float, ends: bool) -> tuple[float, bool]:
        """How much the leader says is `done` of the run, and whether it ends here."""
        return done, ends

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replaces every gradient by its mean over the processes; one that a process lacks counts as zero."""

    def __exit__(self, *_: object) -> None:
        """Ends the others."""


@dataclass(frozen=True)
class Shared:
    """Memory that all processes see: a row of gradients for each, float32[size, n], and their mean, float32[n]."""

    rows: Tensor
    mean: Tensor

    @classmethod
    def of(cls, size: int, parameters: Iterable[nn.Parameter]) -> Shared:
        """For so many processes."""
        width = sum(parameter.numel() for parameter in _trained(parameters))
        memory = torch.zeros(size + 1, width)
        memory.untyped_storage().share_memory_()
        return cls(memory[:size], memory[size])

    def put(self, rank: int, parameters: Iterable[nn.Parameter]) -> None:
        """Writes a process's gradients."""
        for parameter, place in zip(parameters, self._places(self.rows[rank], parameters), strict=True):
            if parameter.grad is None:
                place.zero_()
            else:
                place.copy_(parameter.grad)

    def take(self, parameters: Iterable[nn.Parameter]) -> None:
        """Makes the mean every parameter's gradient."""
        for parameter, place in zip(parameters, self._places(self.mean, parameters), strict=True):
            if parameter.grad is None:
                parameter.grad = place.clone()
            else:
                parameter.grad.copy_(place)

    @staticmethod
    def _places(flat: Tensor, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        shapes = [parameter.shape for parameter in parameters]
        parts = torch.split(flat, [shape.numel() for shape in shapes])
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


class Leader(Team):
    """The process that was started: it says how far the run is, scores and saves."""

    def __init__(
        self,
        size: int,
        parameters: Iterable[nn.Parameter],
        follow: Callable[..., None],
        arguments: Sequence[Any],
    ) -> None:
        """Starts `size` - 1 others, each of which calls `follow(team, *arguments)`; all must pickle."""
        self.size = size
        self._shared = Shared.of(size, parameters)
        context = multiprocessing.get_context("spawn")
        self._others: list[tuple[BaseProcess, Connection]] = []
        for rank in range(1, size):
            mine, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(Follower(rank, size, self._shared, theirs), follow, arguments)
            )
            process.start()
            theirs.close()
            self._others.append((process, mine))

    def gather(self) -> None:
        """Waits for the others."""
        for process, pipe in self._others:
            _hear(process, pipe)

    def agree(self, done: float, ends: bool) -> tuple[float, bool]:
        """Says so to the others."""
        self._tell((done, ends))
        return done, ends

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """As in every process."""
        trained = _trained(parameters)
        self._shared.put(0, trained)
        self.gather()
        torch.mean(self._shared.rows, dim=0, out=self._shared.mean)
        self._tell(None)
        self._shared.take(trained)

    def _tell(self, message: object) -> None:
        for _, pipe in self._others:
            with contextlib.suppress(OSError):  # it went away: why is said where it is listened to
                pipe.send(message)

    def __exit__(self, *_: object) -> None:
        for process, pipe in self._others:
            pipe.close()
            process.join(POLL_SECONDS)
            process.terminate()
            process.join()


class Follower(Team):
    """A process that takes part: it does as it is told, and writes nothing."""

    def __init__(self, rank: int, size: int, shared: Shared, pipe: Connection) -> None:
        self.rank, self.size = rank, size
        self._shared, self.pipe = shared, pipe

    def gather(self) -> None:
        """Says that this one is."""
        self.pipe.send(None)

    def agree(self, done: float, ends: bool) -> tuple[float, bool]:
        """What the leader says."""
        told: tuple[float, bool] = self.pipe.recv()
        return told

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """As in every process."""
        trained = _trained(parameters)
        self._shared.put(self.rank, trained)
        self.gather()
        self.pipe.recv()
        self._shared.take(trained)


def _trained(parameters: Iterable[nn.Parameter]) -> list[nn.Parameter]:
    return [parameter for parameter in parameters if parameter.requires_grad]


def _hear(process: BaseProcess, pipe: Connection) -> None:
    """Waits until a follower is ready. Raises TrainingError where it failed or died."""
    try:
        while not pipe.poll(POLL_SECONDS):
            if not process.is_alive():
                raise EOFError
        told = pipe.recv()
    except (EOFError, OSError):
        process.join(POLL_SECONDS)
        raise TrainingError(
            f"a process that trains beside this one ended with code {process.exitcode}",
            remedy="Where memory is short, train with fewer --processes.",
        ) from None
    if told is not None:
        raise TrainingError(f"a process that trains beside this one failed:\n{told}")


def _serve(team: Follower, follow: Callable[..., None], arguments: Sequence[Any]) -> None:
    # Ctrl-C reaches the whole process group; the leader saves a checkpoint and then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        follow(team, *arguments)
    except (EOFError, ConnectionError):
        return  # the leader is gone
    except Exception:  # noqa: BLE001 - whatever it is, the leader raises it
        team.pipe.send(traceback.format_exc())
