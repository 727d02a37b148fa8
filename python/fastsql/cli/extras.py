"""What commands of training say where their packages are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastsql.errors import FastSQLError


@contextmanager
def train_extra() -> Iterator[None]:
    """For imports of `fastsql.training`. Raises FastSQLError, naming the extra, where a package is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "fastsql":
            raise
        raise FastSQLError(
            f"training needs {error.name}", remedy="Run: pip install 'fastsql[train]'"
        ) from error
