"""Batches in an order that only the seed decides, prepared by processes beside the one that trains.

Linking and tracing an example costs a few milliseconds of Python. Done between two steps it would leave the other core
idle, done in a thread it would hold the interpreter's lock; so it is done in a process of its own, a few batches ahead.
A GPU eats batches faster than one process makes them: several take turns.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import queue
import random
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastsql.errors import FastSQLError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from fastsql.training.batches.batch import Batch

LEVEL = 16
"""Batches among which those of like cost come together."""
ITEM_TOKENS = 8
"""What a table or column of a schema costs a batch, in tokens of a question: its texts are read, its rows attended to."""
QUEUE_BATCHES = 8
"""Batches prepared ahead."""
POLL_SECONDS = 5.0
"""How often a waiting trainer looks whether the other process is still there."""


class LoaderError(FastSQLError):
    """The process that prepares batches has failed."""


@dataclass(frozen=True)
class Delivery:
    """One batch of the plan. `batch` is None where none of its examples could be traced."""

    epoch: int
    position: int  # within the epoch
    batches: int  # of the epoch
    domain: str
    batch: Batch | None
    left_out: int = 0  # examples of the batch that could not be traced


@dataclass(frozen=True)
class Size:
    """What an example costs, before augmentation: `length` = question tokens + decisions, and `items` of its schema.

    `weight` is how often an epoch shows it, on average.
    """

    domain: str
    length: int
    weight: float = 1.0
    items: int = 0


def plan_epoch(
    sizes: Sequence[Size], batch_size: int, max_tokens: int, rng: random.Random
) -> list[list[int]]:
    """Batches of example numbers: of one domain and similar length each, in random order but for `_levelled`.

    A batch has at most `batch_size` examples and, padded, about `max_tokens` tokens and decisions. Of a domain that one
    batch holds, an epoch shows all examples or none, as their weight says: a batch of a few costs as much as a full one.
    """
    if not sizes:
        raise ValueError("there are no examples for an epoch")
    counts = Counter(size.domain for size in sizes)
    chances = {domain: rng.random() for domain, count in counts.items() if count <= batch_size}
    noisy = [
        (size.domain, size.length * rng.uniform(0.85, 1.15), number)
        for number, size in enumerate(sizes)
        for _ in range(int(size.weight) + (chances.get(size.domain, rng.random()) < size.weight % 1))
    ]
    plan: list[list[int]] = []
    current: list[int] = []
    for domain, length, number in sorted(noisy):
        full = len(current) == batch_size or (len(current) + 1) * length > max_tokens
        if current and (full or sizes[current[0]].domain != domain):
            plan.append(current)
            current = []
        current.append(number)
    if current:
        plan.append(current)
    rng.shuffle(plan)
    return _levelled(plan, sizes)


def _levelled(plan: Sequence[list[int]], sizes: Sequence[Size]) -> list[list[int]]:
    """The plan with every `LEVEL` batches in the order of what they cost.

    Processes that train together take batches that follow each other, and the faster ones wait for the slowest.
    """

    def cost(batch: list[int]) -> int:
        longest = max(sizes[number].length for number in batch)
        return len(batch) * longest + ITEM_TOKENS * sizes[batch[0]].items

    windows = (plan[start : start + LEVEL] for start in range(0, len(plan), LEVEL))
    return [batch for window in windows for batch in sorted(window, key=cost)]


class BatchMaker:
    """What the loader process runs: turns a list of example numbers into a batch. Must pickle."""

    def sizes(self) -> Sequence[Size]:
        """One entry an example."""
        raise NotImplementedError

    def make(self, numbers: Sequence[int], epoch: int) -> tuple[Batch | None, int]:
        """The batch, and how many of its examples were left out. The same arguments give the same batch."""
        raise NotImplementedError


def deliveries(
    maker: BatchMaker,
    batch_size: int,
    max_tokens: int,
    seed: int,
    epoch: int = 0,
    position: int = 0,
    share: tuple[int, int] = (0, 1),
) -> Iterator[Delivery]:
    """Batches without end, from batch `position` of `epoch` on.

    With `share` = (k, n), every n-th of them from the k-th on: n such streams, read in turn, are the whole.
    """
    sizes = maker.sizes()
    turn = 0
    while True:
        plan = plan_epoch(sizes, batch_size, max_tokens, random.Random(f"{seed}/{epoch}"))
        for place in range(position, len(plan)):
            if turn % share[1] == share[0]:
                batch, left_out = maker.make(plan[place], epoch)
                yield Delivery(epoch, place, len(plan), sizes[plan[place][0]].domain, batch, left_out)
            turn += 1
        epoch, position = epoch + 1, 0


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    queue: Any

    def take(self) -> Delivery:
        while True:
            try:
                item = self.queue.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if not self.process.is_alive():
                    code = self.process.exitcode
                    raise LoaderError(f"the process that prepares batches ended with code {code}") from None
                continue
            if isinstance(item, str):
                raise LoaderError(f"the process that prepares batches failed:\n{item}")
            delivery: Delivery = item
            return delivery

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.queue.close()


class Loader:
    """Reads streams in turn, each made by a process of its own; a context manager and an iterator.

    `background=False` makes them here. `forks`: the processes begin as copies of this one, where the system can do that, and
    share its memory; else they are fresh ones, which everything is sent to. Raises LoaderError, with the other process's
    traceback, when one fails or dies.
    """

    def __init__(
        self,
        streams: Sequence[Callable[[], Iterator[Delivery]]],
        background: bool = True,
        *,
        forks: bool = False,
    ) -> None:
        self._streams = streams
        self._background = background
        self._method = "fork" if forks and "fork" in multiprocessing.get_all_start_methods() else "spawn"
        self._workers: list[_Worker] = []
        self._turns: Iterator[Callable[[], Delivery]] | None = None

    def __enter__(self) -> Loader:
        if self._background:
            self._workers = [_start(stream, self._method) for stream in self._streams]
            takes = [worker.take for worker in self._workers]
        else:
            takes = [functools.partial(next, stream()) for stream in self._streams]
        self._turns = itertools.cycle(takes)
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers, self._turns = [], None

    def __iter__(self) -> Iterator[Delivery]:
        return self

    def __next__(self) -> Delivery:
        if self._turns is None:
            raise LoaderError("the loader is not running", remedy="Use it in a with statement.")
        return next(self._turns)()


def _start(stream: Callable[[], Iterator[Delivery]], method: str) -> _Worker:
    context: Any = multiprocessing.get_context(method)
    out = context.Queue(maxsize=QUEUE_BATCHES)
    process = context.Process(target=_serve, args=(stream, out), daemon=True)
    process.start()
    return _Worker(process, out)


def _serve(start: Callable[[], Iterator[Delivery]], out: Any) -> None:
    # Ctrl-C reaches the whole process group; the trainer saves a checkpoint and then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for item in start():
            out.put(item)
    except Exception:  # noqa: BLE001 - whatever it is, the trainer raises it
        out.put(traceback.format_exc())
