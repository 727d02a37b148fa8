"""Pairs as a file in the uniform form."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fastsql.datasets import Example
from fastsql.whole_file import write_whole


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
    write_whole(path.resolve(), gzip.compress(text, mtime=0) if path.suffix == ".gz" else text, private=True)
