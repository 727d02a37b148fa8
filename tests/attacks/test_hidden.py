"""Statements on databases that hold more than the schema: what that hides does not come back.

``hidden.jsonl`` holds a statement a line, with what it is after, the `dialects` that allow it, the `rows` that the schema's
own cells give in these, and the `errors` of other dialects. Sent as it is, each would read or depend on something else in
some of the databases.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import FastSQLError
from fastsql.execution import open_executor
from fastsql.schema import Schema

from ..databases import PostgresServer
from ..worlds.database import hasty_connection
from .cases import DIALECTS, FOLDER

SECRETS = ("hunter2", "zebra7")
"""What hidden cells hold, in one database and in another."""
_TABLES = """
CREATE TABLE patients (subject_id INT PRIMARY KEY, gender VARCHAR(1), ssn TEXT, name TEXT, dod TEXT{structures});
CREATE TABLE admissions (hadm_id INT PRIMARY KEY, ssn TEXT, subject_id INT, notes TEXT, age INT);
CREATE TABLE staff (staff_id INT PRIMARY KEY, password TEXT);
"""
_ROWS = """
INSERT INTO patients VALUES (1, 'F', '{secret}', 'Ada', '{secret}'{cells}), (2, 'M', 'a{secret}', 'Ben', NULL{cells});
INSERT INTO admissions VALUES (10, '{secret}', 1, 'a{secret}', 61), (11, 'a{secret}', 2, '{secret}', 47);
INSERT INTO staff VALUES (1, '{secret}'), (2, 'a{secret}');
"""
SCHEMA = Schema.from_ddl(
    """
    CREATE TABLE patients (subject_id INT PRIMARY KEY, gender VARCHAR(1), name TEXT);
    CREATE TABLE admissions (hadm_id INT PRIMARY KEY, subject_id INT REFERENCES patients (subject_id), age INT);
    """
)
"""What is not hidden of these tables."""
_UPPER = """
CREATE TABLE "PATIENTS" (gender TEXT, name TEXT, "GENDER" TEXT);
INSERT INTO "PATIENTS" VALUES ('{secret}', '{secret}', '{secret}');
"""
_STRUCTURES = range(1, 9)


@dataclass(frozen=True)
class Allowed:
    """One statement in one dialect, with its rows."""

    sql: str
    dialect: str
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Refused:
    """One statement in one dialect, with the class of its error."""

    sql: str
    dialect: str
    error: str


def read_entries() -> list[dict[str, Any]]:
    """The lines of the file."""
    return list(map(json.loads, (FOLDER / "hidden.jsonl").read_text(encoding="utf-8").splitlines()))


def label_of(entry: dict[str, Any], dialect: str) -> str:
    """A name for a test."""
    return f"{dialect}: {entry['tries']}: {entry['sql'][:40]!a}"


def read_refused() -> list[Any]:
    """The statements as parameters of a test, where they end with an error."""
    return [
        pytest.param(Refused(entry["sql"], dialect, error), id=label_of(entry, dialect))
        for entry in read_entries()
        for dialect, error in entry.get("errors", {}).items()
    ]


def read_allowed() -> list[Any]:
    """The statements as parameters of a test, where they are allowed."""
    return [
        pytest.param(
            Allowed(entry["sql"], dialect, [tuple(row) for row in entry["rows"]]),
            id=label_of(entry, dialect),
        )
        for entry in read_entries()
        for dialect in entry.get("dialects", ())
    ]


def script(dialect: str, secret: str) -> str:
    """The hospital with hidden cells; in DuckDB with structures, whose fields look like columns of tables."""
    structures = [f"t{number}" for number in _STRUCTURES] if dialect == "duckdb" else []
    tables = _TABLES.format(
        structures="".join(f", {name} STRUCT(name TEXT, subject_id TEXT)" for name in structures)
    )
    cells = "".join(f", {{'name': '{secret}', 'subject_id': '{secret}'}}" for _ in structures)
    rows = _ROWS.format(secret=secret, cells=cells)
    return tables + rows + (_UPPER.format(secret=secret) if dialect == "postgres" else "")


@pytest.fixture(scope="module")
def targets(
    tmp_path_factory: pytest.TempPathFactory, duckdb_driver: None, postgres: PostgresServer
) -> dict[tuple[str, str], str]:
    """A database for each dialect and secret."""
    import duckdb
    import psycopg

    folder: Path = tmp_path_factory.mktemp("hidden")
    found: dict[tuple[str, str], str] = {}
    for secret in SECRETS:
        file = hasty_connection(folder / f"{secret}.sqlite")
        file.executescript(script("sqlite", secret))
        file.close()
        with duckdb.connect(str(folder / f"{secret}.duckdb")) as database:
            database.execute(script("duckdb", secret))
        postgres.create_database(secret)
        with psycopg.connect(postgres.conninfo(secret), autocommit=True) as server:
            server.execute(script("postgres", secret).encode())
        found["sqlite", secret] = str(folder / f"{secret}.sqlite")
        found["duckdb", secret] = str(folder / f"{secret}.duckdb")
        found["postgres", secret] = postgres.url(secret)
    return found


@pytest.fixture(scope="module")
def executors(targets: dict[tuple[str, str], str]) -> Iterator[dict[tuple[str, str], Any]]:
    opened = {key: open_executor(target, schema=SCHEMA) for key, target in targets.items()}
    yield opened
    for executor in opened.values():
        executor.close()


@pytest.mark.parametrize("statement", read_allowed())
def test_an_allowed_statement_gives_what_the_schema_knows_and_no_hidden_cell(
    statement: Allowed, executors: dict[tuple[str, str], Any]
) -> None:
    for secret in SECRETS:
        found = executors[statement.dialect, secret].run(statement.sql)
        assert not any(other in repr(found) for other in SECRETS)
        assert sorted(found.rows, key=repr) == sorted(statement.rows, key=repr)


@pytest.mark.parametrize("statement", read_refused())
def test_what_is_refused_ends_with_one_error_whatever_is_hidden(
    statement: Refused, executors: dict[tuple[str, str], Any]
) -> None:
    told = set()
    for secret in SECRETS:
        with pytest.raises(FastSQLError) as caught:
            executors[statement.dialect, secret].run(statement.sql)
        assert type(caught.value).__name__ == statement.error
        told.add("".join(map(str, (caught.value, caught.value.__cause__, caught.value.__context__))))
    assert len(told) == 1
    assert not any(secret in repr(told) for secret in SECRETS)


def test_each_secret_is_in_the_databases_to_be_found(targets: dict[tuple[str, str], str]) -> None:
    for secret in SECRETS:
        file = sqlite3.connect(targets["sqlite", secret])
        assert secret in repr(file.execute("SELECT * FROM patients").fetchall())
        file.close()
    assert {dialect for dialect, _ in targets} == set(DIALECTS)
