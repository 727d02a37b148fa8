"""An executor with every statement that it is given on record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fastsql.reliability.inspection import state_of

if TYPE_CHECKING:
    from fastsql.execution import Cursor, Executor, Rows
    from fastsql.parser.audit import Audit, ExecutionEntry


class AuditedExecutor:
    """An executor that tells an `Audit` of every statement; made by `Audit.watch`.

    Its errors are those of the executor inside, which sees the SQL first, be it None. Closing it closes that.
    """

    def __init__(
        self,
        executor: Executor,
        audit: Audit,
        dialect: str,
        ids: tuple[str | None, str | None],
        *,
        inspection: bool,
    ) -> None:
        self.executor = executor
        self.audit = audit
        self.dialect = dialect
        self._ids = ids
        self._inspection = inspection

    def state(self) -> object:
        """What the executor inside tells of its database's state; None where it tells nothing."""
        return state_of(self.executor)

    def run(self, sql: str | None) -> Rows:
        """The rows of a query. Raises ExecutionError, VerificationError: as the executor inside."""
        with self.audit.execution(sql, self.dialect, self._ids, inspection=self._inspection) as entry:
            rows = self.executor.run(sql)
            entry.rows, entry.truncated = len(rows.rows), rows.truncated
        return rows

    @contextmanager
    def cursor(self, sql: str | None) -> Iterator[Cursor]:
        """The running query, for a reader that wants row by row; on record are the rows that were read."""
        with (
            self.audit.execution(sql, self.dialect, self._ids, inspection=self._inspection) as entry,
            self.executor.cursor(sql) as cursor,
        ):
            yield _CountingCursor(cursor, entry)

    def close(self) -> None:
        """Let go of the database."""
        self.executor.close()

    def __enter__(self) -> AuditedExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _CountingCursor:
    """A running query whose rows are counted as they are read."""

    def __init__(self, cursor: Cursor, entry: ExecutionEntry) -> None:
        self._cursor = cursor
        self._entry = entry

    @property
    def description(self) -> Any:
        return self._cursor.description

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        rows = self._cursor.fetchmany(size)
        self._entry.rows += len(rows)
        return rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for row in self._cursor:
            self._entry.rows += 1
            yield row
