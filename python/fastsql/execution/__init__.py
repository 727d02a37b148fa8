"""Running finished SQL, read-only and bounded, and checking it independently of how it was made."""

from __future__ import annotations

from fastsql.execution.executor import Bounds, Cursor, Executor, QueryTimeoutError, ResultSizeError, Rows
from fastsql.execution.sqlite import ReadOnlyExecutor
from fastsql.execution.targets import open_executor
from fastsql.execution.verify import verify, verify_form
from fastsql.execution.worker_process import WorkerDiedError

__all__ = [
    "Bounds",
    "Cursor",
    "Executor",
    "QueryTimeoutError",
    "ReadOnlyExecutor",
    "ResultSizeError",
    "Rows",
    "WorkerDiedError",
    "open_executor",
    "verify",
    "verify_form",
]
