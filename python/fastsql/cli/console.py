"""What commands write: plain text everywhere, colours and live bars where `rich` is installed and a terminal listens."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

_LARGEST_CELL = 60
_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_REDRAWS = 0.2


class Console:
    """Writes results to `out` and progress to `err`; the process's own streams unless given."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._rich = _rich_console(self._out)

    @property
    def width(self) -> int:
        """Characters a line has."""
        return shutil.get_terminal_size((100, 24)).columns

    def line(self, text: str = "", style: str = "") -> None:
        """One line of text, as it is; `style` is rich's, such as "bold green"."""
        if self._rich is None:
            self._out.write(f"{text}\n")
        else:
            self._rich.print(text, style=style or None, markup=False, highlight=False)

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
        cells = [list(columns), *([_shown(cell) for cell in row] for row in rows)]
        widths = [max(map(_columns_of, column)) for column in zip(*cells, strict=True)]
        for number, row in enumerate(cells):
            padded = (
                f"{cell}{' ' * (width - _columns_of(cell))}" for cell, width in zip(row, widths, strict=True)
            )
            self.line(f"{indent}{'  '.join(padded)}".rstrip(), "dim" if number == 0 else "")

    def track(self, items: Iterable[Any], label: str, total: int) -> Iterator[Any]:
        """Pass `items` on, showing on `err` how many of `total` have gone by."""
        if _rich_console(self._err) is not None:
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


def _rich_console(stream: TextIO) -> RichConsole | None:
    """Rich's console if it is installed and `stream` is a terminal."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console as RichConsole
    except ImportError:
        return None
    return RichConsole(file=stream)


def _shown(cell: object) -> str:
    """A cell on one line, without the control characters that could steer a terminal."""
    text = "NULL" if cell is None else f"{cell:g}" if isinstance(cell, float) else str(cell)
    text = "".join(
        " " if unicodedata.category(character) in ("Cc", "Cf") else character for character in text
    )
    return text if len(text) <= _LARGEST_CELL else text[: _LARGEST_CELL - 3] + "..."


def _columns_of(text: str) -> int:
    """Terminal columns that a text takes: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
