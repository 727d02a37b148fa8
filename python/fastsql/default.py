"""The parser behind `fastsql.parse`: the bundled model, loaded when it is first needed."""

from __future__ import annotations

import threading

from fastsql.forking import renew_in_child
from fastsql.parser import Parser, load

_parser: Parser | None = None


class _Loading:
    """Lets one thread load while others wait for it."""

    def __init__(self) -> None:
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Wait for no thread that was loading in the other process."""
        self.lock = threading.Lock()


_loading = _Loading()


def default_parser() -> Parser:
    """The one parser of this process with the bundled model and default settings."""
    global _parser
    with _loading.lock:
        if _parser is None:
            _parser = load()
        return _parser
