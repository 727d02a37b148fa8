"""The same program in other dialects: text by text, against what each must say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import DialectError
from fastsql.grammar import render, sql_to_program
from fastsql.grammar.render import DIALECTS
from fastsql.grammar.render.typed import TYPED_DIALECTS
from fastsql.schema import Schema
from fastsql.verification.verify import parse_query

from ..worlds.grammar_hospitals import HOSPITAL, SCHEMAS
from .rows import NOW
from .test_round_trip import CASES

FIXTURE = Path(__file__).parents[1] / "fixtures" / "grammar" / "dialects.tsv"
OTHERS = tuple(dialect for dialect in DIALECTS if dialect != "sqlite")


def forms() -> list[Any]:
    """Dialect, SQL and its form in that dialect, of each line of the fixture."""
    found = []
    sql = ""
    for number, line in enumerate(FIXTURE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# "):
            continue
        head, text = line.split("\t")
        if head == "sql":
            sql = text
        else:
            found.append(pytest.param(head, sql, text, id=f"{head}:{number}"))
    return found


def test_the_dialects_are_sqlite_and_those_with_types() -> None:
    assert list(DIALECTS) == ["sqlite", *TYPED_DIALECTS]


@pytest.mark.parametrize(("dialect", "sql", "form"), forms())
def test_a_program_is_written_in_each_dialect(dialect: str, sql: str, form: str) -> None:
    program = sql_to_program(sql, HOSPITAL)
    if form.startswith("! "):
        with pytest.raises(DialectError) as refusal:
            render(program, HOSPITAL, dialect=dialect)
        assert refusal.value.what == form.removeprefix("! ")
        assert dialect in str(refusal.value)
    else:
        assert render(program, HOSPITAL, dialect=dialect) == form


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize(("schema", "sql", "rendered"), CASES[::3])
def test_sql_written_for_another_dialect_parses_in_it(
    schema: str, sql: str, rendered: str, dialect: str
) -> None:
    try:
        written = render(sql_to_program(sql, SCHEMAS[schema]), SCHEMAS[schema], dialect=dialect)
    except DialectError:
        assert dialect in ("mysql", "tsql")
    else:
        assert parse_query(written, dialect=dialect).sql(dialect=dialect)


@pytest.mark.parametrize("name", ["oracle", "postgre", ""])
def test_a_dialect_that_is_not_written_is_an_error(name: str) -> None:
    with pytest.raises(DialectError, match="duckdb"):
        render(sql_to_program("SELECT name FROM patients", HOSPITAL), HOSPITAL, dialect=name)


def test_names_that_a_server_would_fold_or_read_specially_are_quoted() -> None:
    schema = Schema.from_dict({"User": {"id": "INTEGER", "Limit": "TEXT"}, "beds": {"user": "INTEGER"}})
    program = sql_to_program('SELECT "Limit" FROM "User" JOIN beds ON "User".id = beds."user"', schema)
    joined = 'SELECT "User"."Limit" FROM "User" JOIN beds ON "User".id = beds."user"'
    assert render(program, schema, dialect="postgres") == joined
    assert render(program, schema, dialect="duckdb") == joined


@pytest.mark.parametrize(
    ("dialect", "moment"),
    [
        ("postgres", f"CAST('{NOW}' AS TIMESTAMP) - INTERVAL '1 MONTH'"),
        ("duckdb", f"CAST('{NOW}' AS TIMESTAMP) - INTERVAL '1' MONTH"),
        ("mysql", f"CAST('{NOW}' AS DATETIME) - INTERVAL '1' MONTH"),
        ("tsql", f"DATEADD(MONTH, -1, CAST('{NOW}' AS DATETIME2))"),
    ],
)
def test_the_clock_can_be_fixed(dialect: str, moment: str) -> None:
    sql = "SELECT hadm_id FROM admissions WHERE datetime(admittime) >= datetime('now', '-1 month')"
    program = sql_to_program(sql, HOSPITAL)
    assert moment in render(program, HOSPITAL, dialect=dialect, now=NOW)
    assert NOW not in render(program, HOSPITAL, dialect=dialect)


def test_a_date_fixes_the_clock_at_midnight() -> None:
    sql = "SELECT hadm_id FROM admissions WHERE datetime(admittime) <= datetime('now', '-0 day')"
    written = render(sql_to_program(sql, HOSPITAL), HOSPITAL, dialect="postgres", now="2100-12-31")
    assert "CAST('2100-12-31 00:00:00' AS TIMESTAMP)" in written


TIMES = Schema.from_dict(
    {
        "t": {
            "day": "DATE",
            "clock": "TIME",
            "moment": "TIMESTAMP",
            "code": "UUID",
            "other_code": "UUID",
            "x": "TEXT",
        }
    }
)


@pytest.mark.parametrize(
    ("sql", "postgres"),
    [
        ("SELECT x FROM t WHERE day = '2100-05-01'", "t.day = CAST('2100-05-01' AS DATE)"),
        (
            "SELECT x FROM t WHERE day = '2100-05-01 00:00:00'",
            "TO_CHAR(t.day, 'YYYY-MM-DD') = '2100-05-01 00:00:00'",
        ),
        ("SELECT x FROM t WHERE day < moment", "t.day < t.moment"),
        ("SELECT x FROM t WHERE clock > '10:30:00'", "t.clock > CAST('10:30:00' AS TIME)"),
        (
            "SELECT x FROM t WHERE strftime('%H:%M', clock) = '10:30'",
            "TO_CHAR(CAST('2000-01-01' AS DATE) + t.clock, 'HH24:MI') = '10:30'",
        ),
        ("SELECT x FROM t WHERE strftime('%Y', day) = '2100'", "TO_CHAR(t.day, 'YYYY') = '2100'"),
        ("SELECT x FROM t WHERE code = other_code", "t.code = t.other_code"),
        ("SELECT x FROM t WHERE code = 'a'", "CAST(t.code AS TEXT) = 'a'"),
        ("SELECT MAX(code) FROM t", "MAX(CAST(t.code AS TEXT))"),
        ("SELECT SUM(day) FROM t", "SUM(EXTRACT(YEAR FROM t.day))"),
    ],
)
def test_declared_types_decide_how_sql_for_postgres_is_written(sql: str, postgres: str) -> None:
    assert postgres in render(sql_to_program(sql, TIMES), TIMES, dialect="postgres")


def test_sql_for_sqlite_does_not_depend_on_types() -> None:
    """Rendering for SQLite does not depend on types."""
    untyped = replace(
        HOSPITAL, columns=tuple(replace(column, type="other", sql_type="") for column in HOSPITAL.columns)
    )
    for case in CASES[::5]:
        schema, sql, _ = case.values
        if schema == "hospital":
            program = sql_to_program(sql, HOSPITAL)
            assert render(program, untyped) == render(program, HOSPITAL)
