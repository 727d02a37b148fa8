"""What kind of thing a column holds, as far as a schema tells: what may stand for what in a query that makes sense."""

from __future__ import annotations

from fastsql.linking.relations import split_words
from fastsql.schema import Schema

KEY, NAME = "key", "name"
"""Kinds beside the type classes: a key of a table or of a join, and a text that names a row."""
_NAMING = frozenset({"name", "title", "label", "surname", "lastname", "firstname", "fullname"})


def column_kinds(schema: Schema) -> tuple[str, ...]:
    """The kind of each column: "key", "name", or its type class."""
    keys = {column for column, group in enumerate(schema.key_groups) if group >= 0}
    keys |= {column for table in schema.tables for column in table.primary_key}
    return tuple(
        KEY if number in keys else NAME if column.type == "text" and _names(column.label) else column.type
        for number, column in enumerate(schema.columns)
    )


def type_of(kind: str) -> str:
    """The type class of the columns that may stand for a kind where no column is of that kind; empty for keys."""
    return {KEY: "", NAME: "text"}.get(kind, kind)


def _names(label: str) -> bool:
    words = [word for word, _, _ in split_words(label)]
    return bool(words) and words[-1] in _NAMING
