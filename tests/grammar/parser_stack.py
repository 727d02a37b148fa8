"""Measures how much of its parser's stack SQLite needs for a query, by what is left for parentheses around it."""

from __future__ import annotations

import sqlite3

STACK = 100
"""Entries of the parser's stack in SQLite before 3.46 (YYSTACKDEPTH); later versions grow it."""
_AROUND = 4
"""Entries that `SELECT (` keeps while what follows is read, the parenthesis not counted."""


def stack_depth(connection: sqlite3.Connection, sql: str) -> int:
    """Entries that `EXPLAIN sql` takes at most; more than STACK if it does not fit. `connection` has its tables."""
    if not _fits(connection, sql):
        return STACK + 1
    low, high = 0, STACK
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(connection, f"SELECT {'(' * middle}{sql}{')' * middle}"):
            low = middle
        else:
            high = middle - 1
    return STACK - _AROUND - low


def is_bounded(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite's parser has a stack that can overflow."""
    return not _fits(connection, f"SELECT {'(' * STACK}1{')' * STACK}")


def _fits(connection: sqlite3.Connection, sql: str) -> bool:
    try:
        connection.execute(f"EXPLAIN {sql}").close()
    except sqlite3.OperationalError as error:
        return "parser stack overflow" not in str(error)
    return True
