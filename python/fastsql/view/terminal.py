"""Writes styled lines: plain text anywhere, colours where `rich` is installed and a terminal listens."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from fastsql.explanation.trail import Line

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

_COLOURS = {
    "head": "bold",
    "good": "bold green",
    "bad": "bold yellow",
    "dim": "dim",
    "value": "green",
    "column": "cyan",
    "table": "magenta",
    "time": "yellow",
    "keyword": "bold blue",
    "string": "green",
    "number": "green",
    "removed": "red",
    "added": "green",
}
"""Styles of lines, in rich's words. Nothing is told by colour alone."""


class Page:
    """Writes lines to a stream, the process's standard output unless given."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self.rich = rich_console(self._stream)
        """Rich's console, where it is installed and a terminal listens."""

    @property
    def width(self) -> int:
        """Cells a line has."""
        return shutil.get_terminal_size((100, 24)).columns

    def lines(self, lines: Iterable[Line], indent: str = "") -> None:
        """Write lines; what the stream's encoding lacks becomes a question mark."""
        for line in lines:
            if self.rich is None:
                self._write(indent + "".join(text for text, _ in line))
                continue
            from rich.text import Text

            pieces = [(text, _COLOURS.get(style, style)) for text, style in line]
            self.rich.print(Text.assemble(indent, *pieces), soft_wrap=True)

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.rstrip().encode(encoding, "replace").decode(encoding) + "\n")


def rich_console(stream: TextIO) -> RichConsole | None:
    """Rich's console if it is installed and `stream` is a terminal."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console as RichConsole
    except ImportError:
        return None
    return RichConsole(file=stream)
