"""What kind of thing a schema is to be read from."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.database import schema_from_sqlalchemy
from fastsql.schema.ddl import schema_from_ddl
from fastsql.schema.mapping import read_json, read_text, schema_from_dict
from fastsql.schema.model import Structure
from fastsql.schema.spider import is_spider, schema_from_entry
from fastsql.schema.sqlite import schema_from_sqlite

_SQLITE_SUFFIXES = frozenset({".sqlite", ".sqlite3", ".db", ".db3"})
_DDL_SUFFIXES = frozenset({".sql", ".ddl"})
_SQLITE_HEADER = b"SQLite format 3\0"
_URL = re.compile(r"[A-Za-z][\w+.-]*://")
_DDL_START = re.compile(r"\s*(--|/\*|(CREATE|ALTER|DROP|COMMENT|SET|USE|BEGIN|PRAGMA)\b)", re.IGNORECASE)
_REMEDY = "Give DDL text, a path (.sqlite, .db, .sql, .json), a database URL or engine, a dict, or a Schema."


def read_source(
    source: Any, *, strict: bool = False, name: str | None = None, limits: Limits = DEFAULT
) -> Structure:
    """See :meth:`Schema.coerce`; of anything that is no schema yet."""
    if isinstance(source, Mapping):
        return _from_entry(source, strict, limits)
    if isinstance(source, sqlite3.Connection):
        return schema_from_sqlite(source, strict=strict, limits=limits)
    if isinstance(source, Path):
        return _from_path(source, strict, name, limits)
    if isinstance(source, str):
        return _from_text(source, strict, name, limits)
    if hasattr(source, "dialect") and hasattr(source, "connect"):
        return schema_from_sqlalchemy(source, strict=strict, limits=limits)
    raise SchemaError(f"a {type(source).__name__} is not a schema", where="schema", remedy=_REMEDY)


def _from_text(source: str, strict: bool, name: str | None, limits: Limits) -> Structure:
    if not source.strip():
        raise SchemaError("the text is empty", where="schema", remedy=_REMEDY)
    if _URL.match(source):
        return schema_from_sqlalchemy(source, strict=strict, limits=limits)
    if _DDL_START.match(source) or "\n" in source:
        return schema_from_ddl(source, strict=strict, limits=limits)
    return _from_path(Path(source), strict, name, limits)


def _from_path(path: Path, strict: bool, name: str | None, limits: Limits) -> Structure:
    suffix = path.suffix.lower()
    if suffix in _DDL_SUFFIXES:
        return schema_from_ddl(read_text(path, limits), name=path.stem, strict=strict, limits=limits)
    if suffix == ".json":
        return _from_json(path, strict, name, limits)
    if suffix in _SQLITE_SUFFIXES or _is_sqlite(path):
        return schema_from_sqlite(path, strict=strict, limits=limits)
    raise SchemaError(
        "it is neither a known kind of schema file nor DDL", where=str(path)[:200], remedy=_REMEDY
    )


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a path"
        raise SchemaError(f"cannot be read: {reason}", where=str(path)[:200], remedy=_REMEDY) from error


def _from_json(path: Path, strict: bool, name: str | None, limits: Limits) -> Structure:
    data = read_json(path, limits)
    entries = data if isinstance(data, list) else [data]
    if name is not None:
        entries = [entry for entry in entries if isinstance(entry, Mapping) and entry.get("db_id") == name]
    if len(entries) != 1:
        which = f"databases named {name!r}" if name is not None else "databases"
        raise SchemaError(
            f"it holds {len(entries)} {which}",
            where=str(path),
            remedy="Say which one: give its db_id as name.",
        )
    return _from_entry(entries[0], strict, limits)


def _from_entry(entry: Any, strict: bool, limits: Limits) -> Structure:
    if is_spider(entry):
        return schema_from_entry(entry, strict=strict, limits=limits)
    return schema_from_dict(entry, strict=strict, limits=limits)
