"""Pairs as a file in the uniform form."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from fastsql.datasets import Example


def write_pairs(pairs: Iterable[Example], path: Path) -> None:
    """The pairs as a JSON list of {id, db_id, question, sql, template}; packed where the name ends in .gz."""
    rows = [
        {
            "id": pair.id,
            "db_id": pair.db_id,
            "question": pair.question,
            "sql": pair.sql,
            "template": pair.template,
        }
        for pair in pairs
    ]
    text = json.dumps(rows, ensure_ascii=False, indent=0).encode()
    temporary = path.with_name(f".{path.name}.new")
    # No time of writing inside: the same pairs are the same bytes.
    temporary.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    temporary.replace(path)
