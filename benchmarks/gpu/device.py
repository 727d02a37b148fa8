"""Where a GPU benchmark runs: a CUDA card under PyTorch, or this machine's processor where the GPU is simulated.

Times on a card are of CUDA events. `queued` holds the card with a sleep while the calls of a burst are queued, so that it
runs them back to back: what the kernels take. `called` times one call on an idle card: what a caller waits for, gaps
between launches included. On the processor both are wall times.
"""

from __future__ import annotations

if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from parts import explain

    explain(__file__)

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from record import machine

Run = Callable[[], object]
_SLEEP_HZ = 2e9
"""Cycles a second of a card's clock, rather too many: a sleep may last longer than asked for, never shorter."""
_FIELDS = ("name", "driver_version", "memory.total", "clocks.sm", "temperature.gpu")


@dataclass(frozen=True)
class Device:
    """What tensors lie on and how time is taken there."""

    torch: Any
    simulated: bool

    @classmethod
    def open(cls, simulated: bool) -> Device:
        """Raises RuntimeError where PyTorch sees no GPU and none is simulated, ImportError without PyTorch."""
        torch = import_module("torch")
        if not simulated and not torch.cuda.is_available():
            raise RuntimeError(
                "PyTorch sees no GPU here: run this where there is one, or try the script out with --simulated"
            )
        return cls(torch, simulated)

    @property
    def name(self) -> str:
        """As PyTorch calls the place."""
        return "cpu" if self.simulated else "cuda"

    @property
    def stream(self) -> int:
        """The handle of the stream that PyTorch queues on."""
        return 0 if self.simulated else int(self.torch.cuda.current_stream().cuda_stream)

    @property
    def cache_bytes(self) -> int:
        """Of the last-level cache; rotating inputs exceed it."""
        if self.simulated:
            return 0
        return int(self.torch.cuda.get_device_properties(0).L2_cache_size)

    def synchronize(self) -> None:
        """Wait until everything queued has run."""
        if not self.simulated:
            self.torch.cuda.synchronize()

    def called(self, run: Run) -> float:
        """Milliseconds of one call on an idle device."""
        self.synchronize()
        return self._between(run)

    def queued(self, runs: Sequence[Run], host_seconds: float) -> float:
        """Milliseconds a call, of calls all queued before the first one begins; queueing one takes `host_seconds`."""
        self.synchronize()
        if not self.simulated:
            self.torch.cuda._sleep(int(_SLEEP_HZ * (1.5 * host_seconds * len(runs) + 1e-4)))

        def burst() -> None:
            for run in runs:
                run()

        return self._between(burst) / len(runs)

    def _between(self, run: Run) -> float:
        if self.simulated:
            start = time.perf_counter()
            run()
            return 1000 * (time.perf_counter() - start)
        events = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        run()
        events[1].record()
        events[1].synchronize()
        return float(events[0].elapsed_time(events[1]))


@dataclass(frozen=True)
class Timing:
    """Milliseconds of a call: medians of several bursts and of several single calls."""

    queued: float
    called: float
    spread: float
    """Of the bursts' times, (largest - smallest) / median: a smaller difference between two forms says nothing."""


def time_calls(
    device: Device, runs: Sequence[Run], *, bursts: int = 7, burst: int = 16, singles: int = 15
) -> Timing:
    """Times calls that do the same on different inputs, taken in turn. A few before them warm up."""
    for run in runs[:3]:
        run()
    device.synchronize()
    start = time.perf_counter()
    for number in range(burst):
        runs[number % len(runs)]()
    host_seconds = (
        time.perf_counter() - start
    ) / burst  # at most: where the queue was full, running is in it
    device.synchronize()
    times, at = [], 0
    for _ in range(bursts):
        taken = [runs[(at + number) % len(runs)] for number in range(burst)]
        at += burst
        times.append(device.queued(taken, min(host_seconds, 1e-3)))
    single = [device.called(runs[(at + number) % len(runs)]) for number in range(singles)]
    middle = float(np.median(times))
    return Timing(middle, float(np.median(single)), (max(times) - min(times)) / middle)


class Report:
    """A step's results, written to its file whenever something is added: a step that is cut short leaves what it had."""

    def __init__(self, path: Path | None, measured: Mapping[str, Any], **figures: Any) -> None:
        self.path = path
        self.figures: dict[str, Any] = {"measured": measured}
        self.add(**figures)

    def add(self, **figures: Any) -> None:
        """Puts figures beside those that are there."""
        self.figures |= figures
        if self.path is not None:
            half = self.path.with_suffix(".part")
            half.write_text(json.dumps(self.figures, indent=1) + "\n", encoding="utf-8")
            half.replace(self.path)


def card(simulated: bool) -> dict[str, str]:
    """What the system says of the first card, its driver and the processor. Raises RuntimeError where nvidia-smi fails."""
    if simulated:
        return {"name": "a simulated GPU", "processor": str(machine())}
    try:
        said = subprocess.run(
            ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise RuntimeError(f"nvidia-smi does not name a card ({error})") from error
    figures = (field.strip() for field in said.strip().splitlines()[0].split(","))
    return {**dict(zip(_FIELDS, figures, strict=True)), "processor": str(machine())}
