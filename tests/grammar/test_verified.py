"""The verifier lets through whatever the grammar can write: its list is narrow, and not too narrow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings

from fastsql.errors import DialectError
from fastsql.execution import verify, verify_form
from fastsql.grammar import ActionSpace, read_program, render
from fastsql.limits import DEFAULT
from fastsql.schema import Schema
from fastsql.verification.allowed import FILE_MARKS, SYSTEM_TABLES
from fastsql.verification.verify import parenthesis_depth

from ..worlds.grammar_hospitals import SCHEMAS
from .grounding import space_for
from .strategies import habits, spaces
from .test_promises import QUESTION, SEEDS, promise
from .walking import HABITS, Bias, walk

TESTED = ("sqlite", "postgres", "duckdb")
a_few = settings(promise, max_examples=25)


def has_doubtful_tables(schema: Schema, dialect: str) -> bool:
    """Whether a table has the name of a system table or a file, which the verifier refuses."""
    names = [table.name.lower() for table in schema.tables]
    marks = FILE_MARKS.get(dialect, "")
    return any(
        name.startswith(SYSTEM_TABLES[dialect]) or any(mark in name for mark in marks) for name in names
    )


@a_few
@given(spaces(), habits(), SEEDS)
@pytest.mark.parametrize("dialect", TESTED)
def test_any_scores_give_sql_that_is_let_through(
    dialect: str, space: ActionSpace, bias: Bias, seed: int
) -> None:
    strict = replace(space, strict_grouping=dialect != "sqlite")
    program = read_program(walk(strict, seed, bias).decisions, strict)
    try:
        sql = render(program, space.schema, dialect=dialect)
    except DialectError:
        return
    # Casts nest, too: beyond what SQLite needs, and then beyond the bound, where the parser gives a refusal.
    assume(parenthesis_depth(sql) <= DEFAULT.sql_depth and not has_doubtful_tables(space.schema, dialect))
    verify_form(sql, dialect=dialect)


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("dialect", TESTED)
def test_every_habit_on_hospitals_gives_sql_that_is_let_through(dialect: str, habit: str) -> None:
    for seed, schema in enumerate(SCHEMAS.values()):
        space = replace(space_for(schema, QUESTION), strict_grouping=dialect != "sqlite")
        program = read_program(walk(space, seed, HABITS[habit]).decisions, space)
        try:
            sql = render(program, schema, dialect=dialect)
        except DialectError:
            continue
        if parenthesis_depth(sql) <= DEFAULT.sql_depth:
            verify(sql, schema, dialect=dialect)
