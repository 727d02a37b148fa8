"""What a room hands out only when it is asked for: who wants one of its files does not import them all."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazily(room: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a room (PEP 562). `places` says in which file of the room each name is."""

    def handed_out(name: str) -> Any:
        if name in places:
            return getattr(importlib.import_module(f"{room}.{places[name]}"), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return handed_out
