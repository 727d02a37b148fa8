"""Adapting a bundle to one's own database, on one's own machine (extra `adapt`); the command is ``fastsql adapt``.

A bundle's way: `seeds`, `material`, `recipe`, `fastsql.training`, `fitting`; `adapt` puts them together. After
ScienceBenchmark (Zhang et al., VLDB 2024, section 3), with a grammar and a small model in place of GPT-3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.adapt.adapting import Adapted, WorseError, adapt
    from fastsql.adapt.material import AdaptError

__all__ = ["AdaptError", "Adapted", "WorseError", "adapt"]


def __getattr__(name: str) -> Any:
    # Training imports torch, which takes a second.
    if name in ("Adapted", "WorseError", "adapt"):
        from fastsql.adapt import adapting

        return getattr(adapting, name)
    if name == "AdaptError":
        from fastsql.adapt.material import AdaptError

        return AdaptError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
