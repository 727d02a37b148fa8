"""Reliability: how sure a parse is, whether the question has an answer at all, and whether to give it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fastsql.reliability.assess import Reliability
from fastsql.reliability.evidence import FEATURES, Evidence
from fastsql.reliability.familiarity import Familiarity
from fastsql.reliability.judges import Assessment, Judge, pays, threshold

if TYPE_CHECKING:
    from fastsql.reliability.inspection import Inspector, Rule

__all__ = [
    "FEATURES",
    "Assessment",
    "Evidence",
    "Familiarity",
    "Inspector",
    "Judge",
    "Reliability",
    "Rule",
    "pays",
    "threshold",
]

_LAZY = ("Inspector", "Rule")
"""Of what runs queries before it answers, which few ask for: imported when it is asked for."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module("fastsql.reliability.inspection"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
