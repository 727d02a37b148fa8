"""Whether the columns of a schema are in a PostgreSQL database under exactly their names.

A column that is not there is no error in PostgreSQL wherever its name is that of a function: `p.to_json` is then
`to_json(p)`, the whole row. What we write does not say it so (`qualify`); this error tells which column it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from fastsql.errors import ExecutionError
from fastsql.execution.postgres_session import ReadOnlySession

_COLUMNS = """
SELECT asked.number::int, pg_catalog.array_agg(a.attname::text)
FROM pg_catalog.unnest(%s::text[]) WITH ORDINALITY AS asked(name, number)
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = pg_catalog.to_regclass(asked.name)
WHERE a.attnum > 0 AND NOT a.attisdropped
GROUP BY asked.number
"""
_SHAPE = """
SELECT asked.name, c.relkind::text, CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) END,
       (SELECT pg_catalog.array_agg(a.attname::text || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod)
                                    ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_catalog.unnest(%s::text[]) WITH ORDINALITY AS asked(name, number)
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = pg_catalog.to_regclass(asked.name)
ORDER BY asked.number
"""
_NAMED = 5
"""Columns that an error names."""


def check_columns(session: ReadOnlySession, columns: Mapping[str, Sequence[str]]) -> None:
    """Return if every table that the database has, a view or not, has all its columns that a schema lists.

    `columns` are the schema's, by table, whose name is quoted. A table that is not there is left to the query that asks for
    it: the server refuses that one by itself.

    Raises:
        ExecutionError: columns are missing; names up to five of them.
    """
    found = dict(session.rows(_COLUMNS, [list(columns)]))
    missing = []
    for number, (table, names) in enumerate(columns.items(), start=1):
        if number in found:
            there = set(found[number])
            missing += [f"{_plain(table)}.{name}" for name in names if name not in there]
    if missing:
        named = ", ".join(missing[:_NAMED]) + (", ..." if len(missing) > _NAMED else "")
        raise ExecutionError(
            f"does not have these columns of the schema under exactly these names: {named}",
            where="database",
            remedy="Read the schema from this database again.",
        )


def shape_of(session: ReadOnlySession, tables: Sequence[str]) -> str:
    """A digest of what tables, by quoted names, are now: their kinds, columns and types, and what views stand for.

    Raises ExecutionError where they cannot be read.
    """
    found = session.rows(_SHAPE, [list(tables)])
    return sha256(repr(found).encode("utf-8", "replace")).hexdigest()


def _plain(table: str) -> str:
    """A quoted name for people."""
    return table.replace('""', "\0").replace('"', "").replace("\0", '"')
