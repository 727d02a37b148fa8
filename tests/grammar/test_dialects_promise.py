"""Whatever the scores: what is written for PostgreSQL and DuckDB prepares there, on an empty database of the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fastsql.errors import DialectError
from fastsql.grammar import ActionSpace, read_program, render
from fastsql.grammar.render import DIALECTS
from fastsql.limits import DEFAULT
from fastsql.linking import find_candidates
from fastsql.schema import Schema
from fastsql.verification.verify import parenthesis_depth, parse_query

from ..worlds.grammar_hospitals import SCHEMAS
from .grounding import space_for
from .strategies import habits, spaces
from .test_promises import QUESTION, SEEDS, promise
from .walking import HABITS, Bias, walk

if TYPE_CHECKING:
    from ..databases import PostgresServer

Prepare = Callable[[Schema, list[str]], None]
a_few = settings(promise, max_examples=25)


def written(space: ActionSpace, seed: int, bias: Bias, dialect: str) -> str:
    return render(read_program(walk(space, seed, bias).decisions, space), space.schema, dialect=dialect)


@pytest.fixture(scope="module")
def in_postgres(postgres: PostgresServer) -> Iterator[Prepare]:
    import psycopg

    postgres.create_database("promise")
    with psycopg.connect(postgres.conninfo("promise"), autocommit=True) as connection:

        def prepare(schema: Schema, queries: list[str]) -> None:
            with connection.transaction(force_rollback=True):
                connection.execute(schema.to_ddl("postgres").encode())
                for sql in queries:
                    connection.execute(f"PREPARE query AS {sql}".encode())
                    connection.execute("DEALLOCATE query")

        yield prepare


@pytest.fixture(scope="module")
def in_duckdb(duckdb_driver: None) -> Prepare:
    return _prepare_in_duckdb


def _prepare_in_duckdb(schema: Schema, queries: list[str]) -> None:
    import duckdb

    with duckdb.connect(":memory:") as connection:
        for statement in schema.to_ddl("duckdb").split(";\n"):
            connection.execute(statement)
        for sql in queries:
            connection.execute(f"PREPARE query AS {sql}")


@a_few
@given(data=st.data())
def test_any_scores_give_sql_that_postgresql_prepares(in_postgres: Prepare, data: st.DataObject) -> None:
    space: ActionSpace = data.draw(spaces())
    strict = replace(space, strict_grouping=True)
    in_postgres(strict.schema, [written(strict, data.draw(SEEDS), data.draw(habits()), "postgres")])


@a_few
@given(data=st.data())
def test_without_strict_grouping_any_scores_give_sql_that_postgresql_prepares(
    in_postgres: Prepare, data: st.DataObject
) -> None:
    """Columns beside aggregates are written so that PostgreSQL takes them."""
    space: ActionSpace = data.draw(spaces())
    in_postgres(space.schema, [written(space, data.draw(SEEDS), data.draw(habits()), "postgres")])


@a_few
@given(data=st.data())
def test_any_scores_give_sql_that_duckdb_prepares(in_duckdb: Prepare, data: st.DataObject) -> None:
    space: ActionSpace = data.draw(spaces())
    in_duckdb(space.schema, [written(space, data.draw(SEEDS), data.draw(habits()), "duckdb")])


@pytest.mark.parametrize("ward", SCHEMAS)
def test_every_habit_is_survived(ward: str, in_postgres: Prepare, in_duckdb: Prepare) -> None:
    schema = SCHEMAS[ward]
    space = space_for(schema, QUESTION, find_candidates(QUESTION, schema))
    for dialect, prepare in (("postgres", in_postgres), ("duckdb", in_duckdb)):
        prepare(schema, [written(space, 0, bias, dialect) for bias in HABITS.values()])


@a_few
@given(spaces(), habits(), SEEDS, st.sampled_from([dialect for dialect in DIALECTS if dialect != "sqlite"]))
def test_any_scores_give_sql_that_parses_in_its_dialect(
    space: ActionSpace, bias: Bias, seed: int, dialect: str
) -> None:
    try:
        sql = written(space, seed, bias, dialect)
    except DialectError:
        assert dialect in ("mysql", "tsql")
    else:
        # Casts nest too: what they make deeper than the verifier allows is refused there, as it must be.
        assume(parenthesis_depth(sql) <= DEFAULT.sql_depth)
        parse_query(sql, dialect=dialect)
