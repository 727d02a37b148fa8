"""The files that a corpus is made of: whether they are there, and what tells them from what they were before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from fastsql.training.config import GOLD, ConfigError, DataSettings, SourceSettings, expand_path

_MAKING = ("datasets", "demo", "evaluation", "grammar", "linking", "profile", "schema", "synthesis")
"""Rooms that have a say in what is made."""
_DECIDING = (".py", ".design", ".questions", ".grammar", ".gz", ".txt")
_PART = 1 << 20


def check_files(settings: DataSettings) -> None:
    """Raises ConfigError for the first file that is not there, before another is read: that takes minutes."""
    named = [name for source in settings.sources for name in _named(source)]
    for setting, path in [*named, ("data.held_out", settings.held_out)]:
        if path and not expand_path(path).exists():
            raise ConfigError(
                "there is no such file",
                where=f"{setting} {str(expand_path(path))!r}",
                remedy="Correct the configuration, or FASTSQL_DATA where it is part of the path.",
            )


def _named(source: SourceSettings) -> Iterator[tuple[str, str]]:
    yield "examples", source.examples
    yield "schemas", source.schemas
    yield "profile", source.profile
    yield "database", source.database
    yield "values", "" if source.values == GOLD else source.values
    yield "ids", source.ids.rpartition(":")[0] or source.ids
    yield "reported_ids", source.reported_ids.rpartition(":")[0] or source.reported_ids
    for path in source.report:
        yield "report", path


def stamp(path: Path) -> str:
    """SHA-256 of a file, or of all in a folder with their names: what is made of them is the same wherever they lie."""
    digest = hashlib.sha256()
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for one in files:
        digest.update(f"{one.relative_to(path).as_posix()}\0{one.stat().st_size}\0".encode())
        with one.open("rb") as content:
            while part := content.read(_PART):
                digest.update(part)
    return digest.hexdigest()


def synthesis_code() -> bytes:
    """The code, and the data that comes with it, that decides which pairs and conversations are made."""
    package = Path(__file__).parents[2]
    files = (one for room in _MAKING for one in sorted((package / room).rglob("*")))
    return b"".join(one.read_bytes() for one in files if one.suffix in _DECIDING)
