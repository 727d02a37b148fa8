"""A read-only PostgreSQL executor over a SQLAlchemy engine.

Every query runs in a READ ONLY transaction of its own that is always rolled back, as a cursor: DECLARE takes a SELECT and
nothing else (no data-modifying WITH, no INTO, no COPY, no EXPLAIN), and psycopg sends it by the extended protocol, which
takes one statement, so that no text can end the transaction and go on. Time-outs for the statement, for locks and for idling
are set for the transaction. What READ ONLY does not stop, functions with side effects above all, is for the allow-list to
refuse, which every query passes first, and for the role, which should hold SELECT and nothing else (docs/deploying.md).
A server that does not answer holds nobody: connecting, too, ends with the query's time (see `postgres_session`).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from fastsql.errors import ExecutionError
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import (
    BYTE_LIMIT,
    FIRST_ROWS,
    ROW_LIMIT,
    TIME_LIMIT,
    Bounds,
    QueryTimeoutError,
    ResultSizeError,
    Rows,
    failed,
    fetch,
    too_late,
)
from fastsql.execution.isolation.worker_setup import columns_of
from fastsql.execution.postgres_columns import check_columns
from fastsql.execution.postgres_session import (
    ConnectionLostError,
    ReadOnlySession,
    RefusedSettingError,
    SessionCursor,
)
from fastsql.execution.reading import VerifyingExecutor
from fastsql.forking import renew_in_child
from fastsql.schema import Schema

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine
    from sqlalchemy.pool import PoolProxiedConnection

_Results: TypeAlias = "queue.SimpleQueue[PoolProxiedConnection | BaseException | None]"


class PostgresExecutor(VerifyingExecutor):
    """Runs SELECT statements on one PostgreSQL database. May be shared by threads: each query takes a pooled connection.

    In a forked process it lets go of the engine's connections, which are the parent's, and makes its own.

    Args:
        engine: an engine whose driver is psycopg (``postgresql+psycopg://``); its role should be able to SELECT only.
        schema: with it, every query passes :func:`fastsql.execution.verify` first; without it, all of that but the names.
        time_limit: seconds that one query may take, connecting included; a server that keeps no limit is left at 1.1
            times that and a quarter of a second.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all. The server cuts them.
        columns: without a schema, names of tables with their columns, which the database must have under these names.
        own: whether the engine was made for this executor, with its time limit, and ends with it.

    Raises:
        LimitError: a limit is none.
        ExecutionError: the engine has another driver.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        schema: Schema | None = None,
        time_limit: float = TIME_LIMIT,
        row_limit: int = ROW_LIMIT,
        byte_limit: int = BYTE_LIMIT,
        cell_limit: int | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        own: bool = False,
    ) -> None:
        if (engine.dialect.name, engine.dialect.driver) != ("postgresql", "psycopg"):
            raise ExecutionError(
                f"{engine.dialect.name}+{engine.dialect.driver} may send several statements as one",
                where="engine",
                remedy="Create it with a URL that begins with postgresql+psycopg://.",
            )
        self._engine = engine
        super().__init__("postgres", schema, Bounds(time_limit, row_limit, byte_limit, cell_limit))
        self._own = own
        self._healthy = False
        self._checks_client = True
        self._columns = columns if schema is None else columns_of(schema, "postgres")
        self._columns_checked = False
        renew_in_child(self)

    def run(self, sql: str) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError, VerificationError: as :class:`fastsql.execution.Executor` says.
        """
        with self.cursor(sql) as cursor:
            return fetch(cursor, self._bounds, first=getattr(cursor, "first", FIRST_ROWS))

    @contextmanager
    def unverified_cursor(self, sql: str) -> Iterator[SessionCursor]:
        """As :meth:`cursor`, behind PostgreSQL's own walls alone; for tests of those."""
        deadline = Deadline(self._bounds.time_limit)
        query = _encoded(sql)
        session = self._session(deadline)
        try:
            yield session.declare(query, self._bounds.cell_limit)
        except ResultSizeError:
            session.spoil()
            raise
        finally:
            self._healthy = session.close()

    def close(self) -> None:
        """Dispose of the engine, if the executor owns it. The executor should not be used afterwards."""
        if self._own:
            self._engine.dispose()

    def renew_after_fork(self) -> None:
        """Let go of the connections, without a word to the server: in a forked child they are the parent's."""
        self._engine.dispose(close=False)
        self._healthy = False
        self._columns_checked = False

    def _session(self, deadline: Deadline) -> ReadOnlySession:
        """A READ ONLY transaction, on a connection that is alive.

        The pool may hold connections that the server has ended. Nothing was asked of them yet, so the next one is tried.
        """
        attempts = _idle(self._engine) + 2
        while True:
            session = ReadOnlySession(self._checkout(deadline), deadline)
            try:
                session.begin(check_client=self._checks_client)
                if self._columns is not None and not self._columns_checked:
                    check_columns(session, self._columns)
                    self._columns_checked = True
                return session
            except RefusedSettingError:
                self._healthy = session.close()
                if not self._checks_client:
                    raise
                self._checks_client = False
            except ConnectionLostError:
                self._healthy = session.close()
                attempts -= 1
                if attempts <= 0:
                    raise
            except BaseException:
                self._healthy = session.close()
                raise

    def _checkout(self, deadline: Deadline) -> PoolProxiedConnection:
        """A connection of the pool, within the time that is left.

        Our own engine's pool hands out a connection that was fine a moment ago at once. Whatever else it does, connect or
        wait for one, and all that an engine does that was set up elsewhere, may take as long as the network likes: in a
        thread that nobody has to wait for.
        """
        if self._own and self._healthy and _idle(self._engine):
            return self._connect()
        results: _Results = queue.SimpleQueue()
        late = threading.Event()

        def connect() -> None:
            try:
                results.put(self._connect())
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                results.put(error)
            if late.is_set():
                _give_back(results)

        threading.Thread(target=connect, name="fastsql connect", daemon=True).start()
        try:
            found = results.get(timeout=deadline.remaining())
        except queue.Empty:
            found = None
        finally:
            late.set()
        if found is None:
            self._healthy = False
            _give_back(results)
            raise too_late(self._bounds.time_limit)
        if not isinstance(found, BaseException):
            return found
        self._healthy = False
        try:
            raise found
        finally:
            del found  # its traceback holds this frame

    def _connect(self) -> PoolProxiedConnection:
        import psycopg
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.exc import TimeoutError as ExhaustedError

        try:
            return self._engine.raw_connection()
        except ExhaustedError:
            failure: ExecutionError = QueryTimeoutError(
                "no connection became free in time",
                where="database",
                remedy="Run fewer queries at a time, or enlarge the pool.",
            )
        except (SQLAlchemyError, psycopg.Error) as error:
            # The driver's message may repeat the connection string.
            failure = ExecutionError(
                f"cannot be reached ({type(error).__name__})",
                where="database",
                remedy="Check the URL and the server.",
            )
        raise failure


def _encoded(sql: str) -> bytes:
    with suppress(UnicodeError):
        return sql.encode("utf-8")
    # Not while the other is handled: that one holds the text.
    raise failed("UnicodeEncodeError")


def _idle(engine: Engine) -> int:
    """Connections that wait in a pool, as far as it says; some may be dead."""
    count = getattr(engine.pool, "checkedin", None)
    return int(count()) if count is not None else 0


def _give_back(results: _Results) -> None:
    """Return to its pool what came too late, if anything did."""
    with suppress(queue.Empty):
        found = results.get_nowait()
        if found is not None and not isinstance(found, BaseException):
            found.close()
