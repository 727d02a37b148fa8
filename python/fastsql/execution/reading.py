"""Running queries: verified before they begin, and never held by a reader longer than the time limit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, TypeVar

from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import Bounds, Cursor, Fetching, Rows, fetch
from fastsql.execution.verify import runnable
from fastsql.schema import Schema

__all__ = ["BoundedCursor", "Deadline", "VerifyingExecutor"]

Self = TypeVar("Self", bound="VerifyingExecutor")

_BATCH = 1_000
"""Rows that are fetched at a time when a reader goes row by row."""


class BoundedCursor:
    """A cursor that looks at the clock before each fetch.

    Args:
        cursor: a driver's cursor, with its query running.
        deadline: when reading must end.
        before_fetch: called with the seconds that are left before each fetch.
    """

    def __init__(
        self, cursor: Fetching, deadline: Deadline, before_fetch: Callable[[float], None] | None = None
    ) -> None:
        self._cursor = cursor
        self._deadline = deadline
        self._before_fetch = before_fetch

    @property
    def description(self) -> Any:
        """One sequence a column, beginning with its name."""
        return self._cursor.description

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows, at most `size` of them; none at the end.

        Raises:
            QueryTimeoutError: the time is up.
        """
        left = self._deadline.remaining()
        if self._before_fetch is not None:
            self._before_fetch(left)
        return self._cursor.fetchmany(size)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while rows := self.fetchmany(_BATCH):
            yield from rows


class VerifyingExecutor(ABC):
    """An executor whose every query passes the verifier first: with a schema its names, too, without one its form."""

    def __init__(self, dialect: str, schema: Schema | None, bounds: Bounds) -> None:
        self._dialect = dialect
        self._schema = schema
        self._bounds = bounds

    def run(self, sql: str) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError, VerificationError: as :class:`fastsql.execution.Executor` says.
        """
        with self.cursor(sql) as cursor:
            return fetch(cursor, self._bounds)

    @contextmanager
    def cursor(self, sql: str) -> Iterator[Cursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError, VerificationError: as :meth:`run`, whether at the start or while rows are read.
        """
        with self.unverified_cursor(runnable(sql, self._schema, dialect=self._dialect)) as cursor:
            yield cursor

    @abstractmethod
    def unverified_cursor(self, sql: str) -> AbstractContextManager[Cursor]:
        """As :meth:`cursor`, behind the database's own walls alone; for tests of those."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database. The executor cannot be used afterwards."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
