"""Rows carried over: a new SQLite file with an extended schema's tables, filled from the old one, which is only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from fastsql.forking import inside_sqlite
from fastsql.schema import Schema
from fastsql.schema.model import ForeignKey, Table
from fastsql.schema.names import quote
from fastsql.schema.render import quoted_names
from fastsql.schema.sqlite_file import SQLiteFile
from fastsql.synthesis.extension.operation import Extended
from fastsql.synthesis.source import SynthesisError

_FEW = 10_000
"""Rows of a table that are searched one by one."""


def carry_rows(old: Schema, extended: Extended, source: Path, target: Path) -> None:
    """Fill a new file from the old one, and check that each changed table can be had again from it, row by row.

    Keys are declared as far as the rows keep them; the schema has them all. Raises SynthesisError, and then leaves no file,
    where SQLite cannot do it or a row is lost.
    """
    try:
        with inside_sqlite(), closing(sqlite3.connect(target)) as connection:
            connection.execute("ATTACH ? AS old", [SQLiteFile(source).address()[0]])
            connection.execute("PRAGMA foreign_keys = OFF")
            with connection:
                connection.execute("BEGIN")  # all tables at once: each alone would wait for the disk
                for statement in statements(extended, connection):
                    connection.execute(statement)
            lost = next((n for n in sorted(extended.changed) if _is_lost(old, extended, n, connection)), None)
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise SynthesisError(
            f"SQLite cannot carry its rows over ({type(error).__name__})",
            where=extended.site.describe(old),
            remedy="Check that the schema is that of the database.",
        ) from error
    if lost is not None:
        target.unlink(missing_ok=True)
        raise SynthesisError(
            f"table {old.table_name(lost)} cannot be had again from the new ones",
            where=extended.site.describe(old),
            remedy="Leave the operation out.",
        )


def statements(extended: Extended, connection: sqlite3.Connection) -> Iterator[str]:
    """What makes and fills the new tables, where the old database is attached as ``old``."""
    schema = _with_kept_keys(extended, connection)
    yield from filter(None, map(str.strip, schema.to_ddl().split("\n\n")))
    for table, rows in zip(schema.tables, extended.rows, strict=True):
        yield f"INSERT INTO main.{quote(table.name)} {rows}"
    # Joins are made along keys, of which SQLite indexes primary ones alone. A small table is as fast without, and its rows
    # come in the order that they had.
    ends = dict.fromkeys(end for key in extended.schema.foreign_keys for end in (key.columns, key.references))
    for number, columns in enumerate(ends):
        owner = schema.tables[schema.columns[columns[0]].table]
        (rows_held,) = connection.execute(f"SELECT COUNT(*) FROM main.{quote(owner.name)}").fetchone()
        if rows_held > _FEW and owner.primary_key[: len(columns)] != columns:
            yield f"CREATE INDEX {quote(f'key_{number + 1}')} ON {quote(owner.name)} ({quoted_names(schema, columns)})"


def _is_lost(old: Schema, extended: Extended, number: int, connection: sqlite3.Connection) -> bool:
    """Whether the view of a table has other rows, or another number of one, than the table had."""
    columns = old.tables[number].columns
    names = ", ".join(quote(old.columns[column].name) for column in columns)
    view = extended.view(number, columns).sql("sqlite")
    there = f"SELECT {names}, COUNT(*) FROM old.{quote(old.tables[number].name)} GROUP BY {names}"
    here = f"SELECT {names}, COUNT(*) FROM ({view}) GROUP BY {names}"
    return any(
        connection.execute(f"SELECT EXISTS ({one} EXCEPT {other})").fetchone()[0]
        for one, other in ((there, here), (here, there))
    )


def _with_kept_keys(extended: Extended, connection: sqlite3.Connection) -> Schema:
    """The schema with the keys alone that the rows keep: a file must not declare what is not so."""
    schema = extended.schema
    kept = tuple(
        one if _is_key(schema, one, extended.rows[number], connection) else replace(one, primary_key=())
        for number, one in enumerate(schema.tables)
    )
    primary = {column for table in kept for column in table.primary_key}
    columns = tuple(replace(one, primary_key=index in primary) for index, one in enumerate(schema.columns))
    keyed = replace(schema, tables=kept, columns=columns, foreign_keys=())
    keys = tuple(key for key in schema.foreign_keys if _holds(keyed, key, extended.rows, connection))
    return replace(keyed, foreign_keys=keys)


def _is_key(schema: Schema, table: Table, rows: str, connection: sqlite3.Connection) -> bool:
    if not table.primary_key:
        return False
    names = [quote(schema.columns[column].name) for column in table.primary_key]
    only = schema.columns[table.primary_key[0]]
    # A column that is called INTEGER PRIMARY KEY is SQLite's number of the row, and takes nothing else.
    odd = (
        "typeof({}) <> 'integer'" if len(names) == 1 and only.sql_type.upper() == "INTEGER" else "{} IS NULL"
    )
    query = (
        f"WITH t({quoted_names(schema, table.columns)}) AS ({rows})"
        f" SELECT EXISTS (SELECT 1 FROM t WHERE {' OR '.join(map(odd.format, names))})"
        f" OR EXISTS (SELECT 1 FROM t GROUP BY {', '.join(names)} HAVING COUNT(*) > 1)"
    )
    return not connection.execute(query).fetchone()[0]


def _holds(schema: Schema, key: ForeignKey, rows: Sequence[str], connection: sqlite3.Connection) -> bool:
    """Whether a key refers to a whole primary key, and all that refer find what they refer to."""
    child, parent = (schema.columns[ends[0]].table for ends in (key.columns, key.references))
    if set(schema.tables[parent].primary_key) != set(key.references):
        return False
    columns, references = quoted_names(schema, key.columns), quoted_names(schema, key.references)
    present = " AND ".join(f"{quote(schema.columns[column].name)} IS NOT NULL" for column in key.columns)
    query = (
        f"WITH t({quoted_names(schema, schema.tables[child].columns)}) AS ({rows[child]}),"
        f" u({quoted_names(schema, schema.tables[parent].columns)}) AS ({rows[parent]})"
        f" SELECT EXISTS (SELECT {columns} FROM t WHERE {present} EXCEPT SELECT {references} FROM u)"
    )
    return not connection.execute(query).fetchone()[0]
