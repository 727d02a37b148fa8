"""Databases that benchmarks run SQL on: SQLite, DuckDB, and a private PostgreSQL server.

PostgreSQL needs its programs installed, and psycopg; `tests/databases.py` starts it.
"""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import csv
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from fastsql.schema import Schema
from fastsql.verification.verify import prepare

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from databases import DatabaseMissingError, postgres_server

__all__ = [
    "DIALECTS",
    "ENGINES",
    "DatabaseMissingError",
    "EngineError",
    "Prepare",
    "Row",
    "Run",
    "preparer",
]

Row = tuple[Any, ...]
Run = Callable[[str], list[Row]]
"""Runs a query; raises EngineError."""
Prepare = Callable[[str, Schema], None]
"""Compiles a query on an empty database of a schema; raises EngineError."""
DATABASE = "fastsql_benchmark"
DIALECTS = ("postgres", "duckdb")
_NULL = "\\N"
"""What stands for NULL in files."""


class EngineError(Exception):
    """A database refused a query. The message is the class of its error, or its code: its text may quote a value."""


# ---------------------------------------------------------------- with the rows of an SQLite file


@contextmanager
def _sqlite(_schema: Schema, path: Path) -> Iterator[Run]:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)

    def run(sql: str) -> list[Row]:
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.Error as error:
            raise EngineError(type(error).__name__) from error

    try:
        yield run
    finally:
        connection.close()


@contextmanager
def _postgres(schema: Schema, path: Path) -> Iterator[Run]:
    import psycopg

    with postgres_server() as server:
        server.create_database(DATABASE)
        with psycopg.connect(server.conninfo(DATABASE)) as connection:
            connection.execute(schema.to_ddl("postgres").encode())
            for name, columns, rows in _tables(schema, path):
                statement = f"COPY {name} ({columns}) FROM STDIN".encode()
                with connection.cursor() as cursor, cursor.copy(statement) as copy:
                    for row in rows:
                        copy.write_row(row)
            connection.commit()
            connection.execute("ANALYZE")
            connection.commit()
            connection.read_only = True

            def run(sql: str) -> list[Row]:
                try:
                    return connection.execute(sql.encode()).fetchall()
                except psycopg.Error as error:
                    raise EngineError(error.sqlstate or type(error).__name__) from error
                finally:
                    connection.rollback()

            yield run


@contextmanager
def _duckdb(schema: Schema, path: Path) -> Iterator[Run]:
    import duckdb

    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        _create(connection, schema)
        for name, columns, rows in _tables(schema, path):
            _copy_csv(connection, name, columns, rows)

        def run(sql: str) -> list[Row]:
            try:
                return list(connection.execute(sql).fetchall())
            except duckdb.Error as error:
                raise EngineError(type(error).__name__) from error

        yield run


ENGINES: dict[str, Callable[[Schema, Path], AbstractContextManager[Run]]] = {
    "sqlite": _sqlite,
    "postgres": _postgres,
    "duckdb": _duckdb,
}


def _create(connection: Any, schema: Schema) -> None:
    for statement in schema.to_ddl("duckdb").split(";\n"):
        connection.execute(statement)


def _copy_csv(connection: Any, name: str, columns: str, rows: Iterator[Row]) -> None:
    """Fills a table through a file: row by row takes minutes."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([_NULL if cell is None else cell for cell in row] for row in rows)
        file.flush()
        connection.execute(
            f"COPY {name} ({columns}) FROM '{file.name}' (FORMAT csv, HEADER false, NULLSTR '{_NULL}')"
        )


def _tables(schema: Schema, path: Path) -> Iterator[tuple[str, str, Iterator[Row]]]:
    """Quoted name, quoted columns and rows of each table of an SQLite file."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        for table in schema.tables:
            columns = ", ".join(_quoted(schema.columns[index].name) for index in table.columns)
            name = _quoted(table.name)
            yield name, columns, connection.execute(f"SELECT {columns} FROM {name}")
    finally:
        connection.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ---------------------------------------------------------------- empty


@contextmanager
def preparer(dialect: str) -> Iterator[Prepare]:
    """What compiles queries in a dialect. Empty databases are made as schemas come, and kept."""
    with ExitStack() as stack:
        if dialect == "postgres":
            yield _prepare_in_postgres(stack)
        elif dialect == "duckdb":
            yield _prepare_in_duckdb(stack)
        else:
            yield prepare


def _prepare_in_postgres(stack: ExitStack) -> Prepare:
    import psycopg

    server = stack.enter_context(postgres_server())
    server.create_database(DATABASE)
    connection = stack.enter_context(psycopg.connect(server.conninfo(DATABASE), autocommit=True))
    namespaces: dict[str, str] = {}

    def compile_query(sql: str, schema: Schema) -> None:
        namespace = namespaces.get(schema.fingerprint)
        if namespace is None:
            namespace = namespaces[schema.fingerprint] = f"schema_{len(namespaces)}"
            connection.execute(f"CREATE SCHEMA {namespace}; SET search_path = {namespace}".encode())
            connection.execute(schema.to_ddl("postgres").encode())
        connection.execute(f"SET search_path = {namespace}".encode())
        try:
            connection.execute(f"PREPARE query AS {sql}".encode())
        except psycopg.Error as error:
            raise EngineError(error.sqlstate or type(error).__name__) from error
        connection.execute("DEALLOCATE query")

    return compile_query


def _prepare_in_duckdb(stack: ExitStack) -> Prepare:
    import duckdb

    databases: dict[str, Any] = {}

    def compile_query(sql: str, schema: Schema) -> None:
        database = databases.get(schema.fingerprint)
        if database is None:
            database = databases[schema.fingerprint] = stack.enter_context(duckdb.connect(":memory:"))
            _create(database, schema)
        try:
            database.execute(f"PREPARE query AS {sql}")
        except duckdb.Error as error:
            raise EngineError(type(error).__name__) from error

    return compile_query
