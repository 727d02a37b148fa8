"""Schemas: reading them from where they are, and what every later stage knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.lazily import lazily

if TYPE_CHECKING:
    from fastsql.schema.model import Column, Constant, ForeignKey, Table, Value
    from fastsql.schema.names import label_from_name, quote
    from fastsql.schema.pace import ReadingInterrupted
    from fastsql.schema.schema import Schema, SchemaSource, load_uniform, names_digest
    from fastsql.schema.sqltypes import TYPE_CLASSES, classify_type

__all__ = [
    "TYPE_CLASSES",
    "Column",
    "Constant",
    "ForeignKey",
    "ReadingInterrupted",
    "Schema",
    "SchemaSource",
    "Table",
    "Value",
    "classify_type",
    "label_from_name",
    "load_uniform",
    "names_digest",
    "quote",
]

# Who wants one file of this room, as `profile` does, does not want all: each is imported when asked for.
_LAZY = {
    **dict.fromkeys(("Column", "Constant", "ForeignKey", "Table", "Value"), "model"),
    **dict.fromkeys(("label_from_name", "quote"), "names"),
    "ReadingInterrupted": "pace",
    **dict.fromkeys(("Schema", "SchemaSource", "load_uniform", "names_digest"), "schema"),
    **dict.fromkeys(("TYPE_CLASSES", "classify_type"), "sqltypes"),
}
__getattr__ = lazily(__name__, _LAZY)
