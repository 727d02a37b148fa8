"""Why a query is what it is: `links` with every parse; `retrace` and `decisions`, the whole trail, when somebody asks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.explanation.explanation import Explanation
    from fastsql.explanation.trail import Decision, Line, Reason, Span, Trail, WordRoles

__all__ = ["Decision", "Explanation", "Line", "Reason", "Span", "Trail", "WordRoles"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "explanation" if name == "Explanation" else "trail"
    return getattr(importlib.import_module(f"fastsql.explanation.{module}"), name)
