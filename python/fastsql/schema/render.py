"""Schemas as DDL, chiefly to make an empty database on which generated SQL can be prepared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastsql.schema.dialects import canonical_dialect, plain_dialect
from fastsql.schema.names import quote
from fastsql.schema.sqltypes import TYPE_WORDS

if TYPE_CHECKING:
    from fastsql.schema.model import Column, ForeignKey, Structure

_CLASS_TYPES = {
    "number": "NUMERIC",
    "text": "TEXT",
    "time": "TIMESTAMP",
    "boolean": "BOOLEAN",
    "other": "BLOB",
}
# A declared type is repeated only where it is nothing but known words and sizes: it may come from a file that someone else
# wrote, and neither "INT DEFAULT (...)" nor a type that is called "select" can stand there.
_PLAIN_TYPE = re.compile(r"[A-Za-z]\w*( \w+)*( ?\( ?[0-9]+( ?, ?[0-9]+)? ?\))?", re.ASCII)
_SQLITE_KEYWORDS = frozenset({"set", "null"})


def render_ddl(schema: Structure, dialect: str = "sqlite") -> str:
    """See :meth:`Schema.to_ddl`. Raises DialectError for a dialect that sqlglot does not know."""
    if plain_dialect(dialect) == "sqlite":
        keys: dict[int, list[ForeignKey]] = {}
        for key in schema.foreign_keys:
            keys.setdefault(schema.columns[key.columns[0]].table, []).append(key)
        return "\n\n".join(
            [
                *(f"ATTACH ':memory:' AS {quote(namespace)};" for namespace in _namespaces(schema)),
                *(
                    _sqlite_table(schema, number, keys.get(number, []))
                    for number in range(len(schema.tables))
                ),
            ]
        )
    dialect = canonical_dialect(dialect)
    return "\n\n".join(
        [
            *(_namespace(namespace, dialect) for namespace in _namespaces(schema)),
            *(_table(schema, number, dialect) for number in range(len(schema.tables))),
        ]
    )


def _namespaces(schema: Structure) -> list[str]:
    """The namespaces that SQL names, in their order."""
    found = dict.fromkeys(schema.namespace_in_sql(number) for number in range(len(schema.tables)))
    found.pop("", None)
    return list(found)


def _namespace(name: str, dialect: str) -> str:
    from sqlglot import exp

    create = exp.Create(this=exp.Table(db=exp.to_identifier(name, quoted=True)), kind="SCHEMA")
    return create.sql(dialect=dialect) + ";"


def _sqlite_table(schema: Structure, number: int, keys: list[ForeignKey]) -> str:
    table = schema.tables[number]
    lines = [
        f"{quote(schema.columns[index].name)} {_sqlite_type(schema.columns[index])}"
        for index in table.columns
    ]
    if table.primary_key:
        lines.append(f"PRIMARY KEY ({quoted_names(schema, table.primary_key)})")
    namespace = schema.namespace_in_sql(number)
    for key in keys:
        holder = schema.columns[key.references[0]].table
        parent = schema.tables[holder]
        if schema.namespace_in_sql(holder) != namespace:
            continue  # SQLite has no keys from one database to another
        lines.append(
            f"FOREIGN KEY ({quoted_names(schema, key.columns)})"
            f" REFERENCES {quote(parent.name)} ({quoted_names(schema, key.references)})"
        )
    name = f"{quote(namespace)}.{quote(table.name)}" if namespace else quote(table.name)
    return f"CREATE TABLE {name} (\n    " + ",\n    ".join(lines) + "\n);"


def quoted_names(schema: Structure, columns: Sequence[int]) -> str:
    """The names of columns, quoted, between commas."""
    return ", ".join(quote(schema.columns[index].name) for index in columns)


def _sqlite_type(column: Column) -> str:
    words = set(re.findall(r"[a-z]\w*", column.sql_type.lower()))
    if _PLAIN_TYPE.fullmatch(column.sql_type) and words <= TYPE_WORDS - _SQLITE_KEYWORDS:
        return column.sql_type
    return _CLASS_TYPES[column.type]


def _table(schema: Structure, number: int, dialect: str) -> str:
    from sqlglot import exp

    table, namespace = schema.tables[number], schema.namespace_in_sql(number)
    definitions = [
        exp.ColumnDef(
            this=exp.to_identifier(schema.columns[index].name, quoted=True),
            kind=exp.DataType.build(_generic_type(schema.columns[index])),
        )
        for index in table.columns
    ]
    name = exp.Table(
        this=exp.to_identifier(table.name, quoted=True),
        db=exp.to_identifier(namespace, quoted=True) if namespace else None,
    )
    create = exp.Create(this=exp.Schema(this=name, expressions=definitions), kind="TABLE")
    return create.sql(dialect=dialect, pretty=True) + ";"


def _generic_type(column: Column) -> str:
    declared = column.sql_type.lower()
    if column.type == "number":
        if "int" in declared:
            return "BIGINT"
        return "DOUBLE" if re.search("real|floa|doub", declared) else "DECIMAL(38, 10)"
    if column.type == "time":
        word = re.split(r"\W", declared)[0]
        return {"date": "DATE", "time": "TIME", "timetz": "TIME"}.get(word, "TIMESTAMP")
    return "BOOLEAN" if column.type == "boolean" else "TEXT"
