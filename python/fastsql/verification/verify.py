"""The last gate: a finished SQL text is checked by means that share nothing with the decoder that wrote it.

Six checks, each on its own reason for distrust: the raw text is bounded and cut into tokens before anything recursive reads
it; sqlglot must find exactly one SELECT; every node of its tree, and every function, must be on an allow-list; every table
and column must resolve to the schema by the dialect's own rules (SQLite alone would not do: it takes an unknown ``"name"``
for a string); neither the query, once its names are replaced by what they stand for, nor a text that it makes may grow
beyond bounds; and SQLite must prepare it on an empty database of that schema.

What runs is not the text that was given but what was verified, written anew (:func:`runnable`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from fastsql.errors import VerificationError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema import Column, Schema
from fastsql.schema.dialects import plain_dialect
from fastsql.verification.empty import prepare
from fastsql.verification.expansion import check_expansion
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
from fastsql.verification.tree import check_tree, check_unqualified

if TYPE_CHECKING:
    from sqlglot import exp

    from fastsql.verification.earlier import Place

__all__ = [
    "SQL_CHARACTERS",
    "Opened",
    "Runnables",
    "open_query",
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
KEPT = 8
"""Readings that are kept for an executor."""


def verify(sql: str, schema: Schema, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> None:
    """Return if `sql` is one SELECT statement that only reads, and only what is in `schema`.

    In dialects other than SQLite there is no engine to prepare it, so the first five checks are all.

    Raises:
        VerificationError: it is not; the message says which check failed and repeats nothing of the SQL.
        DialectError: there is no list of what is harmless in the dialect.
    """
    dialect, depth = plain_dialect(dialect), bound_text(sql, limits)
    reading = with_room(depth, lambda: _read(sql, depth, schema, dialect, limits))
    if dialect == "sqlite":
        prepare(sql, schema)
    _latest.keep((sql, dialect, limits), schema, reading)


def verify_form(sql: str, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> exp.Query:
    """The AST of a SELECT that only reads, whatever the schema: all checks that need none.

    Raises:
        VerificationError, DialectError: as :func:`verify`.
    """
    query, nodes = _read_form(sql, bound_text(sql, limits), plain_dialect(dialect), limits)
    check_unqualified(nodes)
    return query


def runnable(sql: str, schema: Schema | None, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> str:
    """The text that an executor may run for a query: with a schema, what was verified, written anew.

    Every table and column is quoted and says where it comes from, ``*`` is spelled out (`fastsql.verification.qualify`), so
    that the text means to the database what it meant to the verifier, whatever else the database holds. Without a schema
    it is the text that was given.

    Raises:
        VerificationError, DialectError: as :func:`verify`; without a schema, as :func:`verify_form`.
    """
    dialect, depth = plain_dialect(dialect), bound_text(sql, limits)
    if schema is None:
        check_unqualified(_read_form(sql, depth, dialect, limits)[1])
        return sql

    def rewrite() -> str:
        reading = _latest.take((sql, dialect, limits), schema) or _read(sql, depth, schema, dialect, limits)
        with _resolving(), silence():
            items = select_list(sql, dialect)
            qualify(reading.nodes, reading.resolution, schema, dialect=dialect, items=items)
            return write(reading.query, dialect)

    text = with_room(depth, rewrite)
    if dialect == "sqlite":
        prepare(text, schema)
    return text


@dataclass(frozen=True, eq=False)
class Opened:
    """A query that was verified, in which earlier queries were found and may be replaced before it is written anew.

    `query` is its tree, qualified: every name in it says what it means.
    """

    query: exp.Query
    places: tuple[Place, ...]
    dialect: str
    depth: int

    def text(self) -> str:
        """The tree, as it is now, as text; it is used up."""
        with silence():
            return with_room(self.depth, lambda: write(self.query, self.dialect))


def open_query(
    sql: str, schema: Schema, wanted: Sequence[str] = (), *, dialect: str = "sqlite", limits: Limits = DEFAULT
) -> Opened:
    """A query as :func:`runnable` would write it, and where the `wanted` queries, verified before, stand in it.

    Raises:
        VerificationError, DialectError: as :func:`verify`.
    """
    from fastsql.verification.earlier import find_places  # for conversations

    dialect, depth = plain_dialect(dialect), bound_text(sql, limits)

    def read() -> Opened:
        reading = _latest.take((sql, dialect, limits), schema) or _read(sql, depth, schema, dialect, limits)
        with _resolving(), silence():
            earlier = [parse_query(one, dialect=dialect, limits=limits) for one in wanted]
            places = find_places(reading.query, reading.resolution, schema, earlier)
            items = select_list(sql, dialect)
            qualify(reading.nodes, reading.resolution, schema, dialect=dialect, items=items)
        return Opened(reading.query, places, dialect, depth)

    opened = with_room(depth, read)
    if dialect == "sqlite":
        prepare(sql, schema)
    return opened


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


class _Latest:
    """The readings of the queries that were verified last: what a parse has verified, an executor mostly runs next.

    A reading is given away once, as :func:`runnable` writes into its tree. It counts for the very text, dialect, limits and
    schema that it was made of. Threads need no lock: each step is one of CPython's atomic ones.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, Limits], tuple[Schema, _Reading]] = OrderedDict()

    def keep(self, query: tuple[str, str, Limits], schema: Schema, reading: _Reading) -> None:
        """Keep a reading, in the place of the oldest."""
        if len(query[0]) > REMEMBERED_CHARACTERS:
            return
        self._kept[query] = schema, reading
        while len(self._kept) > KEPT:
            with suppress(KeyError):  # another thread was quicker
                self._kept.popitem(last=False)

    def take(self, query: tuple[str, str, Limits], schema: Schema) -> _Reading | None:
        """The reading of a query, which is not kept any longer."""
        made_with, reading = self._kept.pop(query, (None, None))
        return reading if made_with is not None and _reads_alike(made_with, schema) else None


_latest = _Latest()


def _reads_alike(one: Schema, other: Schema) -> bool:
    """Whether a query means the same under both: a parser adds values and constants, which no check looks at."""
    return one is other or (
        len(one.columns) == len(other.columns)
        and _as_read(one) == _as_read(other)
        and all(map(_alike, one.columns, other.columns))
    )


def _alike(one: Column, other: Column) -> bool:
    return one is other or _column_as_read(one) == _column_as_read(other)


_as_read = attrgetter(*({f.name for f in fields(Schema)} - {"columns", "constants", "warnings"}))
_column_as_read = attrgetter(*({f.name for f in fields(Column)} - {"values"}))


def _read(sql: str, depth: int, schema: Schema, dialect: str, limits: Limits) -> _Reading:
    """Raises VerificationError, DialectError."""
    query, nodes = _read_form(sql, depth, dialect, limits)
    with _resolving():
        resolution = resolve(query, schema, dialect=dialect)
        check_meaning(nodes, resolution)
        check_expansion(nodes, resolution)
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
