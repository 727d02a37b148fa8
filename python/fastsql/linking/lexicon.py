"""What a model learned about the values of well-known schemas, and what a database says about a schema's values.

A bundle's lexicon holds values that questions mean without writing them ("weight" is ``d_items.label = 'daily
weight'``), by table and column name, and named constants such as bounds of normal. It serves every schema that has
those columns. No patient's value is in it: it is learned from the gold SQL of published question sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastsql.schema import Constant, Schema, Value


@dataclass(frozen=True)
class Lexicon:
    """Values by (table, column) name, and named constants."""

    values: Mapping[tuple[str, str], Sequence[Value]]
    constants: tuple[Constant, ...] = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Lexicon:
        """From a bundle's settings: ``lexicon`` lists [table, column, values], ``constants`` [name, value, label]."""
        return cls(
            {(table, column): tuple(values) for table, column, values in settings.get("lexicon", ())},
            tuple(Constant(name, value, label=label) for name, value, label in settings.get("constants", ())),
        )

    def apply(self, schema: Schema) -> Schema:
        """The schema with the lexicon's values on its columns of the same names.

        The constants come along where a column is known and the schema has no constants of its own.
        """
        values: dict[tuple[str, str], tuple[Value, ...]] = {}
        known = False
        for (table, column), texts in self.values.items():
            index = schema.find_column(table, column)
            if index is None:
                continue
            known = True
            present = schema.columns[index].values
            new = tuple(text for text in texts if text not in present)
            if new:
                values[table, column] = (*present, *new)
        if values:
            schema = schema.with_values(values)
        if known and self.constants and not schema.constants:
            schema = schema.with_constants(self.constants)
        return schema


def with_database_values(schema: Schema, database: str | Path, *, max_values: int = 50) -> Schema:
    """The schema with the small domains of an SQLite file: all values of text columns that have at most `max_values`.

    Columns that already have values keep them; columns that the file lacks stay as they are.
    """
    found = Schema.from_sqlite(database, max_values=max_values)
    values: dict[tuple[str, str], tuple[Value, ...]] = {}
    for column in schema.columns:
        table = schema.tables[column.table].name
        index = found.find_column(table, column.name)
        if index is not None and not column.values and found.columns[index].type != "time":
            domain = found.columns[index].values
            if domain:
                values[table, column.name] = domain
    return schema.with_values(values) if values else schema
