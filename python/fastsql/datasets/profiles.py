"""Profiles of a data set's schemas (`docs/profile.md`): a file of one, or a folder with NAME.toml of each that has one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from fastsql.errors import SchemaError
from fastsql.profile.model import Profile
from fastsql.profile.reading import read_profile
from fastsql.schema import Schema


def profile_files(source: str | Path, schemas: Collection[str]) -> dict[str, Path]:
    """The file of each schema that has one, by the schemas' names.

    Raises SchemaError where a file is given for several schemas, or a folder has none of theirs.
    """
    path = Path(source)
    if not path.is_dir():
        if len(schemas) > 1:
            raise SchemaError(
                f"it is one profile, and there are {len(schemas):,} schemas",
                where=str(path),
                remedy="Give a folder with NAME.toml of each schema that has a profile.",
            )
        return dict.fromkeys(schemas, path)
    files = {name: path / f"{name}.toml" for name in schemas if (path / f"{name}.toml").is_file()}
    if not files:
        raise SchemaError(
            "it holds no profile of these schemas",
            where=str(path),
            remedy="Name each file after its schema: NAME.toml.",
        )
    return files


def with_profiles(schemas: Mapping[str, Schema], files: Mapping[str, Path]) -> dict[str, Schema]:
    """The schemas with what their files say; one without a file as it is. Raises SchemaError, LimitError."""
    return {
        name: schema.with_profile(files[name]) if name in files else schema
        for name, schema in schemas.items()
    }


def read_profiles(schemas: Mapping[str, Schema], files: Mapping[str, Path]) -> dict[str, Profile]:
    """The profiles themselves, for what makes questions: kinds, units and groups, which no schema holds. Raises as above."""
    return {name: read_profile(files[name], schema) for name, schema in schemas.items() if name in files}
