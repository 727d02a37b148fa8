"""SQL text to the AST of one query, with the recursion of sqlglot's parser bounded before and given room."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastsql.errors import DialectError, VerificationError
from fastsql.execution.text import REMEDY, bound_text
from fastsql.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from sqlglot import exp

_SHALLOW = 16
"""Parentheses that sqlglot reads within Python's default recursion limit, at some 20 frames each, from any caller."""
_FRAMES = 20_000
_STACK_BYTES = 256 * 2**20
_recursion = threading.Lock()


class _Silence(logging.Filter):
    """Drops what sqlglot logs while fastsql parses: it repeats the SQL, and with it perhaps a patient's name."""

    def __init__(self) -> None:
        super().__init__()
        self._here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record may pass."""
        return not getattr(self._here, "active", False)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Drop the records of this thread."""
        logging.getLogger("sqlglot").addFilter(self)
        self._here.active = True
        try:
            yield
        finally:
            self._here.active = False


_silence = _Silence()


def parse_query(sql: str, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> exp.Query:
    """The AST of a text that is exactly one SELECT, or a set operation of SELECTs.

    Reads whatever sqlglot reads, comments and all; what may be run is for :func:`fastsql.execution.verify` to say.

    Raises:
        VerificationError: it is too long, too deep, or something else.
        DialectError: sqlglot does not know the dialect.
    """
    import sqlglot
    from sqlglot import exp

    depth = bound_text(sql, limits)
    if sqlglot.Dialect.get(dialect) is None:
        raise DialectError(
            f"{dialect!r} is no SQL dialect of sqlglot", remedy="Give one such as 'sqlite' or 'postgres'."
        )
    try:
        parsed = _parse(sql, dialect) if depth <= _SHALLOW else _parse_deep(sql, dialect)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise _fault(f"does not parse ({type(error).__name__})") from None
    statements = [statement for statement in parsed if statement is not None]
    if len(statements) != 1:
        raise _fault(f"holds {len(statements)} statements")
    statement = statements[0]
    if not isinstance(statement, exp.Select | exp.SetOperation | exp.Subquery):
        raise _fault(f"is a {type(statement).__name__}, no SELECT")
    if statement.find(exp.Into, exp.Lock, exp.Placeholder, exp.Parameter):
        raise _fault("does more than read, or has parameters")
    return statement


def _parse(sql: str, dialect: str) -> list[exp.Expr | None]:
    import sqlglot

    with _silence.active():
        return sqlglot.parse(sql, read=dialect)


def _parse_deep(sql: str, dialect: str) -> list[exp.Expr | None]:
    """Parse in a thread with a large stack: sqlglot's parser is recursive, the depth has been bounded before."""
    outcome: list[list[exp.Expr | None] | Exception] = []

    def parse() -> None:
        try:
            outcome.append(_parse(sql, dialect))
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


def _fault(what: str) -> VerificationError:
    return VerificationError(what, where="SQL", remedy=REMEDY)
