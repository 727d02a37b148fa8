"""What a model learned about the values of well-known schemas, and what a database says about a schema's values.

A bundle's lexicon holds values that questions mean without writing them ("weight" is ``d_items.label = 'daily
weight'``), by table and column name, and named constants such as bounds of normal. Its values serve every schema that has
those columns and does not say itself what they hold; its constants, those that have one of their tables. No patient's
value is in it: it is learned from the gold SQL of published question sets.
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
    """Values by (table, column) name, and named constants with the tables whose numbers they bound."""

    values: Mapping[tuple[str, str], Sequence[Value]]
    constants: tuple[Constant, ...] = ()
    constant_tables: tuple[str, ...] = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Lexicon:
        """From a bundle's settings: ``lexicon`` lists [table, column, values], ``constants`` [name, value, label],
        ``constant_tables`` names.

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
        tables = settings.get("constant_tables", [])
        if not isinstance(tables, list) or not all(isinstance(table, str) for table in tables):
            raise _malformed("constant_tables")
        return cls(values, tuple(constants), tuple(tables))

    def apply(self, schema: Schema, limits: Limits = DEFAULT) -> Schema:
        """The schema with the lexicon's values on those of its columns that have none, as far as limits leave room.

        The constants come along where it has one of their tables, and none of its own: beside other numbers they mislead.
        """
        values: dict[tuple[str, str], tuple[Value, ...]] = {}
        for (table, column), texts in self.values.items():
            index = schema.find_column(table, column)
            if index is None or schema.columns[index].values:
                continue
            # Schemas that a model was trained on spell names in small and in capital letters, and hold other values.
            name = (schema.table_name(schema.columns[index].table), schema.columns[index].name)
            if name == (table, column) or name not in values:
                values[name] = tuple(text for text in texts if _fits(text, limits))[
                    : limits.values_per_column
                ]
        if any(values.values()):
            schema = schema.with_values(values, limits=limits)
        bounded = any(schema.find_table(table) is not None for table in self.constant_tables)
        if bounded and self.constants and not schema.constants:
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
    """The schema with the small domains of an SQLite file: flags, and all values of text columns of at most `max_values`.

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
