"""Schemas as DDL, chiefly to make an empty database on which generated SQL can be prepared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastsql.errors import DialectError
from fastsql.schema.names import quote

if TYPE_CHECKING:
    from fastsql.schema.model import Column, ForeignKey, Schema, Table

_CLASS_TYPES = {
    "number": "NUMERIC",
    "text": "TEXT",
    "time": "TIMESTAMP",
    "boolean": "BOOLEAN",
    "other": "BLOB",
}
# A declared type is repeated only where it is nothing but words and sizes: it may come from a file that
# someone else wrote.
_PLAIN_TYPE = re.compile(r"\w[\w ]*(\( ?[0-9]+( ?, ?[0-9]+)? ?\))?( \w+)*")
_CLAUSES = re.compile(
    r"\b(PRIMARY|KEY|NOT|NULL|DEFAULT|UNIQUE|CHECK|REFERENCES|COLLATE|GENERATED|ALWAYS|AS|CONSTRAINT|AUTOINCREMENT|FOREIGN)\b",
    re.IGNORECASE,
)


def render_ddl(schema: Schema, dialect: str = "sqlite") -> str:
    """See :meth:`Schema.to_ddl`. Raises DialectError for a dialect that sqlglot does not know."""
    if dialect == "sqlite":
        keys: dict[int, list[ForeignKey]] = {}
        for key in schema.foreign_keys:
            keys.setdefault(schema.columns[key.columns[0]].table, []).append(key)
        return "\n\n".join(
            _sqlite_table(schema, number, keys.get(number, [])) for number in range(len(schema.tables))
        )
    return "\n\n".join(_table(schema, table, dialect) for table in schema.tables)


def _sqlite_table(schema: Schema, number: int, keys: list[ForeignKey]) -> str:
    table = schema.tables[number]
    lines = [
        f"{quote(schema.columns[index].name)} {_sqlite_type(schema.columns[index])}"
        for index in table.columns
    ]
    if table.primary_key:
        lines.append(f"PRIMARY KEY ({_names(schema, table.primary_key)})")
    for key in keys:
        parent = schema.tables[schema.columns[key.references[0]].table]
        lines.append(
            f"FOREIGN KEY ({_names(schema, key.columns)})"
            f" REFERENCES {quote(parent.name)} ({_names(schema, key.references)})"
        )
    return f"CREATE TABLE {quote(table.name)} (\n    " + ",\n    ".join(lines) + "\n);"


def _names(schema: Schema, columns: tuple[int, ...]) -> str:
    return ", ".join(quote(schema.columns[index].name) for index in columns)


def _sqlite_type(column: Column) -> str:
    if _PLAIN_TYPE.fullmatch(column.sql_type) and not _CLAUSES.search(column.sql_type):
        return column.sql_type
    return _CLASS_TYPES[column.type]


def _table(schema: Schema, table: Table, dialect: str) -> str:
    import sqlglot
    from sqlglot import exp

    definitions = [
        exp.ColumnDef(
            this=exp.to_identifier(schema.columns[index].name, quoted=True),
            kind=exp.DataType.build(_generic_type(schema.columns[index])),
        )
        for index in table.columns
    ]
    name = exp.Table(this=exp.to_identifier(table.name, quoted=True))
    create = exp.Create(this=exp.Schema(this=name, expressions=definitions), kind="TABLE")
    try:
        return create.sql(dialect=dialect, pretty=True) + ";"
    except ValueError as error:
        raise DialectError(
            f"unknown dialect {dialect!r}",
            remedy=f"Known are: {', '.join(sorted(filter(None, sqlglot.Dialects.__members__.values())))}.",
        ) from error


def _generic_type(column: Column) -> str:
    return {"number": "DECIMAL(38, 10)", "text": "TEXT", "time": "TIMESTAMP", "boolean": "BOOLEAN"}.get(
        column.type, "TEXT"
    )
