"""The schemas that a source names, with what their profiles say."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from fastsql.datasets import read_schemas
from fastsql.datasets.profiles import profile_files, with_profiles
from fastsql.schema import Schema
from fastsql.training.config import expand_path


class NamesSchemas(Protocol):
    """A source of a parser's training, or of a reverse model's."""

    @property
    def schemas(self) -> str:
        """The schemas.json."""

    @property
    def profile(self) -> str:
        """A profile of its schema, or a folder of them; "" for none."""


def source_schemas(source: NamesSchemas, databases: Collection[str] | None = None) -> dict[str, Schema]:
    """The schemas of a source by database, all or those of `databases`.

    Raises DatasetError where the file or a database is not there, SchemaError, LimitError for a profile that is of no use.
    """
    known = read_schemas(expand_path(source.schemas), databases=databases)
    return with_profiles(known, source_profiles(source))


def source_profiles(source: NamesSchemas) -> dict[str, Path]:
    """The profile's file of each schema of a source that has one. Raises DatasetError, SchemaError."""
    if not source.profile:
        return {}
    # Whichever databases are asked of: else a folder would be wrong for some questions and right for others.
    return profile_files(expand_path(source.profile), read_schemas(expand_path(source.schemas)))
