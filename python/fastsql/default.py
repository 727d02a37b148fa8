"""The parser behind `fastsql.parse`: the bundled model, loaded when it is first needed."""

from __future__ import annotations

import threading

from fastsql.parser import Parser, load

_lock = threading.Lock()
_parser: Parser | None = None


def default_parser() -> Parser:
    """The one parser of this process with the bundled model and default settings."""
    global _parser
    with _lock:
        if _parser is None:
            _parser = load()
        return _parser
