"""The last gate: a finished SQL text is checked by means that share nothing with the decoder that wrote it.

Five checks, each on its own reason for distrust: the raw text is bounded and cut into tokens before anything recursive reads
it; sqlglot must find exactly one SELECT; every node of its tree, and every function, must be on an allow-list; every table
and column must resolve to the schema by scope (SQLite alone would not do: it takes an unknown ``"name"`` for a string); and
SQLite must prepare it on an empty database of that schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.errors import VerificationError
from fastsql.execution.empty import prepare
from fastsql.execution.parse import parse_query
from fastsql.execution.resolve import UnresolvedError, resolve
from fastsql.execution.text import REMEDY, SQL_CHARACTERS, bound_text, parenthesis_depth, scan_text
from fastsql.execution.tree import check_tree
from fastsql.limits import DEFAULT, Limits
from fastsql.schema import Schema

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = [
    "SQL_CHARACTERS",
    "parenthesis_depth",
    "parse_query",
    "prepare",
    "runnable",
    "verify",
    "verify_form",
]


def verify(sql: str, schema: Schema, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> None:
    """Return if `sql` is one SELECT statement that only reads, and only what is in `schema`.

    In dialects other than SQLite there is no engine to prepare it, so the first four checks are all.

    Raises:
        VerificationError: it is not; the message says which check failed and repeats nothing of the SQL.
        DialectError: there is no list of what is harmless in the dialect.
    """
    query = verify_form(sql, dialect=dialect, limits=limits)
    try:
        resolve(query, schema)
    except UnresolvedError as error:
        raise VerificationError(str(error), where="names of the SQL", remedy=REMEDY) from None
    except RecursionError:
        raise VerificationError("nests too deep", where="names of the SQL", remedy=REMEDY) from None
    if dialect == "sqlite":
        prepare(sql, schema)


def runnable(sql: str, schema: Schema | None, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> str:
    """The text that an executor may run for a query: verified, and with a schema, written anew from what was verified.

    Raises:
        VerificationError, DialectError: as :func:`verify`; without a schema, as :func:`verify_form`.
    """
    if schema is None:
        verify_form(sql, dialect=dialect, limits=limits)
    else:
        verify(sql, schema, dialect=dialect, limits=limits)
    return sql


def verify_form(sql: str, *, dialect: str = "sqlite", limits: Limits = DEFAULT) -> exp.Query:
    """The AST of a SELECT that only reads, whatever the schema: the first three checks.

    Raises:
        VerificationError, DialectError: as :func:`verify`.
    """
    bound_text(sql, limits)
    scan = scan_text(sql, dialect, limits)
    query = parse_query(sql, dialect=dialect, limits=limits)
    check_tree(query, scan, dialect)
    return query
