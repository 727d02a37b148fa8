"""A read-only PostgreSQL executor over a SQLAlchemy engine.

Every query runs in a READ ONLY transaction of its own that is always rolled back, as a cursor: DECLARE takes a SELECT and
nothing else (no data-modifying WITH, no INTO, no COPY, no EXPLAIN), and psycopg sends it by the extended protocol, which
takes one statement, so that no text can end the transaction and go on. Time-outs for the statement, for locks and for idling
are set for the transaction. What READ ONLY does not stop, functions with side effects above all, is for the allow-list to
refuse, which every query passes first, and for the role, which should hold SELECT and nothing else (docs/deploying.md).
A server that does not answer holds nobody: connecting, too, ends with the query's time (see `postgres_session`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from fastsql.errors import ExecutionError
from fastsql.execution.connections import CONNECTIONS, Lease, closed
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import (
    BYTE_LIMIT,
    FIRST_ROWS,
    ROW_LIMIT,
    TIME_LIMIT,
    Bounds,
    ResultSizeError,
    failed,
    fetch,
)
from fastsql.execution.isolation.worker_setup import columns_of
from fastsql.execution.postgres_columns import check_columns, shape_of
from fastsql.execution.postgres_connections import PooledConnection, PostgresConnections
from fastsql.execution.postgres_session import (
    ConnectionLostError,
    ReadOnlySession,
    RefusedSettingError,
    SessionCursor,
)
from fastsql.execution.reading import VerifyingExecutor
from fastsql.execution.reuse import Statement, TemporaryTable
from fastsql.execution.rows import Rows
from fastsql.forking import renew_in_child
from fastsql.limits import check_count
from fastsql.schema import Schema

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine


class PostgresExecutor(VerifyingExecutor):
    """Runs SELECT statements on one PostgreSQL database. May be shared by threads: each query takes a connection.

    In a forked process it lets go of the connections, which are the parent's, and makes its own.

    Args:
        engine: an engine whose driver is psycopg (``postgresql+psycopg://``); its role should be able to SELECT only.
        schema: with it, every query passes :func:`fastsql.execution.verify` first; without it, all of that but the names.
        time_limit: seconds that one query may take, connecting included; a server that keeps no limit is left at 1.1
            times that and a quarter of a second.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all. The server cuts them.
        columns: without a schema, names of tables with their columns, which the database must have under these names.
        own: whether the engine was made for this executor and pools nothing; otherwise its own pool is used, and bounds.
        connections: with `own`, queries that may run at the same time; executors of this process on the same server,
            database and role share them.

    Raises:
        LimitError: a limit is not a number above 0.
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
        connections: int = CONNECTIONS,
    ) -> None:
        if (engine.dialect.name, engine.dialect.driver) != ("postgresql", "psycopg"):
            raise ExecutionError(
                f"{engine.dialect.name}+{engine.dialect.driver} may send several statements as one",
                where="engine",
                remedy="Create it with a URL that begins with postgresql+psycopg://.",
            )
        self._engine = engine
        super().__init__("postgres", schema, Bounds(time_limit, row_limit, byte_limit, cell_limit))
        check_count(connections, "connections")
        self._own = own
        self._connections = PostgresConnections(engine, connections if own else None)
        self._running: set[ReadOnlySession] = set()
        self._checks_client = True
        self._columns = columns if schema is None else columns_of(schema, "postgres")
        self._columns_checked = False
        renew_in_child(self)

    def run(self, sql: str | None) -> Rows:
        """The rows of a query.

        Raises:
            ExecutionError, VerificationError: as :class:`fastsql.execution.Executor` says.
        """
        with self.cursor(sql) as cursor:
            return fetch(cursor, self._bounds, first=getattr(cursor, "first", FIRST_ROWS))

    def run_statement(self, statement: Statement) -> Rows:
        """The rows of a statement that was verified. Raises ExecutionError as :meth:`run`."""
        with self._cursor(statement) as cursor:
            return fetch(cursor, self._bounds, first=cursor.first)

    def shape(self, schema: Schema) -> str:
        """A digest of the tables, views and columns of the schema. Raises ExecutionError where they cannot be read."""
        return self.shape_of(list(self._columns or columns_of(schema, "postgres") or ()))

    def shape_of(self, tables: Sequence[str]) -> str:
        """The same of tables by their quoted names."""
        lease, session = self._session(Deadline(self._bounds.time_limit))
        try:
            return shape_of(session, tables)
        finally:
            self._end(lease, session)

    @contextmanager
    def unverified_cursor(self, sql: str) -> Iterator[SessionCursor]:
        """As :meth:`cursor`, behind PostgreSQL's own walls alone; for tests of those."""
        with self._cursor(Statement(sql)) as cursor:
            yield cursor

    @contextmanager
    def _cursor(self, statement: Statement) -> Iterator[SessionCursor]:
        deadline = Deadline(self._bounds.time_limit)
        query = _encoded(statement.text)
        lease, session = self._session(deadline, statement.tables)
        try:
            if statement.values:
                session.check_collations()
            yield session.declare(query, self._bounds.cell_limit, statement.values)
        except ResultSizeError:
            session.spoil()
            raise
        finally:
            self._end(lease, session)

    def close(self) -> None:
        """End the queries that run, and let go of the executor's own connections. It cannot be used afterwards."""
        self._connections.close()
        for session in list(self._running):
            session.interrupt()
        if self._own:
            self._engine.dispose()

    def renew_after_fork(self) -> None:
        """Let go of the connections, without a word to the server: in a forked child they are the parent's."""
        self._engine.dispose(close=False)
        self._running = set()
        self._columns_checked = False

    def _session(
        self, deadline: Deadline, tables: Sequence[TemporaryTable] = ()
    ) -> tuple[Lease[PooledConnection], ReadOnlySession]:
        """A READ ONLY transaction, on a connection that is alive.

        The server may have ended connections that were idle. Nothing was asked of them yet, so the next one is tried.
        """
        attempts = self._connections.doubtful() + 2
        while True:
            lease, held = self._connections.take(deadline)
            session = ReadOnlySession(held.connection, deadline, partial(self._connections.revoke, lease))
            self._running.add(session)
            try:
                if self._connections.closed:  # whoever closed it did not see this session
                    raise closed()
                session.begin(check_client=self._checks_client, tables=tables)
                if self._columns is not None and not self._columns_checked:
                    check_columns(session, self._columns)
                    self._columns_checked = True
                return lease, session
            except RefusedSettingError:
                self._end(lease, session)
                if not self._checks_client:
                    raise
                self._checks_client = False
            except ConnectionLostError:
                self._end(lease, session)
                attempts -= 1
                if attempts <= 0:
                    raise
            except BaseException:
                self._end(lease, session)
                raise

    def _end(self, lease: Lease[PooledConnection], session: ReadOnlySession) -> None:
        usable = False
        self._running.discard(session)
        try:
            usable = session.close()
        finally:
            self._connections.give_back(lease, usable=usable)


def _encoded(sql: str) -> bytes:
    with suppress(UnicodeError):
        return sql.encode("utf-8")
    # Not while the other is handled: that one holds the text.
    raise failed("UnicodeEncodeError")
