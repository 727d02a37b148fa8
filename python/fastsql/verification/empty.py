"""Empty SQLite databases of a schema, on which a finished query is compiled without running."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict

from fastsql.errors import VerificationError
from fastsql.forking import inside_sqlite, renew_in_child
from fastsql.schema import Schema
from fastsql.verification.authorizer import error_name, restrict
from fastsql.verification.readable import Readable
from fastsql.verification.text import REMEDY


class _EmptyDatabase:
    """An in-memory SQLite database with a schema's tables and no rows."""

    def __init__(self, schema: Schema) -> None:
        self._lock = threading.Lock()
        with inside_sqlite():
            self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            self._connection.executescript(schema.to_ddl("sqlite"))
            restrict(self._connection, Readable.of_schema(schema).namespaces)

    def prepare(self, sql: str) -> None:
        """Compile without running; raises sqlite3.Error."""
        with self._lock, inside_sqlite():
            self._connection.execute(f"EXPLAIN {sql}").close()


class _EmptyDatabases:
    """The empty databases last used, by fingerprint: to hash a whole schema each time would cost more than the check."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._left_behind: list[_EmptyDatabase] = []
        self._kept: OrderedDict[str, _EmptyDatabase] = OrderedDict()
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Make databases anew as they are needed; those of the other process may be neither used nor closed."""
        self._left_behind += self._kept.values()
        self._kept = OrderedDict()
        self._lock = threading.Lock()

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
        return
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
        kind = error_name(error)
    # Raised here, lest it carry the driver's message, which may quote the SQL.
    raise VerificationError(f"SQLite cannot prepare it ({kind})", where="SQL", remedy=REMEDY)
