"""The last gate: a finished SQL text is checked by means that share nothing with the decoder that wrote it.

Four checks, each on its own reason for distrust: the raw text is bounded before anything recursive reads it; sqlglot must
find exactly one SELECT; every table and column must resolve to the schema by scope (SQLite alone would not do: it takes an
unknown ``"name"`` for a string); and SQLite must prepare it on an empty database of that schema.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from fastsql.errors import DialectError, VerificationError
from fastsql.execution.executor import restrict
from fastsql.execution.resolve import UnresolvedError, resolve
from fastsql.limits import DEFAULT, Limits
from fastsql.schema import Schema

if TYPE_CHECKING:
    from sqlglot import exp

SQL_CHARACTERS = 200_000
"""Characters of SQL text: 256 actions at the longest qualified names stay below it."""

_SHALLOW = 16
"""Parentheses that sqlglot reads within Python's default recursion limit, at some 20 frames each, from any caller."""
_FRAMES = 20_000
_STACK_BYTES = 256 * 2**20
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`")
_REMEDY = "This is a defect of fastsql: please report it with the schema."
_recursion = threading.Lock()


def verify(sql: str, schema: Schema, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> None:
    """Return if `sql` is one SELECT statement that is valid on `schema`.

    In dialects other than SQLite there is no engine to prepare it, so the first three checks are all.

    Raises:
        VerificationError: it is not; the message says which check failed and repeats nothing of the SQL.
        DialectError: sqlglot does not know the dialect.
    """
    query = parse_query(sql, dialect=dialect, limits=limits)
    try:
        resolve(query, schema)
    except UnresolvedError as error:
        raise VerificationError(str(error), where="names of the SQL", remedy=_REMEDY) from error
    if dialect == "sqlite":
        prepare(sql, schema)


def parse_query(sql: str, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> exp.Query:
    """The AST of a text that is exactly one SELECT, or a set operation of SELECTs.

    Raises:
        VerificationError: it is too long, too deep, or something else.
        DialectError: sqlglot does not know the dialect.
    """
    import sqlglot
    from sqlglot import exp

    if len(sql) > SQL_CHARACTERS:
        raise VerificationError(
            f"has {len(sql):,} characters, more than {SQL_CHARACTERS:,}", where="SQL", remedy=_REMEDY
        )
    depth = parenthesis_depth(sql)
    if depth > limits.sql_depth:
        raise VerificationError(
            f"nests {depth} parentheses, more than {limits.sql_depth} (sql_depth)",
            where="SQL",
            remedy=_REMEDY,
        )
    if sqlglot.Dialect.get(dialect) is None:
        raise DialectError(
            f"{dialect!r} is no SQL dialect of sqlglot", remedy="Give one such as 'sqlite' or 'postgres'."
        )
    try:
        parsed = sqlglot.parse(sql, read=dialect) if depth <= _SHALLOW else _parse_deep(sql, dialect)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise VerificationError(
            f"does not parse ({type(error).__name__})", where="SQL", remedy=_REMEDY
        ) from error
    statements = [statement for statement in parsed if statement is not None]
    if len(statements) != 1:
        raise VerificationError(f"holds {len(statements)} statements", where="SQL", remedy=_REMEDY)
    statement = statements[0]
    if not isinstance(statement, exp.Select | exp.SetOperation | exp.Subquery):
        raise VerificationError(f"is a {type(statement).__name__}, no SELECT", where="SQL", remedy=_REMEDY)
    if any(statement.find(kind) for kind in (exp.Into, exp.Lock, exp.Placeholder, exp.Parameter)):
        raise VerificationError("does more than read, or has parameters", where="SQL", remedy=_REMEDY)
    return statement


def parenthesis_depth(sql: str) -> int:
    """The deepest nesting of parentheses outside strings and quoted names, found without recursion."""
    depth = deepest = 0
    for character in _QUOTED.sub("", sql):
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


def _parse_deep(sql: str, dialect: str) -> list[exp.Expr | None]:
    """Parse in a thread with a large stack: sqlglot's parser is recursive, the depth has been bounded before."""
    import sqlglot

    outcome: list[list[exp.Expr | None] | Exception] = []

    def parse() -> None:
        try:
            outcome.append(sqlglot.parse(sql, read=dialect))
        except Exception as error:  # noqa: BLE001 - raised again in the thread that asked
            outcome.append(error)

    # The recursion limit and the stack size are settings of the whole process, hence the lock.
    with _recursion:
        frames, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
        sys.setrecursionlimit(max(frames, _FRAMES))
        try:
            thread = threading.Thread(target=parse, name="fastsql-parse")
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(frames)
            threading.stack_size(stack)
    result = outcome[0]
    if isinstance(result, Exception):
        raise result
    return result


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
    except (sqlite3.Error, sqlite3.Warning) as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise VerificationError(
            f"SQLite does not prepare it ({name})", where="SQL", remedy=_REMEDY
        ) from error
