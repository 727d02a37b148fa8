"""SQL into programs and back: the fixtures are the specification. One line a case; a bug is a new line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from fastsql.evaluation import normalise_sql
from fastsql.execution import verify
from fastsql.grammar import (
    ConversionError,
    Literal,
    Production,
    load_grammar,
    read_program,
    render,
    sql_to_program,
    trace_program,
)
from fastsql.grammar.actions import PRODUCTION

from ..worlds.grammar_hospitals import HOSPITAL, SCHEMAS
from .conversations import POINTING
from .grounding import literals_as_candidates, space_for
from .rows import NOW, answers, filled

FIXTURES = Path(__file__).parents[1] / "fixtures" / "grammar"
FILES = ("hospital", "hospital_times", "chinese", "traps", "clinic")


def lines(name: str) -> Iterator[tuple[str, str, str]]:
    """Identifier, first and second column of each case in a file."""
    text = (FIXTURES / f"{name}.tsv").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("# "):
            first, second = line.split("\t")
            yield f"{name}:{number}", first, first if second == "=" else second


CASES: list[Any] = [
    pytest.param(name.partition("_")[0], sql, rendered, id=case)
    for name in FILES
    for case, sql, rendered in lines(name)
]
REFUSED: list[Any] = [pytest.param(sql, construct, id=case) for case, sql, construct in lines("errors")]


@lru_cache(maxsize=len(SCHEMAS))
def database(schema: str) -> sqlite3.Connection:
    return filled(SCHEMAS[schema])


@pytest.mark.parametrize(("schema", "sql", "rendered"), CASES)
def test_sql_is_written_in_our_form(schema: str, sql: str, rendered: str) -> None:
    assert render(sql_to_program(sql, SCHEMAS[schema]), SCHEMAS[schema]) == rendered


@pytest.mark.parametrize(("schema", "sql", "rendered"), CASES)
def test_our_form_is_stable_and_valid(schema: str, sql: str, rendered: str) -> None:
    program = sql_to_program(rendered, SCHEMAS[schema])
    if not sql.startswith("SELECT *"):  # it fixes the order of joins, which its columns, written out, do not
        assert render(program, SCHEMAS[schema]) == rendered
    verify(rendered, SCHEMAS[schema])


@pytest.mark.parametrize(("schema", "sql", "rendered"), CASES)
def test_our_form_answers_as_the_sql_does(schema: str, sql: str, rendered: str) -> None:
    asked = sql
    for constant in SCHEMAS[schema].constants:
        asked = asked.replace(f"< {constant.name}", f"< {constant.value}").replace(
            f"AND {constant.name}", f"AND {constant.value}"
        )
    ours = render(sql_to_program(sql, SCHEMAS[schema]), SCHEMAS[schema], now=NOW)
    assert answers(database(schema), ours) == answers(database(schema), normalise_sql(asked, NOW))


@pytest.mark.parametrize(("schema", "sql", "rendered"), CASES)
def test_actions_write_the_same_program(schema: str, sql: str, rendered: str) -> None:
    program = sql_to_program(sql, SCHEMAS[schema])
    space = space_for(SCHEMAS[schema], "?", literals_as_candidates(program))
    trace = trace_program(program, space)
    read = read_program(trace.actions.tolist(), space)
    assert render(read, SCHEMAS[schema]) == rendered
    assert len(read) == len(program)


def test_every_production_occurs_in_a_fixture() -> None:
    grammar = load_grammar()
    written: set[str] = set()
    for case in CASES:
        schema = SCHEMAS[case.values[0]]
        program = sql_to_program(case.values[1], schema)
        written |= {item.name for item in program if isinstance(item, Production)}
        # The closed set of literals is written by productions that only a trace shows.
        space = space_for(schema, "?", literals_as_candidates(program))
        located = [space.locate(int(action)) for action in trace_program(program, space).actions]
        written |= {grammar.productions[index] for kind, index in located if kind == PRODUCTION}
    assert written == set(grammar.productions) - set(POINTING)  # no SQL says that it was asked for before


@pytest.mark.parametrize(("sql", "construct"), REFUSED)
def test_sql_beyond_the_grammar_is_refused_by_construct(sql: str, construct: str) -> None:
    with pytest.raises(ConversionError) as refusal:
        sql_to_program(sql, HOSPITAL)
    assert refusal.value.construct == construct


def test_a_refusal_repeats_no_literal() -> None:
    with pytest.raises(ConversionError) as refusal:
        sql_to_program("SELECT SQRT(age) FROM admissions WHERE ward = 'Mrs Miller'", HOSPITAL)
    assert "Miller" not in str(refusal.value)


@pytest.mark.parametrize(
    ("sql", "ours"),
    [
        (
            "DATE_TRUNC('quarter', admittime)",
            "DATE(admittime, 'start of month', '-' || ((strftime('%m', admittime) - 1) % 3) || ' months')",
        ),
        ("DATE_TRUNC('week', admittime)", "DATE(admittime, 'weekday 0', '-6 days')"),
        ("TIMESTAMP_TRUNC(admittime, MONTH)", "strftime('%Y-%m-01', admittime)"),
        ("DATE_TRUNC('year', CURRENT_DATE)", "DATE('now', 'start of year')"),
        ("YEAR(admittime)", "CAST(strftime('%Y', admittime) AS INTEGER)"),
        ("MONTH(DATE(admittime))", "CAST(strftime('%m', admittime) AS INTEGER)"),
        ("YEAR(GETDATE())", "CAST(strftime('%Y', 'now') AS INTEGER)"),
        ("CONCAT(ward, ' ', age)", "ward || ' ' || age"),
    ],
)
def test_words_of_other_dialects_become_the_same_program(sql: str, ours: str) -> None:
    one, other = (sql_to_program(f"SELECT {item} FROM admissions", HOSPITAL) for item in (sql, ours))
    assert one == other


def test_sql_without_end_is_refused() -> None:
    with pytest.raises(ConversionError, match=r"RecursionError|ParseError"):
        sql_to_program("SELECT " + "(" * 20_000 + "1", HOSPITAL)


def test_conjuncts_have_one_order() -> None:
    one = sql_to_program(
        "SELECT name FROM patients WHERE gender = 'm' AND dob IS NULL AND subject_id = 3", HOSPITAL
    )
    two = sql_to_program(
        "SELECT name FROM patients WHERE subject_id = 3 AND dob IS NULL AND gender = 'm'", HOSPITAL
    )
    assert one == two


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
def test_equal_conjuncts_are_written_once(dialect: str) -> None:
    once = "SELECT ward FROM admissions WHERE age = 1 GROUP BY ward HAVING COUNT(*) > 2"
    twice = once.replace("age = 1", "age = 1 AND age = 1").replace("> 2", "> 2 AND COUNT(*) > 2")
    written = [render(sql_to_program(sql, HOSPITAL), HOSPITAL, dialect=dialect) for sql in (once, twice)]
    assert written[0] == written[1]


def test_a_column_comes_before_a_constant_of_its_name() -> None:
    ward = HOSPITAL.with_constants({"age": 3})
    program = sql_to_program("SELECT hadm_id FROM admissions WHERE age > 1", ward)
    assert [item for item in program if isinstance(item, Literal)] == [Literal(1)]


def test_now_can_be_fixed() -> None:
    sql = "SELECT hadm_id FROM admissions WHERE datetime(admittime) >= datetime(current_time, '-1 year')"
    program = sql_to_program(sql, HOSPITAL)
    assert f"DATETIME('{NOW}', '-1 year')" in render(program, HOSPITAL, now=NOW)
    assert "DATETIME('now', '-1 year')" in render(program, HOSPITAL)
