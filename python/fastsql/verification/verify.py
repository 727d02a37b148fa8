"""The last gate: a finished SQL text is checked by means that share nothing with the decoder that wrote it.

Six checks, each on its own reason for distrust: the raw text is bounded and cut into tokens before anything recursive reads
it; sqlglot must find exactly one SELECT; every node of its tree, and every function, must be on an allow-list; every table
and column must resolve to the schema by the dialect's own rules (SQLite alone would not do: it takes an unknown ``"name"``
for a string); no text that it makes may grow beyond bounds; and SQLite must prepare it on an empty database of that schema.

What runs is not the text that was given but what was verified, written anew (:func:`runnable`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fastsql.errors import VerificationError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema import Schema
from fastsql.verification.empty import prepare
from fastsql.verification.parse import parse_query, read_select, silence, with_room, write
from fastsql.verification.qualify import check_meaning, qualify
from fastsql.verification.resolve import Resolution, UnresolvedError, resolve
from fastsql.verification.sizes import check_form_sizes, check_sizes
from fastsql.verification.text import (
    REMEDY,
    SQL_CHARACTERS,
    bound_text,
    parenthesis_depth,
    scan_text,
    select_list,
)
from fastsql.verification.tree import check_tree

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = [
    "SQL_CHARACTERS",
    "Runnables",
    "parenthesis_depth",
    "parse_query",
    "prepare",
    "runnable",
    "verify",
    "verify_form",
]

REMEMBERED = 128
"""Queries whose texts an executor remembers."""
REMEMBERED_CHARACTERS = 4_000
"""Characters of the longest query that is remembered."""


def verify(sql: str, schema: Schema, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> None:
    """Return if `sql` is one SELECT statement that only reads, and only what is in `schema`.

    In dialects other than SQLite there is no engine to prepare it, so the first five checks are all.

    Raises:
        VerificationError: it is not; the message says which check failed and repeats nothing of the SQL.
        DialectError: there is no list of what is harmless in the dialect.
    """
    depth = bound_text(sql, limits)
    with_room(depth, lambda: _read(sql, depth, schema, dialect, limits))
    if dialect == "sqlite":
        prepare(sql, schema)


def verify_form(sql: str, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> exp.Query:
    """The AST of a SELECT that only reads, whatever the schema: all checks that need none.

    Raises:
        VerificationError, DialectError: as :func:`verify`.
    """
    return _read_form(sql, bound_text(sql, limits), dialect, limits)[0]


def runnable(sql: str, schema: Schema | None, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> str:
    """The text that an executor may run for a query: with a schema, what was verified, written anew.

    Every table and column is quoted and says where it comes from, ``*`` is spelled out (`fastsql.verification.qualify`), so
    that the text means to the database what it meant to the verifier, whatever else the database holds. Without a schema
    it is the text that was given.

    Raises:
        VerificationError, DialectError: as :func:`verify`; without a schema, as :func:`verify_form`.
    """
    depth = bound_text(sql, limits)
    if schema is None:
        _read_form(sql, depth, dialect, limits)
        return sql

    def rewrite() -> str:
        reading = _read(sql, depth, schema, dialect, limits)
        with _resolving(), silence():
            items = select_list(sql, dialect)
            qualify(reading.nodes, reading.resolution, schema, dialect=dialect, items=items)
            return write(reading.query, dialect)

    text = with_room(depth, rewrite)
    if dialect == "sqlite":
        prepare(text, schema)
    return text


class Runnables:
    """:func:`runnable` for one executor, which remembers the latest queries: a dashboard runs the same ones all day.

    What may run depends on the text, the schema and the dialect alone, so nothing that changes is passed over. The texts
    stay in memory and go nowhere else.
    """

    def __init__(self, schema: Schema | None, dialect: str) -> None:
        self._written = lru_cache(REMEMBERED)(lambda sql: runnable(sql, schema, dialect=dialect))

    def of(self, sql: str) -> str:
        """The text that may run for a query. Raises VerificationError, DialectError: as :func:`runnable`."""
        written = self._written if len(sql) <= REMEMBERED_CHARACTERS else self._written.__wrapped__
        return written(sql)


@dataclass(frozen=True)
class _Reading:
    """A query that has passed all checks but SQLite's own, its nodes, and what their names mean."""

    query: exp.Query
    nodes: list[exp.Expr]
    resolution: Resolution


def _read(sql: str, depth: int, schema: Schema, dialect: str, limits: Limits) -> _Reading:
    """Raises VerificationError, DialectError."""
    query, nodes = _read_form(sql, depth, dialect, limits)
    with _resolving():
        resolution = resolve(query, schema, dialect=dialect)
        check_meaning(nodes, resolution)
        check_sizes(nodes, resolution, dialect)
    return _Reading(query, nodes, resolution)


def _read_form(sql: str, depth: int, dialect: str, limits: Limits) -> tuple[exp.Query, list[exp.Expr]]:
    """A query and its nodes, breadth first. Raises VerificationError, DialectError."""
    scan = scan_text(sql, dialect, limits)
    query = read_select(sql, depth, dialect)
    nodes = list(query.walk())
    check_tree(nodes, scan, dialect)
    check_form_sizes(nodes)
    return query, nodes


class _resolving:  # noqa: N801 - used like a function; a generator-based context manager costs more than what it guards
    """Turns what resolving raises into errors of the verifier."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnresolvedError):
            raise VerificationError(str(error), where="names of the SQL", remedy=REMEDY) from None
        if isinstance(error, RecursionError):
            raise VerificationError("is nested too deeply", where="names of the SQL", remedy=REMEDY) from None
