"""The executor that fits a database: a file, a URL or an engine."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import DialectError, ExecutionError, LimitError
from fastsql.execution.executor import BYTE_LIMIT, ROW_LIMIT, TIME_LIMIT, Bounds, Executor
from fastsql.execution.isolation.worker_setup import (
    MEMORY_LIMIT,
    WORKERS,
    WorkerSetup,
    bounds_arguments,
    columns_of,
    driver_environment,
)
from fastsql.execution.sqlite import ReadOnlyExecutor, check_attached
from fastsql.limits import check_count
from fastsql.schema import Schema
from fastsql.schema.dialects import plain_url
from fastsql.schema.duckdb_file import is_duckdb
from fastsql.schema.sqlite_file import SQLiteFile
from fastsql.verification.readable import Readable

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Engine

    from fastsql.execution.postgres import PostgresExecutor


def open_executor(
    target: str | Path | Engine,
    *,
    schema: Schema | None = None,
    time_limit: float = TIME_LIMIT,
    row_limit: int = ROW_LIMIT,
    byte_limit: int = BYTE_LIMIT,
    cell_limit: int | None = None,
    isolated: bool = False,
    workers: int = WORKERS,
    memory_limit: int | None = None,
    connections: int | None = None,
    attached: Mapping[str, str | Path] | None = None,
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
        isolated: run queries in processes of their own, which are killed at the time limit and a grace, a quarter of it
            and half a second, whatever they are doing; takes a PostgreSQL URL and no engine.
        workers: isolated processes, which is how many queries run at the same time.
        memory_limit: bytes that an isolated process may take for its queries, 1 GiB if nothing is said; without
            `isolated`, bytes that SQLite or DuckDB may take, see their executors.
        connections: connections to the database that all executors of this process together may hold, 4 if nothing is
            said, or as many as there are `workers`; of several numbers the largest counts. Where they are in use, a query
            waits for its turn within its time limit. The pool of an engine that is given has bounds of its own.
        attached: further SQLite files by the names under which they are attached to an SQLite file; these are the
            namespaces of their tables.

    Raises:
        LimitError: a limit is not a number above 0.
        ExecutionError: there is no such database, or what it takes to reach it is not installed.
        DialectError: there is no read-only executor for such databases.
        TypeError: the target or the schema is of another type.
    """
    if not (isinstance(target, (str, Path)) or hasattr(target, "url")):
        raise TypeError(f"target is a path, a URL or an engine, not {type(target).__name__}")
    if not (schema is None or isinstance(schema, Schema)):
        raise TypeError(f"schema is a Schema (Schema.coerce makes one), not {type(schema).__name__}")
    bounds = Bounds(time_limit, row_limit, byte_limit, cell_limit)
    for count, name in ((memory_limit, "memory_limit"), (connections, "connections")):
        if count is not None:
            check_count(count, name)
    dialect, place = _found(target)
    if attached and dialect != "sqlite":
        raise ExecutionError(
            "files are attached to an SQLite database alone", where="attached", remedy="Leave it out."
        )
    if isolated:
        return _isolated_executor(
            dialect, place, schema, bounds, workers, memory_limit or MEMORY_LIMIT, connections, attached or {}
        )
    limits: dict[str, Any] = {"schema": schema, **bounds_arguments(bounds)}
    if connections is not None:
        limits["connections"] = connections
    if dialect == "sqlite":
        if memory_limit is not None:
            limits["memory_limit"] = memory_limit
        return ReadOnlyExecutor(place, attached=attached, **limits)
    if dialect == "duckdb":
        from fastsql.execution.duckdb import DuckDBExecutor

        if memory_limit is not None:
            limits["memory_limit"] = f"{memory_limit}B"
        return DuckDBExecutor(place, **limits)
    if memory_limit is not None:
        raise LimitError(
            "PostgreSQL's server decides how much memory a query may use",
            where="memory_limit",
            remedy="Use isolated=True, or limit the memory of the role on the server.",
        )
    if isinstance(place, str):
        return postgres_executor(place, **limits)
    from fastsql.execution.postgres import PostgresExecutor

    if connections is not None:
        raise LimitError(
            "an engine's own pool says how many there are",
            where="connections",
            remedy="Give pool_size and max_overflow to create_engine, or give a URL.",
        )
    return PostgresExecutor(place, **limits)


def postgres_executor(url: str, **arguments: Any) -> PostgresExecutor:
    """A PostgreSQL executor with an engine of its own; `arguments` are its class's."""
    from fastsql.execution.postgres import PostgresExecutor

    return PostgresExecutor(_engine(_url(url), arguments["time_limit"]), own=True, **arguments)


def _found(target: str | Path | Engine) -> tuple[str, Any]:
    """The dialect of a database, and where it is: a path, the text of a URL, or a PostgreSQL engine.

    Raises:
        ExecutionError: it is in memory, or the text is not a URL.
        DialectError: there is no executor for it.
    """
    if isinstance(target, Path) or (isinstance(target, str) and "://" not in target):
        return _file_dialect(Path(target)), Path(target)
    url = _url(target) if isinstance(target, str) else target.url
    backend = url.get_backend_name()
    if backend in ("sqlite", "duckdb"):
        if url.database in (None, "", ":memory:"):
            raise ExecutionError(
                "a database in memory cannot be opened a second time",
                where=f"{backend}://",
                remedy="Give a database file.",
            )
        return _file_dialect(Path(str(url.database))), Path(str(url.database))
    if backend != "postgresql":
        raise DialectError(
            f"no read-only executor for {backend!r}",
            remedy="Give an SQLite or DuckDB file, or a PostgreSQL URL; or run the SQL yourself.",
        )
    return "postgres", target


def _isolated_executor(
    dialect: str,
    place: Any,
    schema: Schema | None,
    bounds: Bounds,
    workers: int,
    memory_limit: int,
    connections: int | None,
    attached: Mapping[str, str | Path],
) -> Executor:
    from fastsql.execution.isolation.isolated import IsolatedExecutor

    if not isinstance(place, (str, Path)):
        raise ExecutionError(
            "an engine cannot be passed to another process", where="isolated=True", remedy="Give its URL."
        )
    if isinstance(place, Path):
        place = str(place.absolute())
    environment = driver_environment() if dialect == "postgres" else {}
    columns = columns_of(schema, dialect)
    if dialect == "sqlite":
        check_attached(None if columns is None else Readable.of_names(columns), SQLiteFile(place, attached))
    others = {name: str(Path(path).absolute()) for name, path in attached.items()}
    setup = WorkerSetup(dialect, place, bounds, memory_limit, columns, environment, others)
    return IsolatedExecutor(setup, schema=schema, workers=workers, connections=connections)


def _file_dialect(path: Path) -> str:
    return "duckdb" if is_duckdb(path) else "sqlite"


def _url(text: str) -> URL:
    try:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise ExecutionError(
            "SQLAlchemy is not installed", where="database URL", remedy="pip install 'fastsql[db]'"
        ) from error
    try:
        return make_url(plain_url(text))
    except ArgumentError:
        raise ExecutionError("it is not a database URL that SQLAlchemy knows", where="database URL") from None


def _engine(url: URL, time_limit: float) -> Engine:
    """An engine whose connecting ends with a query's time; what it connects is pooled by `connections`."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(ceil(time_limit))})
    try:
        return create_engine(url, poolclass=NullPool)
    except ModuleNotFoundError as error:
        raise ExecutionError(
            f"the driver {error.name!r} is not installed",
            where="database URL",
            remedy="pip install 'fastsql[postgres]'",
        ) from error
