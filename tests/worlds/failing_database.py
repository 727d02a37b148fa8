"""Databases that stop answering, and such as fail at some queries for reasons of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from fastsql.errors import ExecutionError
from fastsql.execution import Cursor, Executor, Rows
from fastsql.execution.executor import too_large, too_late


class Watched:
    """An executor whose every query is looked at before it runs."""

    def __init__(self, executor: Executor, look: Callable[[str], None]) -> None:
        self.dialect = executor.dialect
        self._executor = executor
        self._look = look

    def run(self, sql: str | None) -> Rows:
        self._look(str(sql))
        return self._executor.run(sql)

    @contextmanager
    def cursor(self, sql: str | None) -> Iterator[Cursor]:
        self._look(str(sql))
        with self._executor.cursor(sql) as cursor:
            yield cursor

    def close(self) -> None:
        self._executor.close()

    def __enter__(self) -> Watched:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def lost() -> None:
    """What a server that went away says to every query."""
    raise ExecutionError("the server closed the connection", where="query", remedy="Ask its administrator.")


def vanishing(executor: Executor, calls: int, vanish: Callable[[], None] = lost) -> Watched:
    """A database that answers so many queries; `vanish` is called before each further one, and may raise."""
    left = calls

    def look(_sql: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            vanish()

    return Watched(executor, look)


def refusing(executor: Executor, one_in: int) -> Watched:
    """A database where one in so many queries runs into a limit, by turns that of time and that of memory."""
    asked = 0

    def look(sql: str) -> None:
        nonlocal asked
        asked += sql != "SELECT 1"
        if sql != "SELECT 1" and asked % one_in == 0:
            raise too_late(1.0) if asked % (2 * one_in) else too_large(2**20)

    return Watched(executor, look)
