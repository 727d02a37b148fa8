"""Pairs as a file in the uniform form."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fastsql.datasets import Example

_OWNER_ONLY = 0o600


def write_pairs(pairs: Iterable[Example], path: Path) -> None:
    """The pairs as a JSON list of {id, db_id, question, sql, template, ...}; packed where the name ends in .gz.

    The file is there whole or not at all. It may hold values of a database: a new one is its owner's alone to read.
    """
    write_rows(
        (
            {
                "id": pair.id,
                "db_id": pair.db_id,
                "question": pair.question,
                "sql": pair.sql,
                "template": pair.template,
                **pair.extra,
            }
            for pair in pairs
        ),
        path,
    )


def write_rows(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Records as a JSON list; packed for a name in .gz. The file is there whole or not at all, its owner's alone to read."""
    text = json.dumps(list(rows), ensure_ascii=False, indent=0).encode()
    # No time of writing inside: the same pairs are the same bytes.
    write_whole(path.resolve(), gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file that is there whole or not at all; a new one is its owner's alone to read."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "wb") as file:
            file.write(content)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
