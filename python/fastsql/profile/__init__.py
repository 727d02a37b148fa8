"""Profiles: what names, types, keys, comments and counts tell of a schema, for people to correct."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.profile.model import KINDS, ColumnProfile, Kind, Profile, TableProfile

__all__ = ["KINDS", "ColumnProfile", "Kind", "Profile", "TableProfile"]


def __getattr__(name: str) -> Any:
    """Imported when it is asked for: a parse needs the words of names alone."""
    if name in __all__:
        return getattr(importlib.import_module("fastsql.profile.model"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
