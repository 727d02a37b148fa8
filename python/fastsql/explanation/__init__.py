"""Why a query is what it is: `links` with every parse; `retrace` and `decisions`, the whole trail, when somebody asks."""

from __future__ import annotations

from fastsql.explanation.explanation import Explanation
from fastsql.explanation.trail import Decision, Line, Reason, Span, Trail, WordRoles

__all__ = ["Decision", "Explanation", "Line", "Reason", "Span", "Trail", "WordRoles"]
