"""The whole-tree allow-list: every node of a parsed query, every argument of it, every function, against `allowed`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

from fastsql.errors import DialectError, VerificationError
from fastsql.schema.names import fold
from fastsql.verification import allowed
from fastsql.verification.text import REMEDY, Scan

if TYPE_CHECKING:
    from sqlglot import exp

VERIFIED_DIALECTS = tuple(allowed.DIALECT_NODES)
"""Dialects that have an allow-list."""


def check_tree(nodes: Iterable[exp.Expr], scan: Scan, dialect: str) -> None:
    """Return if a query, given by its nodes, holds only what `allowed` lists for the dialect.

    `scan` is the same text cut into tokens without sqlglot: a function must pass under the node type that sqlglot read, and
    under the name that was written.

    Raises:
        VerificationError: it holds anything else. The message names node types, never names or values of the query.
        DialectError: the dialect has no allow-list.
    """
    listed = _listed(dialect)
    with_columns = set()
    for node in nodes:
        kind = type(node).__name__
        arguments = listed.get(kind)
        if arguments is None:
            raise _fault(f"uses {kind}, which is not on the list")
        for key, value in node.args.items():
            if value and key not in arguments:
                raise _fault(f"uses {key!r} of {kind}, which is not on the list")
        if kind in _CHECKS:
            _CHECKS[kind](node, dialect)
        elif kind == "TableAlias" and node.args.get("columns"):
            with_columns.add(fold(node.name))
    quoted = {fold(name[1:-1].replace('""', '"')) for name in scan.quoted}
    if not scan.called - with_columns <= _names(dialect) or not quoted <= with_columns:
        raise _fault("calls a function that is not on the list")


def check_unqualified(nodes: Iterable[exp.Expr]) -> None:
    """Return if no table is named with its namespace, which nothing but a schema can vouch for. Raises VerificationError."""
    if any(type(node).__name__ == "Table" and node.args.get("db") for node in nodes):
        raise _fault("names a table with its namespace, and there is no schema")


@cache
def _names(dialect: str) -> frozenset[str]:
    """Words that may stand before a parenthesis."""
    return allowed.NAMES[dialect] | allowed.KEYWORDS | allowed.TYPE_NAMES


@cache
def _listed(dialect: str) -> dict[str, frozenset[str]]:
    if dialect not in allowed.DIALECT_NODES:
        raise DialectError(
            f"the verifier has no list for the dialect {dialect!r}",
            remedy=f"Give one of {', '.join(VERIFIED_DIALECTS)}.",
        )
    listed = allowed.NODES | allowed.FUNCTIONS | allowed.DIALECT_NODES[dialect]
    return {kind: frozenset(arguments.split()) for kind, arguments in listed.items()}


def _check_function(node: exp.Expr, dialect: str) -> None:
    if not isinstance(node.this, str) or fold(node.this) not in allowed.NAMES[dialect]:
        raise _fault("calls a function that is not on the list")


def _check_join(node: exp.Expr, _dialect: str) -> None:
    side, kind = (str(node.args.get(key) or "").upper() for key in ("side", "kind"))
    if side not in allowed.JOIN_SIDES or kind not in allowed.JOIN_KINDS:
        raise _fault("joins in a way that is not on the list")


def _check_not(node: exp.Expr, _dialect: str) -> None:
    parent = node.parent
    # `a = b NOT IN (...)`: written anew, NOT would come before all of it.
    if type(parent).__name__ in _OPERATORS:
        raise _fault("has a negation inside an operator")


def _check_clock(_node: exp.Expr, dialect: str) -> None:
    if dialect == "postgres":
        raise _fault("asks for the current time of day in a form that cannot be rewritten for PostgreSQL")


def _check_literal(node: exp.Expr, _dialect: str) -> None:
    if not node.args.get("is_string") and not _NUMBER.fullmatch(str(node.this)):
        raise _fault("has a number that could be read in another way")


def _check_select(node: exp.Expr, _dialect: str) -> None:
    if not node.args.get("expressions"):
        raise _fault("selects nothing")


def _check_type(node: exp.Expr, dialect: str) -> None:
    if getattr(node.this, "name", None) not in allowed.DIALECT_TYPES.get(dialect, allowed.TYPES):
        raise _fault("casts to a type that is not on the list")


def _check_unit(node: exp.Expr, _dialect: str) -> None:
    if node.name.upper() not in allowed.UNITS:
        raise _fault("uses a bare word that is not on the list")


def _check_table(node: exp.Expr, dialect: str) -> None:
    name = fold(node.name)
    if name.startswith(allowed.SYSTEM_TABLES[dialect]):
        raise _fault("reads a system table")
    if any(mark in name for mark in allowed.FILE_MARKS.get(dialect, "")):
        raise _fault("reads a table that may be a file")


_OPERATORS = allowed.words(
    "EQ NEQ LT LTE GT GTE Is Like ILike Between In Escape Add Sub Mul Div Mod IntDiv DPipe Neg"
)
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

_CHECKS: dict[str, Callable[[exp.Expr, str], None]] = {
    "Anonymous": _check_function,
    "CurrentTime": _check_clock,
    "DataType": _check_type,
    "Join": _check_join,
    "Literal": _check_literal,
    "Not": _check_not,
    "Select": _check_select,
    "Table": _check_table,
    "Var": _check_unit,
}


def _fault(what: str) -> VerificationError:
    return VerificationError(what, where="SQL", remedy=REMEDY)
