"""What a training run shows while it runs: a bar where `rich` and a terminal are there, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PLAIN_SECONDS = 30.0
"""Between two lines of plain progress."""


class RunProgress:
    """Shows loss, dev score and time left. A context manager; `quiet` shows nothing."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._last_line = 0.0
        self._dev = "-"

    def __enter__(self) -> RunProgress:
        if not self._quiet and self._stream.isatty():
            self._bar = _make_bar()
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("train", total=1.0, state="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def note(self, text: str) -> None:
        """A line of its own."""
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=self._stream, flush=True)

    def dev(self, text: str) -> None:
        """The latest dev score, shown from now on."""
        self._dev = text
        self.note(f"dev {text}")

    def step(self, fraction: float, seconds: float, epoch: float, loss: float) -> None:
        """Where the run is: `fraction` 0 to 1 done after `seconds`, smoothed `loss` of a decision."""
        left = seconds / fraction * (1.0 - fraction) if fraction > 0 else 0.0
        state = f"epoch {epoch:.2f}  loss {loss:.4f}  dev {self._dev}  left {_clock(left)}"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=fraction, state=state)
        elif not self._quiet and time.monotonic() - self._last_line >= PLAIN_SECONDS:
            self._last_line = time.monotonic()
            print(f"{fraction:6.1%}  {state}", file=self._stream, flush=True)


def _make_bar() -> Progress | None:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    except ModuleNotFoundError:
        return None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[state]}"),
    )
    return Progress(*columns, console=Console(stderr=True))


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
