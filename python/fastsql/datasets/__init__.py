"""Readers of the uniform form of a data set: examples, schemas, databases."""

from __future__ import annotations

from fastsql.datasets.databases import DatabaseFiles
from fastsql.datasets.examples import DatasetError, Example, read_examples, read_split_ids
from fastsql.datasets.schemas import NORMAL_RANGES, read_schemas, with_normal_ranges
from fastsql.linking.lexicon import with_database_values

__all__ = [
    "NORMAL_RANGES",
    "DatabaseFiles",
    "DatasetError",
    "Example",
    "read_examples",
    "read_schemas",
    "read_split_ids",
    "with_database_values",
    "with_normal_ranges",
]
