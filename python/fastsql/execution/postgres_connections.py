"""The connections of a PostgreSQL executor: of the quota that it shares with others, or of an engine that it was given.

Whatever may take as long as the network likes, connecting above all, happens in a thread that nobody has to wait for.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Hashable
from contextlib import suppress
from sys import maxsize
from typing import TYPE_CHECKING, Any, TypeAlias

from fastsql.errors import ExecutionError
from fastsql.execution.connections import ConnectionsBusyError, Lease, Pool, Quota, quota_of
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import QueryTimeoutError, too_late

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy.engine import URL, Engine
    from sqlalchemy.pool import PoolProxiedConnection

_Results: TypeAlias = "queue.SimpleQueue[PooledConnection | BaseException]"

_FULL = ("too many connections for", "too many clients", "remaining connection slots")
"""What a server says, in English, that takes no more connections; it has a code for that, which libpq does not pass on."""
_PAUSE = 0.05
"""Seconds until such a server is asked again."""


class PooledConnection:
    """A connection that an engine made."""

    def __init__(self, pooled: PoolProxiedConnection) -> None:
        self._pooled = pooled
        self.connection: psycopg.Connection[Any] = pooled.driver_connection  # type: ignore[assignment]

    def spoil(self) -> None:
        """Close it; its engine's pool keeps it no longer."""
        self._pooled.invalidate()

    def drop(self) -> None:
        """Give it back to its engine."""
        self._pooled.close()


class PostgresConnections:
    """Where an executor's connections come from.

    Args:
        engine: what makes them.
        most: how many the executor uses at the same time; None where the engine's own pool says it.
    """

    def __init__(self, engine: Engine, most: int | None) -> None:
        self._engine = engine
        self._keeps = most is not None
        if most is None:
            self._pool: Pool[PooledConnection] = Pool(Quota(), maxsize)
        else:
            self._pool = Pool(quota_of(database_of(engine.url)), most, kind=_kind(engine.url))

    @property
    def closed(self) -> bool:
        """Whether no more are leased."""
        return self._pool.closed

    def take(self, deadline: Deadline) -> tuple[Lease[PooledConnection], PooledConnection]:
        """A lease and its connection, which the server may have ended meanwhile.

        Raises:
            ConnectionsBusyError: none became free in time, here or at the server.
            QueryTimeoutError: the server did not answer.
            ExecutionError: it cannot be reached.
        """
        busy: ConnectionsBusyError | None = None
        try:
            while True:
                lease = self._pool.take(deadline)
                try:
                    connection = lease.connection = lease.connection or self._opened(lease, deadline)
                except ConnectionsBusyError as error:
                    if deadline.moment - time.monotonic() < _PAUSE:
                        raise
                    busy = error
                except QueryTimeoutError:
                    if busy is None:
                        raise
                    raise busy from None  # it has answered, if not the last time
                else:
                    return lease, connection
                time.sleep(_PAUSE)
        finally:
            del busy  # its traceback holds this frame

    def give_back(self, lease: Lease[PooledConnection], *, usable: bool) -> None:
        """End a lease; what cannot be used again is closed."""
        if not usable and lease.connection is not None:
            lease.connection.spoil()
        self._pool.end(lease, keep=usable and self._keeps)

    def revoke(self, lease: Lease[PooledConnection]) -> None:
        """Give a lease's place to others, before its holder ends it."""
        self._pool.revoke(lease)

    def doubtful(self) -> int:
        """How many connections wait that the server may have ended."""
        waiting = getattr(self._engine.pool, "checkedin", None)
        return (
            len(self._pool.idle)
            + sum(len(twin.idle) for twin in self._pool.twins())
            + (waiting() if waiting else 0)
        )

    def close(self) -> None:
        """Lease no more, and close what is idle."""
        for connection in self._pool.shut()[0]:
            connection.drop()

    def _opened(self, lease: Lease[PooledConnection], deadline: Deadline) -> PooledConnection:
        """A new connection; where there is an error instead, the lease has been ended, or will be."""
        results: _Results = queue.SimpleQueue()
        late = threading.Event()

        def connect() -> None:
            try:
                results.put(self._connect())
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                results.put(error)
            if late.is_set():
                self._collect(lease, results)

        threading.Thread(target=connect, name="fastsql connect", daemon=True).start()
        try:
            found = results.get(timeout=deadline.remaining())
        except BaseException as error:
            late.set()
            self._collect(lease, results)
            if not isinstance(error, queue.Empty):
                raise
            found = too_late(deadline.time_limit)
        else:
            if isinstance(found, PooledConnection):
                return found
            self._pool.end(lease, keep=False)
        try:
            raise found
        finally:
            del found  # its traceback holds this frame

    def _collect(self, lease: Lease[PooledConnection], results: _Results) -> None:
        """End a lease whose holder waits no more, if the result has come."""
        with suppress(queue.Empty):
            found = results.get_nowait()
            lease.connection = found if isinstance(found, PooledConnection) else None
            self._pool.end(lease, keep=self._keeps)

    def _connect(self) -> PooledConnection:
        import psycopg
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.exc import TimeoutError as ExhaustedError

        try:
            return PooledConnection(self._engine.raw_connection())
        except ExhaustedError:
            failure: ExecutionError = ConnectionsBusyError(
                "no connection became free in time",
                where="database",
                remedy="Run fewer queries at a time, or enlarge the pool.",
            )
        except (SQLAlchemyError, psycopg.Error) as error:
            # The driver's message may repeat the connection string.
            if any(said in str(error) for said in _FULL):
                failure = ConnectionsBusyError(
                    "the server takes no more connections of this role or database",
                    where="database",
                    remedy="Give executors fewer connections, in this process and in others, or raise the server's limit.",
                )
            else:
                failure = ExecutionError(
                    f"cannot be reached ({type(error).__name__})",
                    where="database",
                    remedy="Check the URL and the server.",
                )
        raise failure


def database_of(url: URL) -> Hashable:
    """What the connections to a database are counted by: the server, the database and the role."""
    host, port = url.query.get("host", url.host), url.query.get("port", url.port)
    return "postgresql", host, str(port or ""), url.database, url.username


def _kind(url: URL) -> Hashable:
    # Connecting may take another time, which makes no other connection.
    return url.difference_update_query(["connect_timeout"]).render_as_string(hide_password=False)
