"""Bounds on memory. SQLite has one for the whole process, which is set with care for others who use SQLite in it."""

from __future__ import annotations

import ctypes
import sqlite3
import threading

from fastsql.errors import ExecutionError
from fastsql.forking import renew_in_child

MEMORY_LIMIT = 2 * 2**30
"""Bytes that a database engine may take in this process, if nothing else is said."""
_ROOM = 64 * 2**20
"""Bytes that are left to whoever uses SQLite already."""


def out_of_memory() -> ExecutionError:
    """The error for a query that needed more memory than its engine may take."""
    return ExecutionError(
        "ran out of memory", where="query", remedy="Ask for less, or raise the executor's memory_limit."
    )


class _HeapLimit:
    """The hard limit as it was last set from here; one that somebody else set is left alone."""

    def __init__(self) -> None:
        self.set_here = 0
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        self.lock = threading.Lock()

    def lower(self, connection: sqlite3.Connection, limit: int) -> None:
        with self.lock:
            row = connection.execute("PRAGMA hard_heap_limit").fetchone()
            if row is None:  # SQLite before 3.31
                return
            present = int(row[0])
            if present not in (0, self.set_here):
                return
            limit = max(limit, _in_use() + _ROOM)
            if present == 0 or limit < present:
                # The soft limit, at which caches are given up, follows where nobody has set one.
                connection.execute(f"PRAGMA hard_heap_limit = {limit}")
                self.set_here = limit


_heap_limit = _HeapLimit()


def lower_heap_limit(connection: sqlite3.Connection, limit: int) -> None:
    """Bound what SQLite takes in this process, by any connection. Raises sqlite3.Error.

    SQLite has one such limit for the whole process, and it can only be lowered: of several calls the lowest holds. It is
    left alone where somebody else has set it, and kept above what SQLite has in use.
    """
    _heap_limit.lower(connection, limit)


def _in_use() -> int:
    """Bytes that SQLite has taken; 0 where its library does not let one ask."""
    import _sqlite3

    try:
        used = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_used
    except (AttributeError, OSError):
        return 0
    used.restype = ctypes.c_int64
    return int(used())
