"""Running finished SQL, read-only and bounded, and checking it independently of how it was made.

`isolation` holds the executor whose queries run in processes of their own. What is not used is not imported.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.execution.connections import ConnectionsBusyError
    from fastsql.execution.executor import (
        Bounds,
        Cursor,
        Executor,
        QueryTimeoutError,
        RefusedError,
        ResultSizeError,
    )
    from fastsql.execution.isolation.worker_process import WorkerDiedError
    from fastsql.execution.rows import Rows
    from fastsql.execution.sqlite import ReadOnlyExecutor
    from fastsql.execution.targets import open_executor
    from fastsql.verification.verify import verify, verify_form

__all__ = [
    "Bounds",
    "ConnectionsBusyError",
    "Cursor",
    "Executor",
    "QueryTimeoutError",
    "ReadOnlyExecutor",
    "RefusedError",
    "ResultSizeError",
    "Rows",
    "WorkerDiedError",
    "open_executor",
    "verify",
    "verify_form",
]

_LAZY = {
    **dict.fromkeys(
        ("Bounds", "Cursor", "Executor", "QueryTimeoutError", "RefusedError", "ResultSizeError"),
        "fastsql.execution.executor",
    ),
    "ConnectionsBusyError": "fastsql.execution.connections",
    "ReadOnlyExecutor": "fastsql.execution.sqlite",
    "Rows": "fastsql.execution.rows",
    "WorkerDiedError": "fastsql.execution.isolation.worker_process",
    "open_executor": "fastsql.execution.targets",
    "verify": "fastsql.verification.verify",
    "verify_form": "fastsql.verification.verify",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
