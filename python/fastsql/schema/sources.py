"""What kind of thing a schema is to be read from; the reader of each kind is imported where there is one of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.choice import ALL, Choice
from fastsql.schema.model import Structure
from fastsql.schema.pace import Pace

_SQLITE_SUFFIXES = frozenset({".sqlite", ".sqlite3", ".db", ".db3"})
_DDL_SUFFIXES = frozenset({".sql", ".ddl"})
_SQLITE_HEADER = b"SQLite format 3\0"
_URL = re.compile(r"[A-Za-z][\w+.-]*://")
_DDL_START = re.compile(r"\s*(--|/\*|(CREATE|ALTER|DROP|COMMENT|SET|USE|BEGIN|PRAGMA)\b)", re.IGNORECASE)
_REMEDY = "Give DDL text, a path (.sqlite, .db, .sql, .json), a database URL or engine, a dict, or a Schema."


@dataclass(frozen=True)
class Sought:
    """What is to be read of a source; the arguments of :meth:`Schema.coerce`."""

    strict: bool = False
    name: str | None = None
    namespace: str | Iterable[str] | None = None
    choice: Choice = ALL
    pace: Pace = field(default_factory=Pace)
    limits: Limits = DEFAULT

    def common(self) -> dict[str, Any]:
        """Arguments of every reader."""
        return {"strict": self.strict, "choice": self.choice, "limits": self.limits}

    def without_database(self) -> dict[str, Any]:
        """Arguments of readers of what is no database. SchemaError where only one has what is asked for."""
        if self.namespace or self.choice.views:
            raise SchemaError(
                "namespaces and views are read from a database",
                where="schema",
                remedy="Give a database, or leave them out.",
            )
        return self.common()


def read_source(source: Any, sought: Sought) -> Structure:
    """See :meth:`Schema.coerce`; of anything that is no schema yet."""
    if isinstance(source, Mapping):
        return _from_entry(source, sought)
    if isinstance(source, sqlite3.Connection):
        return _from_sqlite(source, sought)
    if isinstance(source, Path):
        return _from_path(source, sought)
    if isinstance(source, str):
        return _from_text(source, sought)
    if hasattr(source, "dialect") and hasattr(source, "connect"):
        return _from_server(source, sought)
    raise SchemaError(f"{type(source).__name__} is not a schema", where="schema", remedy=_REMEDY)


def is_database(source: str) -> bool:
    """Whether a text is a database's URL or names its file. Raises SchemaError as reading it does."""
    if _URL.match(source):
        return True
    if _DDL_START.match(source) or "\n" in source or not source.strip():
        return False
    path = Path(source)
    suffix = path.suffix.lower()
    return (
        suffix not in _DDL_SUFFIXES and suffix != ".json" and (suffix in _SQLITE_SUFFIXES or _is_sqlite(path))
    )


def _from_text(source: str, sought: Sought) -> Structure:
    if not source.strip():
        raise SchemaError("the text is empty", where="schema", remedy=_REMEDY)
    if _URL.match(source):
        return _from_server(source, sought)
    if _DDL_START.match(source) or "\n" in source:
        return _from_ddl(source, sought)
    return _from_path(Path(source), sought)


def _from_server(source: Any, sought: Sought) -> Structure:
    from fastsql.schema.database import schema_from_sqlalchemy

    return schema_from_sqlalchemy(source, namespace=sought.namespace, pace=sought.pace, **sought.common())


def _from_sqlite(source: Any, sought: Sought) -> Structure:
    from fastsql.schema.sqlite import schema_from_sqlite

    return schema_from_sqlite(source, namespace=sought.namespace, **sought.common())


def _from_ddl(text: str, sought: Sought, **more: Any) -> Structure:
    from fastsql.schema.ddl import schema_from_ddl

    return schema_from_ddl(text, **more, **sought.without_database())


def _from_path(path: Path, sought: Sought) -> Structure:
    suffix = path.suffix.lower()
    if suffix in _DDL_SUFFIXES:
        from fastsql.schema.mapping import read_text

        return _from_ddl(read_text(path, sought.limits), sought, name=path.stem)
    if suffix == ".json":
        return _from_json(path, sought)
    if suffix in _SQLITE_SUFFIXES or _is_sqlite(path):
        return _from_sqlite(path, sought)
    from fastsql.schema.duckdb_file import check_not_duckdb

    check_not_duckdb(path, SchemaError)
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


def _from_json(path: Path, sought: Sought) -> Structure:
    from fastsql.schema.mapping import read_json

    name, data = sought.name, read_json(path, sought.limits)
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
    return _from_entry(entries[0], sought)


def _from_entry(entry: Any, sought: Sought) -> Structure:
    from fastsql.schema.mapping import schema_from_dict
    from fastsql.schema.spider import is_spider, schema_from_entry

    read = schema_from_entry if is_spider(entry) else schema_from_dict
    return read(entry, **sought.without_database())
