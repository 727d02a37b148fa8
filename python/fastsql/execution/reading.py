"""What executors share that verify every query before it runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TypeVar

from fastsql.execution.executor import Bounds, Cursor, fetch, query_text
from fastsql.execution.reuse import Reusing
from fastsql.execution.rows import Rows
from fastsql.schema import Schema
from fastsql.verification.verify import Runnables

Self = TypeVar("Self", bound="VerifyingExecutor")


class VerifyingExecutor(Reusing):
    """An executor whose every query passes the verifier first: with a schema its names, too, without one its form."""

    def __init__(self, dialect: str, schema: Schema | None, bounds: Bounds) -> None:
        self.dialect = dialect
        self._schema = schema
        self._runnables = Runnables(schema, dialect)
        self._bounds = bounds

    def run(self, sql: str | None) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError, VerificationError: as :class:`fastsql.execution.Executor` says.
        """
        with self.cursor(sql) as cursor:
            return fetch(cursor, self._bounds)

    @contextmanager
    def cursor(self, sql: str | None) -> Iterator[Cursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError, VerificationError: as :meth:`run`, whether at the start or while rows are read.
        """
        with self.unverified_cursor(self._runnables.of(query_text(sql))) as cursor:
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
