"""Gold SQL in the dialect of its data set, and the same for SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GOLD_DIALECTS: Mapping[str, str] = MappingProxyType(
    {"beaver": "mysql", "snails": "tsql", "defog_sqleval": "postgres"}
)
"""sqlglot's name of the dialect that a data set's gold SQL has, by folder; the others have SQLite's."""


def as_sqlite(sql: str, dialect: str) -> str:
    """The query for SQLite, as far as sqlglot can translate it. Raises sqlglot's ParseError for SQL that it cannot read."""
    import sqlglot

    return sql if dialect == "sqlite" else sqlglot.transpile(sql, read=dialect, write="sqlite")[0]
