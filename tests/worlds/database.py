"""Databases made by a script that every dialect runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from ..databases import PostgresServer


def write_database(path: Path, script: str) -> Path:
    """A file of DuckDB where its name ends in `.duckdb`, else of SQLite; one that is there gets more."""
    if path.suffix == ".duckdb":
        import duckdb

        with duckdb.connect(str(path)) as database:
            database.execute(script)
        return path
    with closing(hasty_connection(path)) as connection:
        connection.executescript(script)
    return path


def hasty_connection(path: Path) -> sqlite3.Connection:
    """One that writes a file of SQLite without waiting for the disk: a test's files need not outlive the machine."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def write_databases(folder: Path, server: PostgresServer, script: str) -> dict[str, Any]:
    """What `open_executor` takes for each dialect; PostgreSQL's database is called as the folder is."""
    import psycopg

    server.create_database(folder.name)
    with psycopg.connect(server.conninfo(folder.name), autocommit=True) as connection:
        connection.execute(script.encode())
    files = {dialect: write_database(folder / f"ward.{dialect}", script) for dialect in ("sqlite", "duckdb")}
    return {**files, "postgres": server.url(folder.name)}


def inserted(table: str, rows: Iterable[Iterable[Any]]) -> str:
    """The statement that inserts rows."""
    written = (f"({', '.join(map(literal, row))})" for row in rows)
    return f"INSERT INTO {table} VALUES {', '.join(written)};\n"


def literal(value: Any) -> str:
    """A cell as SQL has it: a text, a number or NULL."""
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
