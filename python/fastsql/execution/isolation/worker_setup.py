"""What a worker process is told before its first query, through a pipe: no password is in a command or an environment."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fastsql.execution.executor import Bounds
from fastsql.schema import Schema
from fastsql.schema.names import quote
from fastsql.verification.readable import names_of

MEMORY_LIMIT = 2**30
"""Bytes that a worker may take for its queries, if nothing else is said."""
WORKERS = 2
"""Worker processes of an executor, if nothing else is said."""
_KILL_GRACE, _KILL_SECONDS = 0.25, 0.5


@dataclass(frozen=True)
class WorkerSetup:
    """Everything that a worker knows.

    Attributes:
        dialect: "sqlite", "duckdb" or "postgres".
        target: path of a file, or a SQLAlchemy URL with its password.
        bounds: of each query.
        memory_limit: bytes that the worker may take for its queries, beyond what it has when it is ready.
        columns: names of the tables that queries may read, with their columns; None where there is no schema.
        environment: variables for the database's driver.
        attached: paths of further SQLite files, by the names under which they are attached.
    """

    dialect: str
    target: str = field(repr=False)
    bounds: Bounds
    memory_limit: int = MEMORY_LIMIT
    columns: Mapping[str, list[str]] | None = field(default=None, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    attached: Mapping[str, str] = field(default_factory=dict)

    def database(self) -> Hashable:
        """What connections to the database are counted by."""
        if self.dialect != "postgres":
            return os.path.realpath(self.target)
        from sqlalchemy.engine import make_url

        from fastsql.execution.postgres_connections import database_of

        return database_of(make_url(self.target))

    def message(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    @classmethod
    def from_message(cls, found: dict[str, Any]) -> WorkerSetup:
        """What :meth:`message` made."""
        return cls(**{**found, "bounds": Bounds(**found["bounds"])})


def bounds_arguments(bounds: Bounds) -> dict[str, Any]:
    """Bounds as arguments of an executor."""
    return asdict(bounds)


def columns_of(schema: Schema | None, dialect: str) -> dict[str, list[str]] | None:
    """The names of a schema's tables and columns: in PostgreSQL, tables quoted, with namespaces; else for `Readable`."""
    if schema is None:
        return None
    if dialect != "postgres":
        return names_of(schema)
    names = (_qualified(table.namespace, table.name) for table in schema.tables)
    columns = ([schema.columns[column].name for column in table.columns] for table in schema.tables)
    return dict(zip(names, columns, strict=True))


def _qualified(namespace: str, name: str) -> str:
    return f"{quote(namespace)}.{quote(name)}" if namespace else quote(name)


def driver_environment() -> dict[str, str]:
    """What libpq reads from this process's environment; HOME, since passwords and certificates may lie there."""
    return {name: value for name, value in os.environ.items() if name.startswith("PG") or name == "HOME"}


def kill_after(seconds: float) -> float:
    """Seconds after which a worker is killed that was to answer within so many."""
    return seconds + _KILL_GRACE * seconds + _KILL_SECONDS
