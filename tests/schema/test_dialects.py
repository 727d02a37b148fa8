"""A dialect may be called by any of its usual names, wherever one is asked for."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import pytest

from fastsql import Parser, Schema
from fastsql.cli.main import main
from fastsql.errors import DialectError, VerificationError
from fastsql.grammar import render, sql_to_program
from fastsql.schema.dialects import canonical_dialect, plain_dialect, plain_url
from fastsql.verification.verify import parse_query, runnable, verify, verify_form

from ..worlds.toy_bundle import QUESTIONS
from ..worlds.toy_model import SCHEMA

NAMES = {
    "postgres": ("postgresql", "pg", "PostgreSQL", " Postgres "),
    "sqlite": ("sqlite3", "SQLite", "SQLITE3"),
    "duckdb": ("DuckDB",),
    "mysql": ("mariadb", "MySQL"),
    "tsql": ("mssql", "sqlserver"),
}
PAIRS = [(plain, name) for plain, names in NAMES.items() for name in names]
WARD = Schema.from_dict({"stays": {"id": "INTEGER", "intime": "TIMESTAMP"}})
RECENT = "SELECT COUNT(*) FROM stays WHERE datetime(intime) >= datetime('now', '-1 month')"


@pytest.mark.parametrize(("plain", "name"), PAIRS)
def test_each_name_leads_to_the_same_sql(toy: Parser, plain: str, name: str) -> None:
    program = sql_to_program(RECENT, WARD)
    assert render(program, WARD, dialect=name) == render(program, WARD, dialect=plain)
    assert WARD.to_ddl(name) == WARD.to_ddl(plain)
    named, as_always = (toy.parse(QUESTIONS[0], SCHEMA, dialect=dialect) for dialect in (name, plain))
    assert (named.best, named.dialect) == (as_always.best, plain)


@pytest.mark.parametrize(("plain", "name"), PAIRS)
def test_the_verifier_knows_each_name(plain: str, name: str) -> None:
    sql = "SELECT stays.id FROM stays"
    verify(sql, WARD, dialect=name)
    assert verify_form(sql, dialect=name) == parse_query(sql, dialect=name)
    assert runnable(sql, WARD, dialect=name) == runnable(sql, WARD, dialect=plain)
    with pytest.raises(VerificationError):
        verify("DROP TABLE stays", WARD, dialect=name)


def test_by_any_name_sqlite_itself_must_take_the_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []
    monkeypatch.setattr("fastsql.verification.verify.prepare", lambda sql, schema: prepared.append(sql))
    for name in ("sqlite", "sqlite3", "SQLite"):
        verify("SELECT stays.id FROM stays", WARD, dialect=name)
        runnable("SELECT stays.id FROM stays", WARD, dialect=name)
    assert len(prepared) == 6


def test_the_command_line_takes_each_name(ehr_en: Parser) -> None:
    question = ("How many stays were there?", "--schema", "CREATE TABLE stays (id INTEGER, intime TIMESTAMP)")
    written = set()
    for name in ("postgres", "postgresql", "pg"):
        printed = io.StringIO()
        with redirect_stdout(printed):
            main(["parse", *question, "--dialect", name, "--penalty", "0"])
        written.add(printed.getvalue())
    assert len(written) == 1


def test_names_that_are_none_stay_as_they_are_and_are_refused() -> None:
    assert plain_dialect("klingon") == "klingon"
    for name in ("klingon", "", "sqlite4"):
        with pytest.raises(DialectError):
            canonical_dialect(name)
        with pytest.raises(DialectError):
            verify("SELECT 1", WARD, dialect=name)


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("postgres://me:p@ss@db/ward?sslmode=require", "postgresql://me:p@ss@db/ward?sslmode=require"),
        ("pg+psycopg://db/ward", "postgresql+psycopg://db/ward"),
        ("sqlite3:///ward.db", "sqlite:///ward.db"),
        ("mysql+pymysql://db/ward", "mysql+pymysql://db/ward"),
        ("mssql+pyodbc://db/ward", "mssql+pyodbc://db/ward"),
        ("ward.sqlite", "ward.sqlite"),
        ("://", "://"),
    ],
)
def test_a_url_may_call_its_database_by_any_usual_name(url: str, plain: str) -> None:
    assert plain_url(url) == plain
