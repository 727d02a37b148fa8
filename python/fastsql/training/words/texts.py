"""The texts that a vocabulary is chosen by: what is asked in training, and the labels of what is asked about."""

from __future__ import annotations

from fastsql.schema import Schema
from fastsql.training.config import DataSettings
from fastsql.training.corpus.schemas import source_schemas
from fastsql.training.corpus.sources import read_source


def read_texts(settings: DataSettings) -> tuple[list[str], dict[str, Schema]]:
    """Questions and labels of every source, and their schemas; nothing that is only reported on is asked or counted."""
    texts: list[str] = []
    found: dict[str, Schema] = {}
    for source in settings.sources:
        examples = read_source(source)
        schemas = source_schemas(source, {one.db_id for one in examples})
        texts += (one.question for one in examples)
        for schema in schemas.values():
            texts += (table.label for table in schema.tables)
            texts += (column.label for column in schema.columns)
        found |= schemas
    return texts, found
