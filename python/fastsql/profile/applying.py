"""A schema with what a profile says of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.profile.model import ColumnProfile, Profile, TableProfile
from fastsql.profile.reading import named_column, read_profile
from fastsql.schema.findings import Findings
from fastsql.schema.model import Column, ForeignKey, Structure, Table
from fastsql.schema.reference import without_referring

AnySchema = TypeVar("AnySchema", bound=Structure)
Item = TypeVar("Item", Table, Column)


def with_profile(schema: AnySchema, source: str | Path | Profile, limits: Limits = DEFAULT) -> AnySchema:
    """See :meth:`Schema.with_profile`."""
    profile = source if isinstance(source, Profile) else read_profile(source, schema, limits)
    if (len(profile.tables), len(profile.columns)) != (len(schema.tables), len(schema.columns)):
        raise SchemaError(
            "it is the profile of another schema",
            where=f"profile of {profile.schema!r}",
            remedy="Give the profile of this schema.",
        )
    tables = [_noted(one, said, limits) for one, said in zip(schema.tables, profile.tables, strict=True)]
    columns = [
        _with_values(_noted(one, said, limits), said, limits)
        for one, said in zip(schema.columns, profile.columns, strict=True)
    ]
    noted = replace(
        schema,
        tables=tuple(tables),
        columns=tuple(columns),
        foreign_keys=(*schema.foreign_keys, *_keys(schema, profile)),
    )
    if isinstance(source, Profile):  # which nobody has looked at: rows of a table are for people to release
        return noted
    marked = [
        replace(table, reference=table.reference or said.reference)
        for table, said in zip(noted.tables, profile.tables, strict=True)
    ]
    return without_referring(replace(noted, tables=tuple(marked)), Findings(True, limits, []))


def _noted(item: Item, said: TableProfile | ColumnProfile, limits: Limits) -> Item:
    """An item with its label, synonyms and description.

    Words that fastsql derived from the name are a synonym and no label: a model trained on other labels reads a schema
    worse by them (`DECISIONS.md`).
    """
    label = said.label or item.label
    synonyms = dict.fromkeys((*item.synonyms, *said.synonyms, said.words))
    kept = [word for word in synonyms if word and word != label][: limits.synonyms]
    return replace(item, label=label, synonyms=tuple(kept), description=said.description or item.description)


def _with_values(column: Column, said: ColumnProfile, limits: Limits) -> Column:
    """A column with the profile's values where it has none, and else with those that have synonyms."""
    called = {value: synonyms for value, synonyms in said.values.items() if synonyms}
    added = [value for value in (called if column.values else said.values) if value not in column.values]
    values = (*column.values, *added)
    if len(values) > limits.values_per_column:
        raise LimitError.exceeded(
            "values_per_column", len(values), limits.values_per_column, where=f"column {column.name!r}"
        )
    return replace(column, values=values, value_synonyms=tuple(called.items()))


def _keys(schema: Structure, profile: Profile) -> list[ForeignKey]:
    """Keys that the profile names and the schema does not have."""
    known = {pair for key in schema.foreign_keys for pair in zip(key.columns, key.references, strict=True)}
    found = [
        (index, named_column(schema, one.refers_to))
        for index, one in enumerate(profile.columns)
        if one.refers_to
    ]
    return [
        ForeignKey((column,), (key,))
        for column, key in found
        if key is not None and (column, key) not in known
    ]
