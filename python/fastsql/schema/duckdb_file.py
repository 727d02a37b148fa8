"""Which files are DuckDB's: queries run in these, but neither schemas nor values are read from them."""

from __future__ import annotations

from pathlib import Path

from fastsql.errors import FastSQLError

_MAGIC = slice(8, 12)
"""Where a DuckDB file says b"DUCK"."""


def is_duckdb(path: Path) -> bool:
    """Whether there is a DuckDB file at this path."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(_MAGIC.stop)[_MAGIC] == b"DUCK"


def check_not_duckdb(path: Path, kind: type[FastSQLError]) -> None:
    """Raise an error of this kind for a DuckDB file that a schema or values are to be read from."""
    if is_duckdb(path):
        raise kind(
            "neither a schema nor values are read from a DuckDB file",
            where=str(path)[:200],
            remedy="Give its CREATE TABLE statements for a schema; leave the values out, or give a ValueDictionary.",
        )
