"""A read-only PostgreSQL executor over a SQLAlchemy engine.

Every query runs in a READ ONLY transaction of its own that is always rolled back, as a cursor: DECLARE takes a SELECT and
nothing else (no data-modifying WITH, no INTO, no COPY, no EXPLAIN), and psycopg sends it by the extended protocol, which
takes one statement, so that no text can end the transaction and go on. Time-outs for the statement, for locks and for idling
are set for the transaction. What READ ONLY does not stop, functions with side effects above all, is for the allow-list to
refuse, which every query passes first, and for the role, which should hold SELECT and nothing else (docs/deploying.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastsql.errors import ExecutionError
from fastsql.execution.executor import BYTE_LIMIT, ROW_LIMIT, TIME_LIMIT, Bounds, failed, too_late
from fastsql.execution.reading import BoundedCursor, Deadline, VerifyingExecutor
from fastsql.schema import Schema

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy.engine import Engine
    from sqlalchemy.pool import PoolProxiedConnection

_SETTINGS = """
SELECT set_config('statement_timeout', %(time)s, true), set_config('lock_timeout', %(time)s, true),
       set_config('idle_in_transaction_session_timeout', %(time)s, true),
       set_config('standard_conforming_strings', 'on', true), current_setting('transaction_read_only')
"""
_TIME_LEFT = "SELECT set_config('statement_timeout', %s, true)"


class PostgresExecutor(VerifyingExecutor):
    """Runs SELECT statements on one PostgreSQL database. May be shared by threads: each query takes a pooled connection.

    Args:
        engine: an engine whose driver is psycopg (``postgresql+psycopg://``); its role should be able to SELECT only.
        schema: with it, every query passes :func:`fastsql.execution.verify` first; without it, all of that but the names.
        time_limit: seconds that one query may take.
        row_limit: rows that are fetched of one result.
        byte_limit: bytes of memory that these may take.
        cell_limit: characters of a text cell, bytes of a binary one, that are kept; None keeps all.
        dispose: whether :meth:`close` disposes of the engine.

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
        dispose: bool = False,
    ) -> None:
        if (engine.dialect.name, engine.dialect.driver) != ("postgresql", "psycopg"):
            raise ExecutionError(
                f"{engine.dialect.name}+{engine.dialect.driver} may send several statements as one",
                where="engine",
                remedy="Create it with a URL that begins with postgresql+psycopg://.",
            )
        self._engine = engine
        super().__init__("postgres", schema, Bounds(time_limit, row_limit, byte_limit, cell_limit))
        self._dispose = dispose

    @contextmanager
    def unverified_cursor(self, sql: str) -> Iterator[BoundedCursor]:
        """As :meth:`cursor`, behind PostgreSQL's own walls alone; for tests of those."""
        import psycopg
        from psycopg import errors
        from psycopg.rows import tuple_row

        deadline = Deadline(self._bounds.time_limit)
        try:
            text = sql.encode("utf-8")
            with self._connection() as connection:
                _begin(connection, self._bounds.time_limit)
                with connection.cursor("fastsql", row_factory=tuple_row, scrollable=False) as cursor:
                    cursor.execute(text)
                    yield BoundedCursor(cursor, deadline, lambda left: _limit(connection, left))
        except (errors.QueryCanceled, errors.IdleInTransactionSessionTimeout):
            raise too_late(self._bounds.time_limit) from None
        except (psycopg.Error, UnicodeError) as error:
            raise failed(getattr(error, "sqlstate", None) or type(error).__name__) from None

    def close(self) -> None:
        """Dispose of the engine, if the executor owns it. The executor should not be used afterwards."""
        if self._dispose:
            self._engine.dispose()

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection of the pool in a READ ONLY transaction that is rolled back at the end."""
        import psycopg

        pooled = self._checkout()
        connection: psycopg.Connection[Any] = pooled.driver_connection  # type: ignore[assignment]
        settings = (connection.autocommit, connection.read_only)
        try:
            connection.rollback()
            connection.autocommit, connection.read_only = False, True
            yield connection
        finally:
            try:
                connection.rollback()
                connection.autocommit, connection.read_only = settings
            except psycopg.Error:
                # The session is gone: the pool must not hand it out again.
                pooled.invalidate()
            pooled.close()

    def _checkout(self) -> PoolProxiedConnection:
        import psycopg
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return self._engine.raw_connection()
        except (SQLAlchemyError, psycopg.Error) as error:
            # The driver's message may repeat the connection string.
            raise ExecutionError(
                f"cannot be reached ({type(error).__name__})",
                where="database",
                remedy="Check the URL and the server.",
            ) from None


def _begin(connection: psycopg.Connection[Any], time_limit: float) -> None:
    """Begin the transaction. After its first query it cannot be made one that writes."""
    row = connection.execute(_SETTINGS, {"time": _milliseconds(time_limit)}).fetchone()
    if row is None or row[-1] != "on":
        raise ExecutionError(
            "the transaction is not read-only",
            where="database",
            remedy="Check what stands between fastsql and the server.",
        )


def _limit(connection: psycopg.Connection[Any], left: float) -> None:
    connection.execute(_TIME_LEFT, [_milliseconds(left)])


def _milliseconds(seconds: float) -> str:
    # 0 would mean no limit at all.
    return str(max(1, round(seconds * 1_000)))
