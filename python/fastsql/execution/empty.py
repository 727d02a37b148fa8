"""Empty SQLite databases of a schema, on which a finished query is compiled without running."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict

from fastsql.errors import VerificationError
from fastsql.execution.sqlite import error_name, restrict
from fastsql.execution.text import REMEDY
from fastsql.schema import Schema


class _EmptyDatabase:
    """An in-memory SQLite database with a schema's tables and no rows."""

    def __init__(self, schema: Schema) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._connection.executescript(schema.to_ddl("sqlite"))
        restrict(self._connection)

    def prepare(self, sql: str) -> None:
        """Compile without running; raises sqlite3.Error."""
        with self._lock:
            self._connection.execute(f"EXPLAIN {sql}").close()


class _EmptyDatabases:
    """The empty databases last used, by fingerprint: to hash a whole schema each time would cost more than the check."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _EmptyDatabase] = OrderedDict()

    def of(self, schema: Schema) -> _EmptyDatabase:
        with self._lock:
            database = self._kept.get(schema.fingerprint)
            if database is None:
                database = self._kept[schema.fingerprint] = _EmptyDatabase(schema)
            self._kept.move_to_end(schema.fingerprint)
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return database


_empty_databases = _EmptyDatabases(32)


def prepare(sql: str, schema: Schema) -> None:
    """Return if SQLite compiles `sql` on an empty database of the schema.

    Raises:
        VerificationError: it does not.
    """
    try:
        _empty_databases.of(schema).prepare(sql)
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise VerificationError(
            f"SQLite does not prepare it ({error_name(error)})", where="SQL", remedy=REMEDY
        ) from None
