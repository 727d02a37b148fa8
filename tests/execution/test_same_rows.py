"""What an executor runs gives the rows of the statement that it was given, where the schema knows all that is there.

Random statements over visible names, and random expressions over literals, go to each database as they are and as
`fastsql.verification.verify.runnable` writes them anew. ``FASTSQL_FUZZ_STATEMENTS`` says how many a dialect gets.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql.errors import VerificationError
from fastsql.schema import Schema
from fastsql.verification.verify import runnable

from ..databases import PostgresServer
from ..worlds.partly_known import PLAIN, World, draw_world, make_database
from ..worlds.ward import ward_schema
from .expressions import Expressions
from .statements import Writer

DIALECTS = ("sqlite", "duckdb", "postgres")
NAMED = ("sqlite", "postgres")
"""Dialects in which a result has the names of columns that the statement as given would give it."""
WORLDS = 3
STATEMENTS = int(os.environ.get("FASTSQL_FUZZ_STATEMENTS", "200"))
SEED = int(os.environ.get("FASTSQL_FUZZ_SEED", "0"))
_ROW_NUMBER = re.compile(r"oid|rowid", re.IGNORECASE)
_ROWS = "WITH p AS (SELECT 1 AS id, 'F' AS gender, 61 AS age UNION ALL SELECT 2, 'M', 47 UNION ALL SELECT 3, 'F', NULL) "
STATED = (
    "SELECT id, 5 AS x FROM p ORDER BY (x)",
    "SELECT id, 5 AS x FROM p ORDER BY -x",
    "SELECT id, 'a' AS x FROM p ORDER BY (x) DESC, id",
    "SELECT id, gender AS g FROM p WHERE id IN (SELECT q.id FROM p AS q ORDER BY g DESC, q.id DESC LIMIT 1)",
    "SELECT id, gender AS g FROM p WHERE EXISTS (SELECT MAX(q.age), q.id FROM p AS q GROUP BY g)",
    "SELECT id, age AS x, x AS y FROM p WHERE y > 50",
    "SELECT (SELECT MIN(q.z) FROM (SELECT gender AS z FROM p WHERE z = 'F') AS q) AS y FROM p WHERE y = 'F'",
    "SELECT CASE WHEN age > 50 THEN 1 END AS a FROM p WHERE a IN (SELECT a AS b FROM p WHERE b = 1)",
    "SELECT gender AS age, COUNT(*) FROM p GROUP BY age",
    "SELECT MAX(age) AS age FROM p GROUP BY gender HAVING age > 50",
    "SELECT UPPER(gender) AS gender FROM p ORDER BY gender, id",
    "SELECT gender AS g, COUNT(*) AS n FROM p GROUP BY g HAVING n > 1 ORDER BY n DESC",
    "SELECT gender AS x, id AS x FROM p ORDER BY x",
    "SELECT q.t1, (SELECT COUNT(*) FROM p WHERE p.id = q.t1) AS t2 FROM (SELECT id AS t1 FROM p) AS q ORDER BY t2",
    "SELECT * FROM p AS a LEFT JOIN (SELECT id AS Other FROM p WHERE id < 3) AS b ON a.id = b.Other",
    "SELECT Gender, P.Age FROM p",
    "SELECT gender AS Gender_Of FROM p",
    "SELECT id FROM p WHERE NOT id NOT IN (1, 2)",
    "SELECT id FROM p WHERE id NOT IN (1, 2) = (1 = 1)",
    "SELECT id FROM p WHERE (1 = 1) = id NOT BETWEEN 2 AND 3",
    "SELECT id FROM p WHERE NOT age IS NULL AND NOT gender NOT LIKE 'F'",
    "SELECT id, 1e2+1e2 AS n FROM p",
    "SELECT id, - -id, -(-id), 1 - -1 FROM p",
    "SELECT CAST('5' AS NUMERIC), CAST(1 AS DECIMAL(4,1)), CAST(5 AS CHAR(3)) FROM p",
    "SELECT age FROM p ORDER BY age DESC NULLS LAST",
    "SELECT age FROM p ORDER BY age NULLS FIRST",
    "SELECT CURRENT_TIME IS NULL AS late FROM p",
    "SELECT gender FROM p UNION SELECT gender FROM p ORDER BY gender DESC LIMIT 1",
)
"""Statements whose meaning hangs by a thread: each that a database takes gives the same there."""
Result = tuple[list[str], list[tuple[Any, ...]]]
Run = Callable[[str], Result]
fuzz = settings(
    max_examples=STATEMENTS,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
SEEDS = st.integers(0, 2**32 - 1)


class RefusedError(Exception):
    """The database took no such statement."""


@dataclass(frozen=True, repr=False)  # hypothesis shows it with every statement
class Stage:
    """Databases of one dialect behind their drivers alone."""

    dialect: str
    worlds: list[tuple[World, Run]]


@pytest.fixture(scope="module", params=DIALECTS)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    server = request.getfixturevalue("postgres") if request.param == "postgres" else None
    if request.param == "duckdb":
        request.getfixturevalue("duckdb_driver")
    folder = tmp_path_factory.mktemp("plain")
    with ExitStack() as opened:
        worlds = [draw_world(request.param, SEED * WORLDS + number) for number in range(WORLDS)]
        yield Stage(request.param, [(world, _connect(world, folder, server, opened)) for world in worlds])


def _connect(world: World, folder: Path, server: PostgresServer | None, opened: ExitStack) -> Run:
    target = make_database(world, PLAIN, folder, server)
    connection: Any
    error: type[Exception]
    if world.dialect == "sqlite":
        connection, error = sqlite3.connect(target), sqlite3.Error
    elif world.dialect == "duckdb":
        import duckdb

        connection, error = duckdb.connect(target, read_only=True), duckdb.Error
    else:
        import psycopg

        assert server is not None
        database = target.partition("@/")[2].partition("?")[0]
        connection, error = psycopg.connect(server.conninfo(database), autocommit=True), psycopg.Error
    opened.callback(connection.close)

    def run(sql: str) -> Result:
        try:
            cursor = connection.execute(sql)
            return [column[0] for column in cursor.description], cursor.fetchall()
        except error as refused:
            raise RefusedError(str(refused)) from None

    return run


def check_same(stage: Stage, run: Run, schema: Schema, sql: str) -> str:
    """A statement that the database takes gives the same rows when it is written anew, or is refused before: which."""
    try:
        names, rows = run(sql)
    except RefusedError:
        return "not SQL"
    try:
        text = runnable(sql, schema, dialect=stage.dialect)
    except VerificationError:
        return "refused"
    try:
        found_names, found_rows = run(text)
    except RefusedError as error:
        pytest.fail(f"{error}\n{sql}\n{text}")
    assert sorted(map(repr, found_rows)) == sorted(map(repr, rows)), f"{sql}\n{text}"
    if stage.dialect in NAMED:
        assert found_names == names, f"{sql}\n{text}"
    return "same"


def test_a_statement_gives_the_same_rows_and_few_are_refused(stage: Stage) -> None:
    ended: Counter[str] = Counter()

    @fuzz
    @given(seed=SEEDS)
    def a_statement_gives_the_same_rows(seed: int) -> None:
        rng = random.Random(f"{SEED} {seed}")
        world, run = rng.choice(stage.worlds)
        sql = Writer(world, rng, 0).statement()
        # The number of a row, to SQLite; to us, an alias of that name and nothing else.
        if stage.dialect != "sqlite" or not _ROW_NUMBER.search(sql):
            ended[check_same(stage, run, world.schema(), sql)] += 1

    a_statement_gives_the_same_rows()
    assert ended["same"] >= 0.3 * STATEMENTS, ended
    assert ended["refused"] < 0.2 * ended["same"], ended


@fuzz
@given(seed=SEEDS, depth=st.integers(1, 3))
def test_an_expression_has_the_same_value(stage: Stage, seed: int, depth: int) -> None:
    rng = random.Random(f"{SEED} {depth} {seed}")
    sql = f"SELECT {Expressions(stage.dialect, rng).any(depth)} AS value"
    check_same(stage, stage.worlds[0][1], ward_schema(), sql)


@pytest.mark.parametrize("sql", STATED)
def test_stated_queries_give_the_same_rows_in_the_same_order(stage: Stage, sql: str) -> None:
    whole = _ROWS + sql
    run = stage.worlds[0][1]
    if check_same(stage, run, ward_schema(), whole) == "same" and "ORDER BY" in sql:
        assert run(runnable(whole, ward_schema(), dialect=stage.dialect))[1] == run(whole)[1]
