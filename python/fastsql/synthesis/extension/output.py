"""Extended databases as a data set in the uniform form: `schemas.json`, `pairs.json`, `databases/`. Whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastsql.synthesis.extension.extend import Extension
from fastsql.synthesis.extension.pairs import CarriedPair
from fastsql.synthesis.source import SynthesisError

DATABASES = "databases"


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes its name at the end, if nothing went wrong, and else is gone; its owner's alone to read.

    Raises SynthesisError where there is something of that name already.
    """
    if path.exists():
        raise SynthesisError("it is there already", where=str(path), remedy="Give the name of a new folder.")
    filling = path.absolute().with_name(f".{path.name}.{os.getpid()}.new")
    filling.mkdir(mode=0o700)
    try:
        (filling / DATABASES).mkdir(mode=0o700)
        yield filling
        filling.rename(path)
    finally:
        shutil.rmtree(filling, ignore_errors=True)


def write_extensions(extensions: Iterable[Extension], folder: Path) -> None:
    """Schemas and pairs beside the databases, which are in the folder already."""
    made = list(extensions)
    _write(folder / "schemas.json", [_schema(one) for one in made])
    _write(folder / "pairs.json", [_pair(pair) for one in made for pair in one.pairs])


def _schema(extension: Extension) -> dict[str, Any]:
    made = {"parent": extension.parent, "operations": list(extension.operations)}
    return {**extension.schema.to_dict(), **made}


def _pair(pair: CarriedPair) -> dict[str, Any]:
    example = pair.example
    return {
        "id": example.id,
        "db_id": example.db_id,
        "question": example.question,
        "sql": example.sql,
        "template": example.template,
        "form": pair.form,
        "gone": list(pair.gone),
    }


def _write(path: Path, items: list[dict[str, Any]]) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(json.dumps(items, ensure_ascii=False, indent=0).encode())
