"""Readers of the uniform form of a data set: examples, schemas, databases."""

from __future__ import annotations

from fastsql.datasets.databases import DatabaseFiles
from fastsql.datasets.dialects import GOLD_DIALECTS, as_sqlite
from fastsql.datasets.examples import DatasetError, Example, read_examples, read_split_ids
from fastsql.datasets.schemas import NORMAL_RANGES, read_schemas, with_normal_ranges
from fastsql.datasets.values import (
    ColumnValues,
    gold_values,
    read_values,
    with_column_values,
    with_known_values,
)
from fastsql.linking.lexicon import with_database_values

__all__ = [
    "GOLD_DIALECTS",
    "NORMAL_RANGES",
    "ColumnValues",
    "DatabaseFiles",
    "DatasetError",
    "Example",
    "as_sqlite",
    "gold_values",
    "read_examples",
    "read_schemas",
    "read_split_ids",
    "read_values",
    "with_column_values",
    "with_database_values",
    "with_known_values",
    "with_normal_ranges",
]
