"""One query's stay on a PostgreSQL connection: a READ ONLY transaction that ends at its deadline, whatever the server does.

The server's own time-outs come first. Where it does not keep them (a frozen backend, one long call of a function, a network
that lost the packets), the watchdog cuts the socket a little later: the caller gets its error, the connection is thrown
away, and a request to cancel goes to the server by a connection of its own. Errors of the driver hold literals of the query,
so ours are raised after its have been let go, not while they are handled: then none of them is their context.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from fastsql.errors import ExecutionError
from fastsql.execution.connections import closed
from fastsql.execution.executor import FIRST_ROWS, failed, too_late
from fastsql.execution.reuse import collated
from fastsql.execution.watchdog import WATCHDOG

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGcancelConn

    from fastsql.execution.deadline import Deadline
    from fastsql.execution.reuse import TemporaryTable

T = TypeVar("T")

_NAME = "fastsql"
_FREE_COLLATIONS = 120_000
"""The first version of the server with collations under which different texts may be equal."""
_COLLATED = """
SELECT 1 FROM pg_catalog.pg_collation AS c JOIN pg_catalog.pg_attribute AS a ON a.attcollation = c.oid
WHERE NOT c.collisdeterministic LIMIT 1
"""
_CANCEL_SECONDS = 5.0
_AGAIN = 0.05
"""Seconds between two requests to cancel a query whose executor is closed."""
_BATCH = 1_000
"""Rows that are fetched at a time when a reader goes row by row."""
_CHECKED_CLIENT = 140_000
"""The first version of the server that looks, while it computes, whether the client is still there."""
_SETTINGS = """
SELECT set_config('statement_timeout', %(time)s, true), set_config('lock_timeout', %(time)s, true),
       set_config('idle_in_transaction_session_timeout', %(time)s, true),
       set_config('standard_conforming_strings', 'on', true){more}, current_setting('transaction_read_only')
"""
_CHECK_CLIENT = ", set_config('client_connection_check_interval', '1000', true)"
_TIME_LEFT = "SELECT set_config('statement_timeout', %s, true)"

_FIXED = frozenset({16, 20, 21, 23, 26, 700, 701, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950})
"""Types whose values are small: booleans, numbers, dates and times, UUIDs."""
_CUTS = {
    17: 'pg_catalog.substr("{name}", 1, {length})',
    25: 'pg_catalog."left"("{name}", {length})',
    1043: 'pg_catalog."left"("{name}", {length})',
}
"""How the server cuts a value of a type: bytea, text, varchar."""


class ConnectionLostError(ExecutionError):
    """The server ended the connection, or the way to it broke."""


class RefusedSettingError(ExecutionError):
    """The server does not take a setting of the transaction."""


class ReadOnlySession:
    """A connection in a READ ONLY transaction, until :meth:`close`.

    Args:
        connection: the connection.
        deadline: when the query must be done.
        on_cut: called when the connection was cut off, in the watchdog's thread; must return soon.
    """

    def __init__(
        self, connection: psycopg.Connection[Any], deadline: Deadline, on_cut: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._deadline = deadline
        self._on_cut = on_cut
        self._settings = (self._connection.autocommit, self._connection.read_only)
        self._cursor: psycopg.ServerCursor[tuple[Any, ...]] | None = None
        self._begun = self._spoilt = self._interrupted = self._over = False
        self._renewed_at = deadline.time_limit
        limit = deadline.time_limit
        # The server's own time-outs come first: they leave a connection that can be used again.
        self._watch = WATCHDOG.begin(deadline.moment + 0.25 + 0.1 * limit, self._cut)

    # The transaction ----------------------------------------------------------------------------------------

    def begin(self, *, check_client: bool, tables: Sequence[TemporaryTable] = ()) -> None:
        """Begin the transaction. After its first query it cannot be made one that writes.

        Temporary tables are made before it is READ ONLY, in the same transaction, which is never committed.

        Args:
            check_client: have the server look, while it computes, whether this process is still there, if it can.
            tables: to make first.

        Raises:
            ConnectionLostError: the connection is dead; nothing has been asked of it yet.
            RefusedSettingError: the server takes no such settings; on some systems it cannot look for its clients.
            ExecutionError: the transaction is not read-only.
        """
        checked = check_client and self._connection.info.server_version >= _CHECKED_CLIENT
        settings = _SETTINGS.replace("{more}", _CHECK_CLIENT if checked else "")
        time_left = {"time": _milliseconds(self._deadline.remaining())}

        def start() -> tuple[Any, ...] | None:
            self._connection.rollback()
            self._connection.autocommit, self._connection.read_only = False, not tables
            row: tuple[Any, ...] | None = self._connection.execute(settings, time_left).fetchone()
            return row

        def make() -> tuple[Any, ...] | None:
            for table in tables:
                self._connection.execute(f"CREATE TEMP TABLE {table.name} AS {table.like}".encode())
                if table.rows:
                    marks = ", ".join(["%s"] * len(table.rows[0]))
                    with self._connection.cursor() as cursor:
                        insert = f"INSERT INTO pg_temp.{table.name} VALUES ({marks})"  # noqa: S608 - a name of our own
                        cursor.executemany(insert.encode(), table.rows)
            self._connection.execute("SET TRANSACTION READ ONLY")
            return self._connection.execute("SELECT current_setting('transaction_read_only')").fetchone()

        row = self.call(start)
        self._begun = True
        if tables:
            row = self.call(make)
        if row is None or row[-1] != "on":
            raise ExecutionError(
                "the transaction is not read-only",
                where="database",
                remedy="Check whether a proxy or pooler stands between fastsql and the server.",
            )

    def rows(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows of a query of our own."""
        return self.call(lambda: self._connection.execute(query, values).fetchall())

    def declare(self, query: bytes, cell_limit: int | None, values: Sequence[Any] = ()) -> SessionCursor:
        """A cursor over a query with parameters; DECLARE takes one SELECT and nothing else.

        Raises:
            ExecutionError: the server refuses it, or it took too long.
        """
        cursor = self._declared(query, values)
        types = [column.type_code for column in cursor.description or ()]
        if cell_limit is not None and any(code in _CUTS for code in types):
            names = [column.name for column in cursor.description or ()]
            self.call(cursor.close)
            cursor = self._declared(_with_cuts(query, names, types, cell_limit), values)
            return SessionCursor(self, cursor, FIRST_ROWS)
        return SessionCursor(self, cursor, FIRST_ROWS if _FIXED.issuperset(types) else 1)

    def check_collations(self) -> None:
        """Raise ExecutionError where a column's collation takes different texts for equal."""
        if self._connection.info.server_version >= _FREE_COLLATIONS and self.rows(_COLLATED, ()):
            raise collated()

    def _declared(self, query: bytes, values: Sequence[Any]) -> psycopg.ServerCursor[tuple[Any, ...]]:
        from psycopg import RawServerCursor
        from psycopg.rows import tuple_row

        cursor: psycopg.ServerCursor[tuple[Any, ...]]
        # Parameters are $1 in the text, in which % is not one.
        cursor = RawServerCursor(self._connection, _NAME, row_factory=tuple_row, scrollable=False)
        self._cursor = cursor
        self.call(lambda: cursor.execute(query, values or None))
        return cursor

    def renew_timeout(self) -> None:
        """Tell the server how much time is left, where that has become much less than it knows.

        Raises:
            QueryTimeoutError: none is.
            ExecutionError: the executor was closed.
        """
        left = self._deadline.remaining()
        if self._interrupted:
            raise closed()
        if left < 0.8 * self._renewed_at:
            self._renewed_at = left
            self.call(lambda: self._connection.execute(_TIME_LEFT, [_milliseconds(left)]))

    def spoil(self) -> None:
        """Have the connection thrown away at the end: libpq keeps a buffer as large as the largest result that it held."""
        self._spoilt = True

    def interrupt(self) -> None:
        """End the query, since its executor is closed. Called by another thread than the one that waits for it."""
        self._interrupted = True
        threading.Thread(target=self._ask_to_cancel, name="fastsql cancel", daemon=True).start()

    def _ask_to_cancel(self) -> None:
        import psycopg

        while not self._over:  # a query that was just being sent is not hit by the first request
            with suppress(
                psycopg.Error, OSError, ValueError
            ):  # nothing to cancel, or it ends at its time limit
                self._connection.cancel_safe(timeout=_CANCEL_SECONDS)
            time.sleep(_AGAIN)

    def close(self) -> bool:
        """Roll back, and leave the connection as it was; whether it can be used again."""
        import psycopg

        self._over = True
        try:
            self._connection.rollback()
            if self._cursor is not None:
                self._cursor.close()  # after the transaction: the server need not be asked
            self._connection.autocommit, self._connection.read_only = self._settings
        except psycopg.Error:
            self._spoilt = True
        finally:
            self._spoilt |= WATCHDOG.end(self._watch)
        return not self._spoilt

    # Errors and deadlines -----------------------------------------------------------------------------------

    def call(self, work: Callable[[], T]) -> T:
        """What `work` returns.

        Raises:
            ExecutionError: for whatever the driver raises, with its code and without its message.
        """
        import psycopg

        try:
            return work()
        except psycopg.Error as error:
            failure = self._failure(error)
        raise failure

    def _failure(self, error: psycopg.Error) -> ExecutionError:
        from psycopg import errors

        if self._interrupted:
            return closed()
        ended = (errors.QueryCanceled, errors.IdleInTransactionSessionTimeout, errors.LockNotAvailable)
        if self._watch.fired or isinstance(error, ended):
            return too_late(self._deadline.time_limit)
        kind = error.sqlstate or type(error).__name__
        if self._connection.closed:
            return ConnectionLostError(
                f"the connection was lost ({kind})",
                where="database",
                remedy="Run it again; if that does not help, check the server.",
            )
        if isinstance(error, errors.InvalidParameterValue) and not self._begun:
            return RefusedSettingError(
                f"refuses a setting ({kind})", where="database", remedy="Give a smaller time limit."
            )
        return failed(kind)

    def _cut(self) -> None:
        """Make the driver's call return; in the watchdog's thread."""
        import psycopg

        connection = self._connection.pgconn
        try:
            number = os.dup(connection.socket)
        except (psycopg.Error, OSError):
            self._on_cut()
            return  # closed already: nobody waits for it
        # The request is made while the connection still knows its server, and sent once the caller is free.
        with suppress(
            psycopg.Error
        ):  # libpq before version 17 cannot; then the server's own checks end the query
            request = connection.cancel_conn()
            threading.Thread(target=_cancel, args=(request,), name="fastsql cancel", daemon=True).start()
        with socket.socket(fileno=number) as end, suppress(OSError):  # the other side may be gone already
            end.shutdown(socket.SHUT_RDWR)
        self._on_cut()


class SessionCursor:
    """A running query; `first` is how many rows are fetched at first, since nothing is known of their size.

    One row cannot be refused before libpq holds it: of a cell of n bytes there are up to three copies then. Where that is
    too much, `cell_limit` has the server cut it, and `isolated=True` puts it into another process.
    """

    def __init__(
        self, session: ReadOnlySession, cursor: psycopg.ServerCursor[tuple[Any, ...]], first: int
    ) -> None:
        self._session = session
        self._cursor = cursor
        self.first = first

    @property
    def description(self) -> Any:
        """One sequence a column, beginning with its name."""
        return self._cursor.description

    def fetchmany(self, size: int, /) -> Sequence[tuple[Any, ...]]:
        """The next rows, at most `size` of them; none at the end.

        Raises:
            QueryTimeoutError: the time is up.
            ExecutionError: the query failed.
        """
        self._session.renew_timeout()
        return self._session.call(lambda: self._cursor.fetchmany(size))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        size = self.first
        while rows := self.fetchmany(size):
            yield from rows
            size = min(size * 8, _BATCH)


def _cancel(request: PGcancelConn) -> None:
    """Ask the server to cancel; nobody waits for the answer."""
    import psycopg
    from psycopg.pq import PollingStatus

    end = time.monotonic() + _CANCEL_SECONDS
    with suppress(psycopg.Error, OSError, ValueError):  # a server that is gone has nothing to cancel
        request.start()
        while (left := end - time.monotonic()) > 0:
            status = request.poll()
            if status not in (PollingStatus.READING, PollingStatus.WRITING):
                break
            reading = [request.socket] if status == PollingStatus.READING else []
            writing = [] if reading else [request.socket]
            select.select(reading, writing, [], left)
    request.finish()


def _with_cuts(query: bytes, names: Sequence[str], types: Sequence[int], cell_limit: int) -> bytes:
    """The query with long cells cut by the server, to one more than the limit: that one tells that it was cut."""
    inner = [f"c{number}" for number in range(len(names))]
    cells = [
        _CUTS.get(code, '"{name}"').format(name=cell, length=min(cell_limit, 2**30) + 1)
        for cell, code in zip(inner, types, strict=True)
    ]
    outer = ", ".join(
        f'{cell} AS "{name.replace(chr(34), chr(34) * 2)}"' for cell, name in zip(cells, names, strict=True)
    )
    # A semicolon at the end is allowed in a statement and not within one.
    within = query.rstrip().rstrip(b";")
    beginning, end = f"SELECT {outer} FROM (", f"\n) AS q({', '.join(inner)})"  # noqa: S608 - the query is what runs
    return beginning.encode() + within + end.encode()


def _milliseconds(seconds: float) -> str:
    # 0 would mean no limit at all.
    return str(max(1, round(seconds * 1_000)))
