"""What every executor promises: rows of a query, read-only, within limits of time, rows and bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from sys import getsizeof
from types import TracebackType
from typing import Any, Protocol
from uuid import UUID

from fastsql.errors import ExecutionError
from fastsql.execution.rows import Rows
from fastsql.limits import check_count, check_seconds

TIME_LIMIT = 10.0
"""Seconds that one query may take, if nothing else is said."""
ROW_LIMIT = 10_000
"""Rows that are fetched of one result, if nothing else is said."""
BYTE_LIMIT = 64 * 2**20
"""Bytes of memory that the rows of one result may take, if nothing else is said."""

FIRST_ROWS = 8
"""Rows that are fetched before anything is known of their size."""
_MOST_ROWS = 1_000
_GROWTH = 8
"""How many times as many rows the next fetch may bring."""
_SHARE = 8
"""A fetch may take one part in so many of the budget, as far as the rows before it tell."""
_FLAT = frozenset(
    {str, int, float, bool, bytes, bytearray, type(None), Decimal, date, datetime, time, timedelta, UUID}
)
"""Types whose `sys.getsizeof` is all that a cell takes."""


@dataclass(frozen=True)
class Bounds:
    """What one query may take.

    Attributes:
        time_limit: seconds.
        row_limit: rows that are fetched of a result; a longer one is cut and marked.
        byte_limit: bytes of Python's memory that the fetched rows may take; a larger result is an error.
        cell_limit: characters of a text cell, or bytes of a binary one, beyond which it is cut; None cuts none.

    Raises:
        LimitError: one of them is no limit: 0, negative, NaN, infinite, or no number.
    """

    time_limit: float = TIME_LIMIT
    row_limit: int = ROW_LIMIT
    byte_limit: int = BYTE_LIMIT
    cell_limit: int | None = None

    def __post_init__(self) -> None:
        check_seconds(self.time_limit, "time_limit")
        check_count(self.row_limit, "row_limit")
        check_count(self.byte_limit, "byte_limit")
        if self.cell_limit is not None:
            check_count(self.cell_limit, "cell_limit")


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

    @property
    def dialect(self) -> str:
        """Of the SQL that it runs, as `fastsql.parse` writes it: "sqlite", "duckdb" or "postgres"."""

    def run(self, sql: str | None) -> Rows:
        """The rows of a query.

        Raises:
            RefusedError: it is None, as the SQL of a refusal is.
            ExecutionError: it is not a SELECT, does not fit the database, or took longer than the time limit.
            VerificationError: it is not what the executor's schema and list of harmless constructs allow.
        """

    def cursor(self, sql: str | None) -> AbstractContextManager[Cursor]:
        """The running query, for a reader that wants row by row; the time limit covers the whole ``with`` block.

        Raises:
            ExecutionError, VerificationError: as :meth:`run`, whether at the start or while rows are read.
        """

    def close(self) -> None:
        """Let go of the database. The executor cannot be used afterwards."""

    def __enter__(self) -> Executor: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class RefusedError(ExecutionError):
    """The SQL of a refusal was to be run: there is none."""


class QueryTimeoutError(ExecutionError):
    """A query was ended at its time limit."""


class ResultSizeError(ExecutionError):
    """The rows of a result take more memory than the byte limit."""


class DatabaseGoneError(ExecutionError):
    """A database that was opened no longer answers."""


def check_alive(executor: Executor, query: str = "SELECT 1") -> None:
    """Tells a query that failed from a database that went away: for whoever goes on without the query.

    Raises DatabaseGoneError where the database does not answer `query`, which it can answer.
    """
    try:
        executor.run(query)
    except ExecutionError as error:
        raise DatabaseGoneError(
            f"no longer answers ({error.what})",
            where="database" if error.where == "query" else error.where,
            remedy="See that it is there and can be reached, then begin again.",
        ) from error


def query_text(sql: str | None) -> str:
    """The text of a query.

    Raises:
        RefusedError: it is None, as the SQL of a refusal is.
        ExecutionError: it is no text.
    """
    if isinstance(sql, str):
        return sql
    if sql is None:
        raise RefusedError(
            "there is no SQL to run: the question was refused",
            where="query",
            remedy="Look at the result before you run its SQL (result.reason says why), or use Parser.ask, which does.",
        )
    raise ExecutionError(
        f"is {type(sql).__name__}, not text", where="query", remedy="Give a SELECT statement."
    )


def too_late(time_limit: float) -> QueryTimeoutError:
    """The error for a query that reached its time limit, in seconds."""
    return QueryTimeoutError(
        f"took longer than {time_limit:g} s", where="query", remedy="Ask for less, or raise the time limit."
    )


def too_large(byte_limit: int) -> ResultSizeError:
    """The error for a result that takes more than `byte_limit` bytes."""
    return ResultSizeError(
        f"the result takes more than {byte_limit / 2**20:,.3g} MiB of memory (byte_limit)",
        where="query",
        remedy="Ask for fewer rows or columns, set cell_limit to cut long cells, or raise byte_limit.",
    )


def failed(kind: str) -> ExecutionError:
    """The error for a query that the database refused, with its code; a message can quote a literal, thus a patient."""
    return ExecutionError(f"failed ({kind})", where="query", remedy="Check that it fits this database.")


def fetch(cursor: Fetching, bounds: Bounds, *, first: int = FIRST_ROWS) -> Rows:
    """The rows of a running query, up to the row limit.

    They come in batches: `first` rows, then as many as the size of those before allows.

    Raises:
        ResultSizeError: they take more than the byte limit. What had been fetched by then is let go.
    """
    columns = tuple(str(entry[0]) for entry in cursor.description)
    rows: list[tuple[Any, ...]] = []
    used = cut = 0
    asked = min(first, bounds.row_limit + 1)
    while True:
        found = cursor.fetchmany(asked)
        batch = [tuple(row) for row in found[: bounds.row_limit - len(rows)]]
        if bounds.cell_limit is not None:
            batch, shortened = _cut(batch, bounds.cell_limit)
            cut += shortened
        size = memory_of(batch)
        used += size
        if used > bounds.byte_limit:
            raise too_large(bounds.byte_limit)
        rows += batch
        if len(found) < asked or len(found) > len(batch):
            return Rows(columns, tuple(rows), truncated=len(found) > len(batch), cut=cut)
        fitting = bounds.byte_limit * len(batch) // (_SHARE * size) if batch else 1
        asked = min(max(1, fitting), _GROWTH * asked, _MOST_ROWS, bounds.row_limit + 1 - len(rows))


def memory_of(rows: Sequence[tuple[Any, ...]]) -> int:
    """Bytes of memory that rows take, objects that Python shares between them counted each time."""
    cells = list(chain.from_iterable(rows))
    size = sum(map(getsizeof, rows)) + sum(map(getsizeof, cells))
    if not _FLAT.issuperset(map(type, cells)):
        size += sum(map(_content, cells))
    return size


def _content(cell: Any) -> int:
    """Bytes of what a container holds: PostgreSQL's arrays and JSON, DuckDB's lists, maps and structures."""
    size = 0
    open_ = [cell]
    while open_:
        container = open_.pop()
        items: Iterable[Any] = ()
        if isinstance(container, dict):
            items = chain(container, container.values())
        elif isinstance(container, (list, tuple, set, frozenset)):
            items = container
        for item in items:
            size += getsizeof(item)
            open_.append(item)
    return size


def _cut(rows: list[tuple[Any, ...]], longest: int) -> tuple[list[tuple[Any, ...]], int]:
    """Rows without what text and binary cells hold beyond `longest`, and how many cells that was."""
    count = 0
    short: list[tuple[Any, ...]] = []
    for row in rows:
        long = [isinstance(cell, (str, bytes)) and len(cell) > longest for cell in row]
        count += sum(long)
        short.append(
            tuple(cell[:longest] if cut else cell for cell, cut in zip(row, long, strict=True))
            if any(long)
            else row
        )
    return short, count
