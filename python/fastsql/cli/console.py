"""What commands write: plain text everywhere, colours and live bars where `rich` is installed and a terminal listens."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from fastsql.explanation.trail import Line
from fastsql.view.cells import cells, clean, cut, pad
from fastsql.view.terminal import Page, rich_console

_LARGEST_CELL = 60
_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_REDRAWS = 0.2


class Console:
    """Writes results to `out` and progress to `err`; the process's own streams unless given."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._page = Page(self._out)
        self._rich = self._page.rich

    @property
    def width(self) -> int:
        """Cells a line has."""
        return self._page.width

    def line(self, text: str = "", style: str = "") -> None:
        """One line of text, as it is; `style` is rich's, such as "bold green"."""
        if self._rich is None:
            self._out.write(f"{text}\n")
        else:
            self._rich.print(text, style=style or None, markup=False, highlight=False)

    def lines(self, lines: Iterable[Line], indent: str = "") -> None:
        """Lines of styled pieces."""
        self._page.lines(lines, indent)

    def sql(self, text: str, indent: str = "") -> None:
        """SQL, wrapped between words; strings are never broken by anything but a line end."""
        width = max(self.width - len(indent), 40)
        lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
        if self._rich is None:
            self._out.writelines(f"{indent}{line}\n" for line in lines)
            return
        from rich.padding import Padding
        from rich.syntax import Syntax

        code = Syntax("\n".join(lines), "sql", theme="ansi_dark", background_color="default")
        self._rich.print(Padding(code, (0, 0, 0, len(indent))))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], indent: str = "") -> None:
        """Rows under their column names; long cells are cut."""
        shown = [list(columns), *([_shown(cell) for cell in row] for row in rows)]
        widths = [max(map(cells, column)) for column in zip(*shown, strict=True)]
        for number, row in enumerate(shown):
            padded = (pad(cell, width) for cell, width in zip(row, widths, strict=True))
            self.line(f"{indent}{'  '.join(padded)}".rstrip(), "dim" if number == 0 else "")

    def track(self, items: Iterable[Any], label: str, total: int) -> Iterator[Any]:
        """Pass `items` on, showing on `err` how many of `total` have gone by."""
        if rich_console(self._err) is not None:
            from rich.console import Console as RichConsole
            from rich.progress import track

            yield from track(items, label, total, console=RichConsole(file=self._err))
        else:
            yield from self._plain_track(items, label, total)

    def _plain_track(self, items: Iterable[Any], label: str, total: int) -> Iterator[Any]:
        live = self._err.isatty()
        interval = _SECONDS_BETWEEN_REDRAWS if live else _SECONDS_BETWEEN_LINES
        shown = start = time.monotonic()
        count = 0
        for count, item in enumerate(items, 1):
            yield item
            now = time.monotonic()
            if count < total and now - shown >= interval:
                shown = now
                left = (now - start) / count * (total - count)
                end = "  \r" if live else "\n"
                self._err.write(f"{label}: {count:,} of {total:,}, {left:.0f} s left{end}")
                self._err.flush()
        blank = " " * 10 if live else ""
        self._err.write(f"{label}: {count:,} in {time.monotonic() - start:.1f} s{blank}\n")
        self._err.flush()


def warn(text: str) -> None:
    """One line of warning, on the error stream."""
    sys.stderr.write(f"fastsql: warning: {text}\n")


def note(text: str) -> None:
    """A line on progress, on the error stream."""
    sys.stderr.write(f"{text}\n")


def _shown(cell: object) -> str:
    """A cell on one line, without the control characters that could steer a terminal."""
    text = "NULL" if cell is None else f"{cell:g}" if isinstance(cell, float) else str(cell)
    return cut(clean(text), _LARGEST_CELL)
