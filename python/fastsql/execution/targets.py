"""The executor that fits a database: a file, a URL or an engine."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import DialectError, ExecutionError
from fastsql.execution.executor import BYTE_LIMIT, ROW_LIMIT, TIME_LIMIT, Executor
from fastsql.execution.sqlite import ReadOnlyExecutor
from fastsql.schema import Schema

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Engine

_DUCKDB_MAGIC = slice(8, 12)
"""Where a DuckDB file says b"DUCK"."""


def open_executor(
    target: str | Path | Engine,
    *,
    schema: Schema | None = None,
    time_limit: float = TIME_LIMIT,
    row_limit: int = ROW_LIMIT,
    byte_limit: int = BYTE_LIMIT,
    cell_limit: int | None = None,
) -> Executor:
    """A read-only executor for a database.

    Args:
        target: path of an SQLite or DuckDB file, a SQLAlchemy URL, or an engine. Files are opened anew, read-only, even if
            an engine is given; a PostgreSQL engine is used as it is.
        schema: with it, every query passes :func:`fastsql.execution.verify` first.
        time_limit: seconds that one query may take.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take; a larger result is a :class:`ResultSizeError`.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all.

    Raises:
        LimitError: a limit is none.
        ExecutionError: there is no such database, or what it takes to reach it is not installed.
        DialectError: there is no read-only executor for such databases.
    """
    bounds: dict[str, Any] = {
        "schema": schema,
        "time_limit": time_limit,
        "row_limit": row_limit,
        "byte_limit": byte_limit,
        "cell_limit": cell_limit,
    }
    if isinstance(target, Path) or (isinstance(target, str) and "://" not in target):
        return _file_executor(Path(target), bounds)
    url = _url(target) if isinstance(target, str) else target.url
    backend = url.get_backend_name()
    if backend in ("sqlite", "duckdb"):
        if url.database in (None, "", ":memory:"):
            raise ExecutionError(
                "a database in memory cannot be opened a second time",
                where=f"{backend}://",
                remedy="Give one that lies in a file.",
            )
        return _file_executor(Path(str(url.database)), bounds)
    if backend != "postgresql":
        raise DialectError(
            f"no read-only executor for {backend!r}",
            remedy="Give an SQLite or DuckDB file, or a PostgreSQL URL; or run the SQL yourself.",
        )
    from fastsql.execution.postgres import PostgresExecutor

    if isinstance(target, str):
        return PostgresExecutor(_engine(url, time_limit), own=True, **bounds)
    return PostgresExecutor(target, **bounds)


def _file_executor(path: Path, bounds: dict[str, Any]) -> Executor:
    if _is_duckdb(path):
        from fastsql.execution.duckdb import DuckDBExecutor

        return DuckDBExecutor(path, **bounds)
    return ReadOnlyExecutor(path, **bounds)


def _is_duckdb(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(_DUCKDB_MAGIC.stop)[_DUCKDB_MAGIC] == b"DUCK"


def _url(text: str) -> URL:
    try:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise ExecutionError(
            "SQLAlchemy is not installed", where="database URL", remedy="pip install 'fastsql[db]'"
        ) from error
    try:
        return make_url(text)
    except ArgumentError:
        raise ExecutionError("it is no database URL that SQLAlchemy knows", where="database URL") from None


def _engine(url: URL, time_limit: float) -> Engine:
    """An engine whose connecting, and whose waiting for a connection, ends with a query's time."""
    from sqlalchemy import create_engine

    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(ceil(time_limit))})
    try:
        return create_engine(url, pool_timeout=time_limit)
    except ModuleNotFoundError as error:
        raise ExecutionError(
            f"the driver {error.name!r} is not installed",
            where="database URL",
            remedy="pip install 'fastsql[postgres]'",
        ) from error
