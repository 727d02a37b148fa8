"""Distinct values of a server's columns, each in bounded time: the server's statistics first, then a sample, then all.

PostgreSQL's planner keeps, for every column of a table that was analysed, how many distinct values it has and which are
the most common. A column that has far too many is not read at all. Of the others the first rows are read, which is quick
whatever the size of the table, and then all of them within the time that is left. Where that ends it, what is known are
the values of the sample and the most common ones. Other servers have a sample and all rows, those whose driver cannot end
a query the sample alone. Only ever reads.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastsql.schema.pace import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy.engine import Connection

SAMPLE_ROWS = 100_000
"""Rows that are looked at before all are."""
_INSTRUCTIONS = 10_000
"""Virtual machine instructions of SQLite between two chances to hear of Ctrl-C."""
_TOO_MANY = 3
"""How many times too many distinct values the statistics must tell before they are believed: they are estimates."""
_FORBIDDEN = "42501"
_INCOMPARABLE = "42883"
"""No such operator: as of json, which has no equality."""
_STATISTICS = """
SELECT s.attname, s.n_distinct, c.reltuples, s.most_common_vals::text::text[]
FROM pg_catalog.pg_stats AS s
JOIN pg_catalog.pg_namespace AS n ON n.nspname = s.schemaname
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = s.tablename
WHERE c.oid = pg_catalog.to_regclass(:name)
"""
_STAMP = """
SELECT pg_catalog.pg_relation_filenode(c.oid)::text || ' ' || t.n_tup_ins || ' ' || t.n_tup_upd || ' ' || t.n_tup_del
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_stat_all_tables AS t ON t.relid = c.oid
WHERE c.oid = pg_catalog.to_regclass(:name) AND c.relkind = 'r' AND NOT c.relhassubclass
"""


@dataclass(frozen=True)
class Found:
    """Distinct values of a column that are not NULL, and why there may be others; empty where there are none."""

    values: list[Any]
    missing: str = ""
    late: bool = False
    """Whether time is what ended it."""


class ServerValues:
    """Reads columns of one connection, in read-only transactions of its own."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self._connection = connection
        self.seconds = seconds
        self._postgres = connection.dialect.name == "postgresql"
        self._statistics: dict[str, dict[str, tuple[float, list[str]]]] = {}

    def distinct(
        self, table: str, namespace: str | None, column: str, most: int, deadline: Deadline | None = None
    ) -> Found:
        """At most `most` values; where there are more, none but the reason. Raises sqlalchemy's errors."""
        too_many = f"more than {most:,} distinct values"
        estimate, common = self._known(table, namespace).get(column, (0.0, []))
        if estimate > _TOO_MANY * most:
            return Found([], f"{too_many}: about {estimate:,.0f} by the server's statistics")
        deadline = deadline or self.deadline(self.seconds)
        sample = self._read(table, namespace, column, most + 1, deadline, SAMPLE_ROWS)
        if sample is None:
            return Found([], missed(self.seconds), late=True)
        if len(sample) > most:
            return Found([], too_many)
        whole = None
        if self._postgres or self._canceller() is not None:
            whole = self._read(table, namespace, column, most + 1, deadline, None)
        if whole is None:
            texts = all(isinstance(value, str) for value in sample)
            known = list(dict.fromkeys([*sample, *(common if texts else ())]))
            return Found(known[:most], missed(self.seconds), late=True)
        return Found([], too_many) if len(whole) > most else Found(whole)

    def stamp(self, table: str, namespace: str | None) -> str:
        """A text that changes when rows of a table do; empty where the server has none."""
        if not self._postgres:
            return ""
        found = self._connection.execute(_text(_STAMP), {"name": _written(table, namespace)}).scalar()
        return found or ""

    def _known(self, table: str, namespace: str | None) -> dict[str, tuple[float, list[str]]]:
        """By column, how many distinct values the server believes in, 0 for unknown, and the most common ones."""
        name = _written(table, namespace)
        if not self._postgres or name in self._statistics:
            return self._statistics.get(name, {})
        known = self._statistics[name] = {}
        for column, distinct, rows, common in self._connection.execute(_text(_STATISTICS), {"name": name}):
            # A negative number is a share of the rows, whose number is -1 where nobody counted.
            estimate = distinct if distinct >= 0 else -distinct * max(rows, 0)
            known[column] = (float(estimate), [value for value in common or () if value is not None])
        return known

    def sample(
        self, table: str, namespace: str | None, column: str, most: int, deadline: Deadline
    ) -> list[Any] | None:
        """At most `most` distinct values of the first rows; None where the time is up. Raises sqlalchemy's errors."""
        return self._read(table, namespace, column, most, deadline, SAMPLE_ROWS)

    def count(
        self,
        table: str,
        namespace: str | None,
        column: str,
        deadline: Deadline,
        among: Sequence[Any] | None = None,
    ) -> int | None:
        """Distinct values of a column, of `among` alone where that is given; None where the time is up."""
        import sqlalchemy

        cell: Any = sqlalchemy.column(_exactly(column))
        origin: Any = sqlalchemy.table(_exactly(table), cell, schema=_exactly(namespace))
        query: Any = sqlalchemy.select(sqlalchemy.func.count(cell.distinct())).select_from(origin)
        found = self.cells(query if among is None else query.where(cell.in_(among)), deadline)
        return None if found is None else found[0]

    def filled(
        self, table: str, namespace: str | None, column: str, deadline: Deadline, rows: int | None
    ) -> tuple[int, int] | None:
        """Values of the first rows, or of all, and how many distinct ones; None where the time is up."""
        import sqlalchemy

        cell: Any = sqlalchemy.column(_exactly(column))
        part = sqlalchemy.select(cell).select_from(
            sqlalchemy.table(_exactly(table), cell, schema=_exactly(namespace))
        )
        cells: Any = (part if rows is None else part.limit(rows)).subquery()
        counts = []
        for number in (sqlalchemy.func.count(cells.c[0]), sqlalchemy.func.count(cells.c[0].distinct())):
            found = self.cells(sqlalchemy.select(number).select_from(cells), deadline)
            if found is None:
                return None
            counts.append(int(found[0]))
        return counts[0], counts[1]

    def _read(
        self,
        table: str,
        namespace: str | None,
        column: str,
        most: int,
        deadline: Deadline,
        rows: int | None,
    ) -> list[Any] | None:
        """Distinct values of the first rows, or of all; None where the time is up."""
        import sqlalchemy

        cell: Any = sqlalchemy.column(_exactly(column))
        origin: Any = sqlalchemy.table(_exactly(table), cell, schema=_exactly(namespace))
        if rows is not None:
            origin = sqlalchemy.select(cell).select_from(origin).limit(rows).subquery()
            cell = origin.c[0]
        query = sqlalchemy.select(cell).select_from(origin).where(cell.is_not(None)).distinct().limit(most)
        return self.cells(query, deadline)

    def shared(
        self, table: str, namespace: str | None, column: str, holders: Sequence[str], deadline: Deadline
    ) -> Sequence[Sequence[Any]] | None:
        """Rows of a value, how many rows have it, and how many distinct values of each holder; None where the time is up."""
        import sqlalchemy

        cell: Any = sqlalchemy.column(_exactly(column))
        held: list[Any] = [sqlalchemy.column(_exactly(holder)) for holder in holders]
        counts = [sqlalchemy.func.count(), *(sqlalchemy.func.count(one.distinct()) for one in held)]
        origin = sqlalchemy.table(_exactly(table), cell, *held, schema=_exactly(namespace))
        query = sqlalchemy.select(cell, *counts).select_from(origin).where(cell.is_not(None)).group_by(cell)
        return self._run(query, deadline)

    def cells(self, query: Any, deadline: Deadline) -> list[Any] | None:
        """The first column of what a query returns; None where the time is up. Raises sqlalchemy's errors."""
        found = self._run(query, deadline)
        return None if found is None else [row[0] for row in found]

    def rows(
        self, table: str, namespace: str | None, columns: Sequence[str], most: int
    ) -> Sequence[Sequence[Any]] | None:
        """At most `most` rows of a table; None where the time is up. Raises sqlalchemy's errors."""
        import sqlalchemy

        cells: list[Any] = [sqlalchemy.column(_exactly(column)) for column in columns]
        origin = sqlalchemy.table(_exactly(table), *cells, schema=_exactly(namespace))
        query = sqlalchemy.select(*cells).select_from(origin).limit(most)
        return self._run(query, self.deadline(self.seconds))

    def _run(self, query: Any, deadline: Deadline) -> Sequence[Sequence[Any]] | None:
        """The rows that a query returns; None where the time is up."""
        import sqlalchemy

        try:
            if self._postgres:
                milliseconds = str(max(int(deadline.left * 1000), 1))
                limit = "SELECT pg_catalog.set_config('statement_timeout', :time, true)"
                self._connection.execute(_text(limit), {"time": milliseconds})
            with deadline.running():
                return self._connection.execute(query).all()
        except sqlalchemy.exc.DBAPIError as error:
            self._after_error(error)
            if _state(error) == "57014" or deadline.passed:
                return None
            if not (isinstance(error.orig, sqlite3.Error) and str(error.orig) == "interrupted"):
                raise
        # Ctrl-C came while SQLite called back, which ends the query and loses the exception.
        raise KeyboardInterrupt

    def _after_error(self, error: Any) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        if not error.connection_invalidated:
            with suppress(SQLAlchemyError):
                self._connection.rollback()

    def deadline(self, seconds: float) -> Deadline:
        """The time that queries have from now on, with a way to end them where the driver has one."""
        return Deadline(seconds, None if self._postgres else self._canceller())

    def _canceller(self) -> Callable[[], object] | None:
        """What ends a query of this connection from another thread, if its driver can."""
        driver = self._connection.connection.driver_connection
        found = getattr(driver, "interrupt", None) or getattr(driver, "cancel", None)
        return found if callable(found) else None


def hear_ctrl_c(connection: Connection) -> None:
    """Let Ctrl-C end a query of SQLite, which would be over before Python heard of it; other drivers hear by themselves.

    For connections to a URL: of an engine that somebody else made, the driver may call back already.
    """
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        driver.set_progress_handler(_go_on, _INSTRUCTIONS)


def _go_on() -> None:
    """Python looks for signals before it calls this."""


def missed(seconds: float) -> str:
    """What is said of a column that took too long."""
    return f"only a sample was read: all of it takes longer than {seconds:g} s"


def late(seconds: float) -> str:
    """What is said of a table whose rows took too long."""
    return f"its rows take longer than {seconds:g} s"


def is_forbidden(error: BaseException) -> bool:
    """Whether a server refused for want of a privilege."""
    return _state(error) == _FORBIDDEN


def is_incomparable(error: BaseException) -> bool:
    """Whether a server refused since values of a type cannot be compared."""
    return _state(error) == _INCOMPARABLE


def _state(error: BaseException) -> str | None:
    original = getattr(error, "orig", None)
    return getattr(original, "sqlstate", None) or getattr(original, "pgcode", None)


def _exactly(name: str | None) -> Any:
    from sqlalchemy.sql import quoted_name

    return quoted_name(name, True) if name else None


def _text(sql: str) -> Any:
    from sqlalchemy import text

    # A colon that is no parameter would be one to SQLAlchemy.
    return text(sql.replace("::", "\\:\\:"))


def _written(table: str, namespace: str | None) -> str:
    from fastsql.schema.names import quote

    return f"{quote(namespace)}.{quote(table)}" if namespace else quote(table)
