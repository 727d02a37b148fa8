"""Schemas from SQLite files and connections.

Files are opened read-only: reading a schema must never create or change one.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.errors import SchemaError
from fastsql.forking import inside_sqlite
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.assemble import assemble
from fastsql.schema.choice import ALL, Choice
from fastsql.schema.ddl_tokens import has_comments
from fastsql.schema.draft import FLAG, Draft, DraftColumn, DraftKey, DraftTable, flag
from fastsql.schema.duckdb_file import check_not_duckdb
from fastsql.schema.names import is_reserved, quote
from fastsql.schema.sqlite_file import open_read_only, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fastsql.schema.model import Structure, Value

_SCANNED_ROWS = 1_000_000
"""Rows of a table looked at when its small domains are collected: a bound on time, not on correctness."""
_TYPED_ROWS = 100
"""Rows looked at to tell the type of a column that is declared without one."""


def schema_from_sqlite(
    source: str | Path | sqlite3.Connection,
    *,
    namespace: str | Iterable[str] | None = None,
    attached: Mapping[str, str | Path] | None = None,
    max_values: int = 50,
    choice: Choice = ALL,
    strict: bool = False,
    limits: Limits = DEFAULT,
) -> Structure:
    """See :meth:`Schema.from_sqlite`.

    Raises SchemaError where the file is missing, no database, locked or damaged.
    """
    if namespace is None and attached:
        namespace = ("main", *attached)
    path = ":memory:" if isinstance(source, sqlite3.Connection) else str(source)
    try:
        with _connection(source, attached) as connection:
            draft = Draft(Path(path).stem if path != ":memory:" else "main")
            draft.default_namespace = "" if namespace is None else "main"
            for name in (namespace,) if namespace is None or isinstance(namespace, str) else namespace:
                _read(connection, draft, name or "", choice)
            choice.check()
            if max_values > 0:
                _read_values(connection, draft, min(max_values, limits.values_per_column), limits)
    except (sqlite3.Error, UnicodeError) as error:
        # The message of SQLite itself names no cell, only tables and columns. A UnicodeError holds what it could not read.
        failure = f"{error}" if isinstance(error, sqlite3.Error) else "a name is not UTF-8"
    else:
        return assemble(draft, strict=strict, limits=limits)
    raise SchemaError(
        f"SQLite cannot read it ({failure})",
        where=path,
        remedy="Check that it is an intact, unlocked SQLite database.",
    )


@contextmanager
def _connection(
    source: str | Path | sqlite3.Connection, attached: Mapping[str, str | Path] | None
) -> Iterator[sqlite3.Connection]:
    if isinstance(source, sqlite3.Connection):
        if attached:
            raise SchemaError(
                "the connection has its own attached databases",
                where="attached",
                remedy="Attach them to it, and name them by namespace.",
            )
        factories = source.row_factory, source.text_factory
        source.row_factory = None
        source.text_factory = str
        try:
            with inside_sqlite():
                yield source
        finally:
            source.row_factory, source.text_factory = factories
        return
    for path in map(Path, (source, *(attached or {}).values())):
        if not path.is_file():
            raise SchemaError(
                "there is no such file", where=str(path), remedy="Check the path of the SQLite database."
            )
        check_not_duckdb(path, SchemaError)
    with open_read_only(source, attached) as connection:
        yield connection


def _read(connection: sqlite3.Connection, draft: Draft, namespace: str, choice: Choice) -> None:
    """Read the chosen tables and views of the main database, or of an attached one into its namespace."""
    prefix = f"{quote(namespace)}." if namespace else ""
    known = [name for _, name, _ in connection.execute("PRAGMA database_list")]
    if namespace and namespace not in known:
        raise SchemaError(
            "no database is attached under this name",
            where=f"namespace {namespace!r}",
            remedy=f"There are: {', '.join(known)}.",
        )
    found = connection.execute(
        f"SELECT name, type, sql FROM {prefix}sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"  # noqa: S608 -- quoted
    )
    shadows = _shadow_tables(connection)
    for table, kind, sql in found.fetchall():
        if is_reserved(table) or table in shadows:
            continue
        if not choice.wants(table, namespace, view=kind == "view"):
            if kind == "table":
                draft.left_out.append(DraftTable(table, namespace=namespace))
            continue
        try:
            rows = connection.execute(f"PRAGMA {prefix}table_xinfo({quote(table)})").fetchall()
        except sqlite3.OperationalError as error:
            # A virtual table whose module is not loaded, or a view on a table that is gone: the others are
            # still good.
            draft.warnings.append((f"table {table!r}", f"SQLite cannot open it ({error}); it is left out"))
            continue
        made = _table(connection, DraftTable(table, namespace=namespace), rows)
        if kind == "table" and has_comments(sql or ""):
            from fastsql.schema.sql_comments import comments_of_table

            comments_of_table(sql, made)
        draft.tables.append(made)
        draft.foreign_keys.extend(_foreign_keys(connection, made))


def _shadow_tables(connection: sqlite3.Connection) -> set[str]:
    """Tables that a virtual table keeps for itself.

    SQLite before 3.37 cannot tell, and shows them as tables.
    """
    try:
        rows = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'shadow'").fetchall()
    except sqlite3.OperationalError:
        return set()
    return {name for (name,) in rows}


def _table(
    connection: sqlite3.Connection, table: DraftTable, rows: list[tuple[int, str, str, int, object, int, int]]
) -> DraftTable:
    key: list[tuple[int, str]] = []
    for _, column, declared, _, _, key_place, hidden in rows:
        if (
            hidden == 1
        ):  # a hidden column of a virtual table; 2 and 3 are generated columns, which queries may use
            continue
        sql_type = declared or ""
        draft = DraftColumn(column, sql_type=sql_type)
        if not sql_type:
            draft.type = _stored_type(connection, _written(table), column)
        table.columns.append(draft)
        if key_place:
            key.append((key_place, column))
    table.primary_key = [column for _, column in sorted(key)]
    return table


def _written(table: DraftTable) -> str:
    """The name of a table in SQL."""
    return f"{quote(table.namespace)}.{quote(table.name)}" if table.namespace else quote(table.name)


def _stored_type(connection: sqlite3.Connection, table: str, column: str) -> str:
    """The class of what a column holds that is declared without a type, as in CREATE TABLE t(a, b)."""
    name = quote(column)
    rows = connection.execute(
        f"SELECT DISTINCT typeof(cell) FROM"  # noqa: S608 -- names are quoted
        f" (SELECT {name} AS cell FROM {table} WHERE {name} IS NOT NULL LIMIT {_TYPED_ROWS})"
    ).fetchall()
    stored = {kind for (kind,) in rows}
    if stored and stored <= {"integer", "real"}:
        return "number"
    return "text" if stored == {"text"} else "other"


def _foreign_keys(connection: sqlite3.Connection, table: DraftTable) -> list[DraftKey]:
    keys: dict[int, DraftKey] = {}
    prefix = f"{quote(table.namespace)}." if table.namespace else ""
    rows = connection.execute(f"PRAGMA {prefix}foreign_key_list({quote(table.name)})").fetchall()
    for number, _, parent, column, reference, *_ in sorted(rows, key=lambda row: (row[0], row[1])):
        held = DraftTable(parent, namespace=table.namespace)  # no key leads from one database to another
        key = keys.setdefault(number, DraftKey(table.full_name, [], held.full_name))
        key.columns.append(column)
        if reference is not None:
            key.references.append(reference)
    # SQLite numbers the keys of a table from the last declared to the first.
    return [keys[number] for number in sorted(keys, reverse=True)]


def _read_values(connection: sqlite3.Connection, draft: Draft, most: int, limits: Limits) -> None:
    """Give flags, and text columns of few distinct values, those values, sorted so that the fingerprint is stable.

    Columns without such values keep those that a comment gives them.
    """
    connection.text_factory = text_of
    for table in draft.tables:
        for column in table.columns:
            found: list[Value] = []
            if column.type_class == "text":
                found = _domain(_distinct(connection, table, column.name, most), most, limits)
            elif most >= len(FLAG) and not column.values and draft.may_be_flag(table, column):
                found = flag(_distinct(connection, table, column.name, len(FLAG)))
                if found and _is_longer(connection, table):
                    continue  # a row behind those that are looked at may hold what makes it an amount
            if found:
                column.values = found


def _domain(cells: Sequence[object], most: int, limits: Limits) -> list[Value]:
    """The values of a text column, sorted; none where there are more than `most`, or one is too long to be a category."""
    values = [value for value in cells if isinstance(value, (str, int, float))]
    too_long = any(isinstance(value, str) and len(value) > limits.value_characters for value in values)
    if len(cells) > most or too_long:
        return []
    return sorted((value for value in values if value != ""), key=lambda value: (str(type(value)), value))


def _distinct(connection: sqlite3.Connection, table: DraftTable, column: str, most: int) -> list[object]:
    """At most one more than `most` of the values of a column, in the rows that are looked at."""
    name = quote(column)
    rows = connection.execute(
        f"SELECT DISTINCT {name} FROM"  # noqa: S608 -- names are quoted
        f" (SELECT {name} FROM {_written(table)} LIMIT {_SCANNED_ROWS})"
        f" WHERE {name} IS NOT NULL LIMIT {most + 1}"
    )
    return [value for (value,) in rows]


def _is_longer(connection: sqlite3.Connection, table: DraftTable) -> bool:
    """Whether a table has more rows than are looked at."""
    behind = f"SELECT 1 FROM {_written(table)} LIMIT 1 OFFSET {_SCANNED_ROWS}"  # noqa: S608 -- names are quoted
    return connection.execute(behind).fetchone() is not None
