"""Why a query is what it is: the reasons of its names and literals, and the decisions that wrote it."""

from __future__ import annotations

from fastsql.explanation.reasons import Decision, Explanation, Line, Reason, Span, Trail

__all__ = ["Decision", "Explanation", "Line", "Reason", "Span", "Trail"]
