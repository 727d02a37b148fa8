"""Where the parts of a corpus are made: in this process, in further ones, or on a Ray cluster; always the same parts.

A part depends on nothing but its task, and comes in the order of the tasks. A cluster should be the hospital's own: tasks
and parts lie in its object store and, where that is full, on its disks. Ray reports no use of itself from here.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol, TypeVar

from fastsql.synthesis.source import SynthesisError

Task = TypeVar("Task")
Part = TypeVar("Part")

LOCAL = "local"
"""The address that starts a cluster on this machine, and ends it."""
_SECONDS = 5.0
"""What a cluster may take to answer."""
_AHEAD = 2
"""Tasks given out for each worker: one that it works on, and the next."""


class Workers(Protocol):
    """Those who work on tasks."""

    def map(self, function: Callable[[Task], Part], tasks: Iterable[Task]) -> Iterator[Part]:
        """The parts, in the order of the tasks. `function` and what it takes and gives can be pickled.

        What `function` raises comes out; SynthesisError where a worker is gone.
        """


@contextlib.contextmanager
def open_workers(processes: int = 1, ray: str | None = None) -> Iterator[Workers]:
    """So many processes of this machine, or the cluster at an address of Ray; `LOCAL` starts one of `processes` workers.

    Raises SynthesisError where Ray is not installed or not at that address.
    """
    if ray is not None:
        with _cluster(processes, ray) as cluster:
            yield cluster
    elif processes > 1:
        # Spawned, so that they inherit no thread and no lock.
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            try:
                yield _Processes(pool, processes)
            finally:
                pool.shutdown(cancel_futures=True)
    else:
        yield Here()


class Here:
    """The process that asks."""

    def map(self, function: Callable[[Task], Part], tasks: Iterable[Task]) -> Iterator[Part]:
        """One part after the other."""
        return map(function, tasks)


class _Processes:
    def __init__(self, pool: ProcessPoolExecutor, number: int) -> None:
        self._pool, self._number = pool, number

    def map(self, function: Callable[[Task], Part], tasks: Iterable[Task]) -> Iterator[Part]:
        def begin(task: Task) -> Future[Part]:
            return self._pool.submit(function, task)

        try:
            yield from _in_order(begin, Future.result, tasks, _AHEAD * self._number)
        except BrokenProcessPool as error:
            raise _gone("a process") from error


class _Ray:
    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._number = int(ray.cluster_resources().get("CPU", 1))

    def map(self, function: Callable[[Task], Part], tasks: Iterable[Task]) -> Iterator[Part]:
        remote = self._ray.remote(function)

        def end(begun: Any) -> Part:
            try:
                part: Part = self._ray.get(begun)
            except self._ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except self._ray.exceptions.RayError as error:
                raise _gone("a worker of the cluster") from error
            return part

        return _in_order(remote.remote, end, tasks, _AHEAD * self._number)


def _in_order(
    begin: Callable[[Task], Any], end: Callable[[Any], Part], tasks: Iterable[Task], ahead: int
) -> Iterator[Part]:
    begun: deque[Any] = deque()
    for task in tasks:
        begun.append(begin(task))
        if len(begun) == ahead:
            yield end(begun.popleft())
    while begun:
        yield end(begun.popleft())


@contextlib.contextmanager
def _cluster(processes: int, address: str) -> Iterator[_Ray]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read when a cluster starts
    try:
        import ray
    except ImportError as error:
        raise SynthesisError("Ray is not installed", remedy="Run: pip install 'fastsql[ray]'.") from error
    own: dict[str, Any] = (
        {"num_cpus": processes, "include_dashboard": False} if address == LOCAL else {"address": address}
    )
    try:
        _reach(address)
        # What workers print stays where they are.
        ray.init(log_to_driver=False, configure_logging=False, **own)
    except (OSError, ValueError, RuntimeError) as error:
        raise SynthesisError(
            "there is no Ray cluster at this address",
            where=address,
            remedy=f"Give the address of its head, or {LOCAL!r} for one on this machine.",
        ) from error
    try:
        yield _Ray(ray)
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raises OSError where nothing listens at HOST:PORT, which Ray itself takes minutes to find out."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS).close()


def _gone(who: str) -> SynthesisError:
    return SynthesisError(f"{who} is gone", remedy="It may have had too little memory: try fewer of them.")
