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

from fastsql.errors import LimitError, ModelError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema import Constant, Schema, Value
from fastsql.schema.literals import literal


@dataclass(frozen=True)
class Lexicon:
    """Values by (table, column) name, and named constants."""

    values: Mapping[tuple[str, str], Sequence[Value]]
    constants: tuple[Constant, ...] = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Lexicon:
        """From a bundle's settings: ``lexicon`` lists [table, column, values], ``constants`` [name, value, label].

        Raises ModelError for settings of another form.
        """
        values: dict[tuple[str, str], tuple[Value, ...]] = {}
        for table, column, texts in _rows(settings, "lexicon"):
            if not isinstance(table, str) or not isinstance(column, str) or not isinstance(texts, list):
                raise _malformed("lexicon")
            values[table, column] = tuple(texts)
        constants = []
        for name, value, label in _rows(settings, "constants"):
            if not isinstance(name, str) or not isinstance(label, str):
                raise _malformed("constants")
            constants.append(Constant(name, value, label=label))
        if not all(_is_value(v) for texts in values.values() for v in texts):
            raise _malformed("lexicon")
        if not all(_is_value(constant.value) for constant in constants) or not _usable(constants):
            raise _malformed("constants")
        return cls(values, tuple(constants))

    def apply(self, schema: Schema, limits: Limits = DEFAULT) -> Schema:
        """The schema with the lexicon's values on its columns of the same names, as far as limits leave room.

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
            room = max(limits.values_per_column - len(present), 0)
            new = [text for text in texts if text not in present and _fits(text, limits)][:room]
            if new:
                values[table, column] = (*present, *new)
        if values:
            schema = schema.with_values(values, limits=limits)
        if known and self.constants and not schema.constants:
            schema = schema.with_constants(self.constants, limits=limits)
        return schema


def _rows(settings: Mapping[str, Any], name: str) -> list[Any]:
    """A setting that is a list of rows of three."""
    rows = settings.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 3 for row in rows):
        raise _malformed(name)
    return rows


def _is_value(value: object) -> bool:
    return not isinstance(value, bool) and literal(value) is not None


def _fits(value: Value, limits: Limits) -> bool:
    return not isinstance(value, str) or len(value) <= limits.value_characters


def _usable(constants: Sequence[Constant]) -> bool:
    """Whether a schema takes them: what is wrong with a bundle must not be told as a mistake in the user's schema."""
    try:
        Schema.from_dict({"t": {"c": "TEXT"}}).with_constants(constants)
    except (SchemaError, LimitError):
        return False
    return True


def _malformed(name: str) -> ModelError:
    return ModelError(
        "it is not of the form that this fastsql reads",
        where=f"setting {name!r} of the model bundle",
        remedy="Install the model bundle again.",
    )


def with_database_values(
    schema: Schema, database: str | Path, *, max_values: int = 50, limits: Limits = DEFAULT
) -> Schema:
    """The schema with the small domains of an SQLite file: all values of text columns that have at most `max_values`.

    Columns that already have values keep them; columns that the file lacks stay as they are. Raises SchemaError for a file
    that cannot be read.
    """
    found = Schema.from_sqlite(database, max_values=max_values, limits=limits)
    values: dict[tuple[str, str], tuple[Value, ...]] = {}
    for column in schema.columns:
        table = schema.table_name(column.table)
        index = found.find_column(table, column.name)
        if index is not None and not column.values and found.columns[index].type != "time":
            domain = found.columns[index].values
            if domain:
                values[table, column.name] = domain
    return schema.with_values(values, limits=limits) if values else schema
