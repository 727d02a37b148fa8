"""SQL text to the AST of one query, with the recursion of sqlglot's parser bounded before and given room."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from fastsql.errors import DialectError, VerificationError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.dialects import plain_dialect
from fastsql.verification.readings import ALWAYS_READINGS, MOST_READINGS, too_many_readings
from fastsql.verification.text import REMEDY, bound_text

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

T = TypeVar("T")

_SHALLOW = 16
"""Parentheses that sqlglot reads within Python's default recursion limit, at some 20 frames each, from any caller."""
_FRAMES = 5_000
"""Frames that the deepest text within the limits takes, twice over."""
_STACK_BYTES = 64 * 2**20
_MOST_NODES = 4
"""Nodes that sqlglot may make for each token, those of readings that fail among them, beside `readings.ALWAYS_READINGS`."""


class _Silence(logging.Filter):
    """Drops what sqlglot logs while fastsql parses: it repeats the SQL, and with it perhaps a patient's name."""

    def __init__(self) -> None:
        super().__init__()
        self._here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record may pass."""
        return not getattr(self._here, "active", False)

    def __enter__(self) -> None:
        """Drop the records of this thread."""
        _sqlglot_logger.addFilter(self)
        self._here.active = True

    def __exit__(self, *_: object) -> None:
        self._here.active = False


_sqlglot_logger = logging.getLogger("sqlglot")
_silence = _Silence()


def silence() -> AbstractContextManager[None]:
    """Nothing that sqlglot does in this thread is logged."""
    return _silence


def parse_query(sql: str, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> exp.Query:
    """The AST of a text that is exactly one SELECT, or a set operation of SELECTs.

    Reads whatever sqlglot reads, comments and all; what may be run is for :func:`fastsql.execution.verify` to say.

    Raises:
        VerificationError: it is too long, too deep, or something else.
        DialectError: sqlglot does not know the dialect.
    """
    from sqlglot import exp

    query = read_select(sql, bound_text(sql, limits), plain_dialect(dialect))
    if query.find(exp.Into, exp.Lock, exp.Placeholder, exp.Parameter):
        raise _fault("does more than read, or has parameters")
    return query


def read_select(sql: str, depth: int, dialect: str) -> exp.Query:
    """As :func:`parse_query`, of a text that has been bounded; what its clauses do is still to be looked at."""
    from sqlglot.errors import SqlglotError

    reader = _reader(dialect)
    fault = ""
    try:
        parsed = with_room(depth, lambda: _parse(sql, reader))
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, LookupError) as error:
        fault = type(error).__name__  # sqlglot's builders raise more than its own errors on what is no SQL
    if fault:  # outside of the handler: sqlglot's message, which repeats the SQL, shall not hang on ours
        raise _fault(f"does not parse ({fault})")
    return _one_select(parsed)


def _one_select(parsed: list[exp.Expr | None]) -> exp.Query:
    from sqlglot import exp

    statements = [statement for statement in parsed if statement is not None]
    if len(statements) != 1:
        raise _fault(f"holds {len(statements)} statements")
    statement = statements[0]
    if not isinstance(statement, exp.Select | exp.SetOperation | exp.Subquery):
        raise _fault("is not a SELECT")
    return statement


def write(query: exp.Query, dialect: str) -> str:
    """A tree as text."""
    return str(_reader(dialect).generate(query, copy=False))


@cache
def _reader(dialect: str) -> Dialect:
    from sqlglot.dialects.dialect import Dialect

    found = Dialect.get(dialect)
    if found is None:
        raise DialectError(
            f"{dialect!r} is not a SQL dialect that sqlglot knows",
            remedy="Give one such as 'sqlite' or 'postgres'.",
        )
    return found()


def _parse(sql: str, dialect: Dialect) -> list[exp.Expr | None]:
    """The statements of a text. Raises SqlglotError, RecursionError; VerificationError where it would be read too often."""
    with _silence:
        tokens = dialect.tokenize(sql)
        if too_many_readings(tokens, dialect.parser_class.TYPE_TOKENS):
            raise _fault("is nested so that reading it takes exponential time")
        parser = dialect.parser(max_nodes=_MOST_NODES * MOST_READINGS * len(tokens) + ALWAYS_READINGS)
        statements: list[exp.Expr | None] = parser.parse(tokens, sql)
    return statements


def with_room(depth: int, work: Callable[[], T]) -> T:
    """What `work` returns or raises; for a text of deep parentheses it has room for deep recursion.

    sqlglot's parser and generator are recursive. A deep text is therefore worked on in a thread with a large stack.
    """
    if depth <= _SHALLOW or _deep_recursion.here():
        return work()
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            failure.append(error)

    with _deep_recursion.allowed():
        _deep_recursion.start(run).join()
    if failure:
        raise failure[0]
    return outcome[0]


class _DeepRecursion:
    """Room for deep recursion in threads of its own.

    Recursion limit and stack size are settings of the whole process. The limit is raised while anybody needs it, the stack
    size for the moment in which a thread is started; the lock is held for those moments alone, never while a text is read.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 0
        self._local = threading.local()

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Threads may be `_FRAMES` deep."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, _FRAMES))
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if (
                    self._users == 0 and sys.getrecursionlimit() == _FRAMES
                ):  # the application may have set its own
                    sys.setrecursionlimit(self._before)

    def here(self) -> bool:
        """Whether this is such a thread."""
        return getattr(self._local, "deep", False)

    def start(self, work: Callable[[], None]) -> threading.Thread:
        """A thread with a large stack, at work."""

        def run() -> None:
            self._local.deep = True
            work()

        thread = threading.Thread(target=run, name="fastsql-parse", daemon=True)
        with self._lock:
            size = threading.stack_size(_STACK_BYTES)
            try:
                thread.start()
            finally:
                threading.stack_size(size)
        return thread


_deep_recursion = _DeepRecursion()


def _renew_after_fork() -> None:
    """A forked process has one thread: nobody holds the lock, and nobody reads anything deep."""
    global _deep_recursion
    if _deep_recursion._users and sys.getrecursionlimit() == _FRAMES:
        sys.setrecursionlimit(_deep_recursion._before)
    _deep_recursion = _DeepRecursion()


os.register_at_fork(after_in_child=_renew_after_fork)


def _fault(what: str) -> VerificationError:
    return VerificationError(what, where="SQL", remedy=REMEDY)
