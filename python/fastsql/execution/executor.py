"""What every executor promises: rows of a query, read-only, within a time limit and a row limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

from fastsql.errors import ExecutionError

Cell: TypeAlias = "str | int | float | bytes | Decimal | date | time | timedelta | None"
"""A value of a result: what drivers give for SQL's plain types. A moment is a `datetime`, which is a `date`."""

TIME_LIMIT = 10.0
"""Seconds that one query may take, if nothing else is said."""
ROW_LIMIT = 10_000
"""Rows that are fetched of one result, if nothing else is said."""


@dataclass(frozen=True)
class Rows:
    """Rows of a result in the query's order. `truncated` tells that there were more than the row limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool = False


class Fetching(Protocol):
    """A running query, in the words of Python's database API (PEP 249)."""

    @property
    def description(self) -> Any:
        """One sequence a column, beginning with its name."""

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows, at most `size` of them; none at the end."""


class Cursor(Fetching, Protocol):
    """A running query that can be read row by row."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...


class Executor(Protocol):
    """Runs queries on one database. May be shared by threads."""

    def run(self, sql: str) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError: it is not a SELECT, does not fit the database, or took longer than the time limit.
            VerificationError: it is not what the executor's schema and list of harmless constructs allow.
        """

    def cursor(self, sql: str) -> AbstractContextManager[Cursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError, VerificationError: as :meth:`run`, whether at the start or while rows are read.
        """

    def close(self) -> None:
        """Let go of the database. The executor cannot be used afterwards."""


class QueryTimeoutError(ExecutionError):
    """A query was ended at its time limit."""


def too_late(time_limit: float) -> QueryTimeoutError:
    """The error for a query that reached its time limit, in seconds."""
    return QueryTimeoutError(
        f"took longer than {time_limit:g} s", where="query", remedy="Ask for less, or raise the time limit."
    )


def failed(kind: str) -> ExecutionError:
    """The error for a query that the database refused, with its code; a message can quote a literal, thus a patient."""
    return ExecutionError(f"failed ({kind})", where="query", remedy="Check that it fits this database.")


def fetch(cursor: Fetching, row_limit: int) -> Rows:
    """The rows of a running query, up to the row limit."""
    columns = tuple(str(entry[0]) for entry in cursor.description)
    rows = [tuple(row) for row in cursor.fetchmany(row_limit + 1)]
    return Rows(columns, tuple(rows[:row_limit]), truncated=len(rows) > row_limit)
