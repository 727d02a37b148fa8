"""Databases to extend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fastsql.schema import Schema
from fastsql.synthesis.extension import find_sites
from fastsql.synthesis.extension.operation import Site

from ...worlds.database import write_database

Make = Callable[[str], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes an SQLite file by a script."""

    def made(script: str) -> Path:
        path = tmp_path / "made.sqlite"
        path.unlink(missing_ok=True)
        return write_database(path, script)

    return made


def described(schema: Schema, path: Path) -> list[str]:
    """The sites of a database in words."""
    return [site.describe(schema) for site in find_sites(schema, path)]


def site_of(schema: Schema, path: Path, words: str) -> Site:
    """The one site that is described so."""
    (found,) = (site for site in find_sites(schema, path) if site.describe(schema) == words)
    return found
