"""The same program gives the same rows in PostgreSQL and DuckDB as in SQLite, on the same small databases."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.schema import Schema

from ..worlds.grammar_hospitals import SCHEMAS
from .rows import NOW, filled
from .test_round_trip import CASES

if TYPE_CHECKING:
    from ..databases import PostgresServer

Row = tuple[Any, ...]
Run = Callable[[str], list[Row]]
DIFFERENT = {
    "SELECT name FROM patients ORDER BY subject_id LIMIT 3 OFFSET 10": "patients of one number have no order",
    "SELECT name FROM patients ORDER BY subject_id LIMIT 10, 3": "patients of one number have no order",
    "SELECT * FROM d_items JOIN cost ON d_items.itemid = cost.hadm_id UNION ALL SELECT * FROM cost, d_items": (
        "a column of numbers and texts is text everywhere but in SQLite"
    ),
}
"""Where SQLite's answer is one of several, or another by nature; with the reason."""


@lru_cache(maxsize=len(SCHEMAS))
def in_sqlite(name: str) -> sqlite3.Connection:
    """Rows of all types; dates have no time of day."""
    connection = filled(SCHEMAS[name])
    for table, columns in tables(SCHEMAS[name]):
        for column, kind in columns:
            if kind == "DATE":
                connection.execute(f"UPDATE {table} SET {column} = substr({column}, 1, 10)")
    return connection


def tables(schema: Schema) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Quoted names of tables and columns, with the columns' declared types."""
    for table in schema.tables:
        columns = [schema.columns[index] for index in table.columns]
        yield quoted(table.name), [(quoted(c.name), c.sql_type.upper()) for c in columns]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def copied(name: str, insert: Callable[[str, list[Row]], Any]) -> None:
    """Inserts all rows of a small database into another one, by `insert(table, rows)`."""
    for table, columns in tables(SCHEMAS[name]):
        rows = in_sqlite(name).execute(f"SELECT {', '.join(c for c, _ in columns)} FROM {table}").fetchall()
        kinds = [kind for _, kind in columns]
        insert(table, [tuple(map(stored, row, kinds)) for row in rows])


def stored(cell: Any, kind: str) -> Any:
    return bool(cell) if kind == "BOOLEAN" and cell is not None else cell


@pytest.fixture(scope="module", params=sorted(SCHEMAS))
def ward(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def in_postgres(ward: str, postgres: PostgresServer) -> Iterator[Run]:
    import psycopg

    postgres.create_database("dialects")
    with psycopg.connect(postgres.conninfo("dialects")) as connection:
        connection.execute(SCHEMAS[ward].to_ddl("postgres").encode())

        def insert(table: str, rows: list[Row]) -> None:
            marks = ", ".join("%s" for _ in rows[0])
            with connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {table} VALUES ({marks})".encode(), rows)

        copied(ward, insert)
        connection.commit()

        def run(sql: str) -> list[Row]:
            try:
                return connection.execute(sql.encode()).fetchall()
            finally:
                connection.rollback()

        yield run


@pytest.fixture(scope="module")
def in_duckdb(ward: str, duckdb_driver: None) -> Iterator[Run]:
    import duckdb

    with duckdb.connect(":memory:") as connection:
        for statement in SCHEMAS[ward].to_ddl("duckdb").split(";\n"):
            connection.execute(statement)

        def insert(table: str, rows: list[Row]) -> None:
            marks = ", ".join("?" for _ in rows[0])
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

        copied(ward, insert)
        yield lambda sql: list(connection.execute(sql).fetchall())


def comparable(rows: list[Row]) -> Counter[Row]:
    return Counter(tuple(map(_cell, row)) for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, bool | int | float | Decimal):
        return round(float(value), 6) + 0.0
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else value


def check(ward: str, dialect: str, run: Run) -> None:
    schema = SCHEMAS[ward]
    wrong = []
    for case in CASES:
        name, sql, rendered = case.values
        if name != ward or sql in DIFFERENT:
            continue
        program = sql_to_program(sql, schema)
        expected = comparable(in_sqlite(ward).execute(render(program, schema, now=NOW)).fetchall())
        written = render(program, schema, dialect=dialect, now=NOW)
        try:
            found: Any = comparable(run(written))
        except Exception as error:  # noqa: BLE001 - any database's; it is shown
            found = error
        if found != expected:
            wrong.append(
                (
                    case.id,
                    rendered,
                    written,
                    found if isinstance(found, Exception) else (found - expected, expected - found),
                )
            )
    assert not wrong, "\n".join("\n  ".join(map(str, one)) for one in wrong)


def test_postgresql_gives_the_same_rows(ward: str, in_postgres: Run) -> None:
    check(ward, "postgres", in_postgres)


def test_duckdb_gives_the_same_rows(ward: str, in_duckdb: Run) -> None:
    check(ward, "duckdb", in_duckdb)


def test_every_listed_difference_is_still_a_case() -> None:
    assert {case.values[1] for case in CASES} >= DIFFERENT.keys()
