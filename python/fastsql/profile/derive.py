"""The profile of a schema by its names, types, keys and descriptions alone. No database is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fastsql.profile.kind_words import COUNTS
from fastsql.profile.kinds import KindReader, is_aggregatable, unit_of
from fastsql.profile.model import ColumnProfile, Kind, Profile, TableProfile
from fastsql.profile.shapes import Shapes
from fastsql.profile.words import given_label, schema_words
from fastsql.schema.keys import named_alike
from fastsql.schema.model import ForeignKey, Structure

_UNIT_COLUMNS = ("unit", "units", "unit of measure", "uom")
_UNGROUPED = frozenset({"", "count", "%"})
"""Units by which columns have nothing in common."""


def derive(schema: Structure, *, likely: Sequence[ForeignKey] = (), declared_values: bool = False) -> Profile:
    """The profile that a schema suggests.

    `likely` are keys that nobody declared, such as `contained_keys` tells by values; those that names tell come beside.

    `declared_values`: whether small domains of columns are declared, as by ENUM, and may be listed; those that were read
    from rows must not be.
    """
    words, table_words = schema_words(schema)
    labels = [given_label(column) for column in schema.columns]
    table_labels = [given_label(table) for table in schema.tables]
    called = [label or said for label, said in zip(labels, words, strict=True)]
    likely = (*likely, *(ForeignKey((column,), (key,)) for column, key in named_alike(schema)))
    keys = (*schema.foreign_keys, *likely)
    of_keys = frozenset(
        [column for key in keys for column in (*key.columns, *key.references)]
        + [column for table in schema.tables if len(table.primary_key) == 1 for column in table.primary_key]
    )
    reader = KindReader(schema, of_keys)
    kinds = [reader.kind(index, name, words[index].split()) for index, name in enumerate(called)]
    read = list(zip(schema.columns, kinds, called, strict=True))
    units = [unit_of(column, kind, name) for column, kind, name in read]
    summed = [is_aggregatable(column, kind, name) for column, kind, name in read]
    groups = _groups(schema, kinds, units, summed)
    unit_columns = _unit_columns(schema, called, kinds, units)
    referred = {key.columns[0]: schema.qualified_name(key.references[0]) for key in reversed(likely)}
    shapes = Shapes(
        schema, called, [a or b for a, b in zip(table_labels, table_words, strict=True)], kinds, keys
    )
    columns = tuple(
        ColumnProfile(
            words=words[index],
            kind=kinds[index],
            label=labels[index],
            synonyms=column.synonyms,
            description=column.description,
            unit="" if units[index] in ("money", "count") else units[index],
            unit_column=unit_columns.get(index, ""),
            aggregatable=summed[index],
            group=groups[index],
            refers_to=referred.get(index, ""),
            values=dict.fromkeys(column.values, ()) if declared_values and kinds[index] == "category" else {},
        )
        for index, column in enumerate(schema.columns)
    )
    tables = tuple(
        TableProfile(
            words=table_words[index],
            label=table_labels[index],
            synonyms=table.synonyms,
            description=table.description,
            row=tuple(schema.columns[column].name for column in shapes.row(index)),
            reference=shapes.is_reference(index),
        )
        for index, table in enumerate(schema.tables)
    )
    return Profile(schema.name, tables, columns)


def _groups(
    schema: Structure, kinds: Sequence[Kind], units: Sequence[str], summed: Sequence[bool]
) -> list[str]:
    """By column the unit that it shares with another of its table; dates are of the group "time"."""
    groups = [""] * len(kinds)
    for table in schema.tables:
        shared: dict[str, list[int]] = defaultdict(list)
        for column in table.columns:
            is_time = kinds[column] == "date" and schema.columns[column].type == "time"
            if is_time or (summed[column] and units[column] not in _UNGROUPED):
                shared["time" if is_time else units[column]].append(column)
        for unit, columns in shared.items():
            if len(columns) > 1:
                for column in columns:
                    groups[column] = unit
    return groups


def _unit_columns(
    schema: Structure, labels: Sequence[str], kinds: Sequence[Kind], units: Sequence[str]
) -> dict[int, str]:
    """By measure without a unit, the column of its table that names one: `valueuom` of `valuenum`."""
    found: dict[int, str] = {}
    for table in schema.tables:
        naming = [
            column
            for column in table.columns
            if labels[column].endswith(_UNIT_COLUMNS) and kinds[column] != "measure"
        ]
        for column in table.columns:
            if kinds[column] not in ("measure", "amount") or units[column] or not naming:
                continue
            words = set(labels[column].split())
            near = [(len(words & set(labels[unit].split())), unit) for unit in naming]
            shared, unit = max(near, key=lambda pair: (pair[0], -pair[1]))
            if shared and not words & COUNTS:
                found[column] = schema.columns[unit].name
    return found
