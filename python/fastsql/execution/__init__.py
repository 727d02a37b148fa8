"""Running finished SQL, read-only and bounded, and checking it independently of how it was made."""

from __future__ import annotations

from fastsql.execution.executor import ReadOnlyExecutor, Rows
from fastsql.execution.verify import verify

__all__ = ["ReadOnlyExecutor", "Rows", "verify"]
