"""A schema under the words of its names: what a model that was trained so links a question to, and reads.

Names of real schemas are glued and shortened (`bodysite_code`, `ENCOUNTERCLASS`, `readm_no`), which neither words of a
question nor an encoder of sentences meet. `words` tells what they say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from fastsql.profile.words import given_label, schema_words
from fastsql.schema.model import Column, Structure, Table

AnySchema = TypeVar("AnySchema", bound=Structure)
Item = TypeVar("Item", Table, Column)


def spelled(schema: AnySchema) -> AnySchema:
    """See :attr:`Schema.spelled`."""
    columns, tables = schema_words(schema)
    return replace(
        schema,
        tables=tuple(_said(table, words) for table, words in zip(schema.tables, tables, strict=True)),
        columns=tuple(_said(column, words) for column, words in zip(schema.columns, columns, strict=True)),
    )


def _said(item: Item, words: str) -> Item:
    if words == item.label or words in item.synonyms:
        return item
    label, other = (item.label, words) if given_label(item) else (words, item.label)
    return replace(item, label=label, synonyms=(*item.synonyms, other))
