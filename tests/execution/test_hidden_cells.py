"""No query depends on a cell that the executor's schema does not have: whatever it names, and whatever the database holds.

Random statements over visible and hidden names run on two databases that differ in hidden cells alone; what comes back, rows
or an error, is the same. ``FASTSQL_FUZZ_STATEMENTS`` says how many statements a dialect gets, ``FASTSQL_FUZZ_SEED`` which.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql import Parser, Schema
from fastsql.answer import Answer
from fastsql.errors import FastSQLError
from fastsql.execution import open_executor
from fastsql.verification.verify import Runnables

from ..databases import PostgresServer
from ..worlds.database import hasty_connection
from ..worlds.partly_known import SECRET, SECRET_NUMBER, A, B, World, draw_world, make_database
from ..worlds.toy_bundle import load_toy
from .statements import Writer, mutate

DIALECTS = ("sqlite", "duckdb", "postgres")
WORLDS = 4
STATEMENTS = int(os.environ.get("FASTSQL_FUZZ_STATEMENTS", "200"))
SEED = int(os.environ.get("FASTSQL_FUZZ_SEED", "0"))
TRIES = 8
REACHES = (0.0, 0.02, 0.05, 0.2)
"""How often a statement names what is hidden where it should name what is visible."""


@dataclass(frozen=True)
class Stage:
    """Worlds of one dialect, each with an executor on either of its two databases."""

    worlds: list[tuple[World, Any, Any]]


@pytest.fixture(scope="module", params=DIALECTS)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    server = request.getfixturevalue("postgres") if request.param == "postgres" else None
    if request.param == "duckdb":
        request.getfixturevalue("duckdb_driver")
    folder = tmp_path_factory.mktemp("worlds")
    with ExitStack() as opened:
        worlds = []
        for number in range(WORLDS):
            world = draw_world(request.param, SEED * WORLDS + number)
            schema = world.schema()
            first, second = (
                opened.enter_context(
                    open_executor(make_database(world, variant, folder, server), schema=schema, time_limit=20)
                )
                for variant in (A, B)
            )
            worlds.append((world, first, second))
        yield Stage(worlds)


def outcome(executor: Any, sql: str) -> tuple[str, str]:
    """How a statement ends, and all that it says: rows in their order with the names of columns, or an error."""
    try:
        found = executor.run(sql)
    except FastSQLError as error:
        chain = (error, error.__cause__, error.__context__)
        return "refused" if "VerificationError" in type(error).__name__ else "failed", repr(
            list(map(str, chain))
        )
    return "rows", repr(found)


def same(sql: str, first: Any, second: Any) -> bool:
    """Whether a statement ends the same on both; rows that nothing puts in order may come in any that either gives."""
    seen: tuple[set[str], set[str]] = (set(), set())
    for _ in range(TRIES):
        (ended, said), (other_ended, other_said) = outcome(first, sql), outcome(second, sql)
        if ended != other_ended or sorted(said) != sorted(other_said):
            return False
        seen[0].add(said)
        seen[1].add(other_said)
        if seen[0] & seen[1]:
            return True
    return False


def told(sql: str, said: str) -> bool:
    """Whether something of a hidden cell is in what came back, and not in the statement."""
    return (SECRET in said or str(SECRET_NUMBER)[:3] + "," in said) and SECRET not in sql


def draw_statement(world: World, rng: random.Random) -> str:
    """A statement, as written or changed."""
    sql = Writer(world, rng, rng.choice(REACHES)).statement()
    return mutate(sql, world, rng) if rng.random() < 0.3 else sql


def test_no_statement_depends_on_a_hidden_cell_and_a_useful_share_runs(stage: Stage) -> None:
    ended: Counter[str] = Counter()

    @settings(
        max_examples=STATEMENTS,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(seed=st.integers(0, 2**32 - 1))
    def no_statement_depends_on_a_hidden_cell(seed: int) -> None:
        rng = random.Random(f"{SEED} {seed}")
        world, first, second = rng.choice(stage.worlds)
        sql = draw_statement(world, rng)
        how, said = outcome(first, sql)
        ended[how] += 1
        ended["rows, names hidden"] += how == "rows" and any(name in sql for name in world.hidden_names())
        assert not told(sql, said), sql
        assert same(sql, first, second), sql

    no_statement_depends_on_a_hidden_cell()
    total = ended["rows"] + ended["refused"] + ended["failed"]
    assert total >= STATEMENTS // 2, ended
    assert ended["rows"] > 0.2 * total, ended
    assert ended["rows, names hidden"] > 0.15 * total, ended
    assert ended["failed"] < 0.2 * total, ended


def test_a_statement_that_is_sent_as_it_is_does_depend_on_hidden_cells(
    duckdb_driver: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statements and the databases are such that the test above would fail."""
    monkeypatch.setattr(Runnables, "of", lambda _, sql: sql)
    world = draw_world("duckdb", 0)
    found = 0
    with ExitStack() as opened:
        first, second = (
            opened.enter_context(
                open_executor(make_database(world, variant, tmp_path, None), schema=world.schema())
            )
            for variant in (A, B)
        )
        for seed in range(200):
            sql = draw_statement(world, random.Random(seed))
            found += told(sql, outcome(first, sql)[1]) or not same(sql, first, second)
    assert found > 4


QUESTION = "Show all information about all singers."
STAR = "SELECT * FROM singer"
SINGERS = Schema.from_dict({"singer": {"id": "INTEGER", "name": "TEXT"}})
_SINGERS = (
    "CREATE TABLE singer (ssn TEXT, id INTEGER, name TEXT, notes TEXT)",
    "INSERT INTO singer VALUES ('Sesame1', 1, 'Ada', 'Sesame2'), ('Sesame3', 2, 'Ben', NULL)",
)


@pytest.fixture(params=DIALECTS)
def singers(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A table of which the schema does not know the first and the last column, as a path or a URL."""
    path = tmp_path / f"singers.{request.param}"
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        import psycopg

        server.create_database("singers")
        with psycopg.connect(server.conninfo("singers")) as connection:
            for statement in _SINGERS:
                connection.execute(statement.encode())
        return server.url("singers")
    if request.param == "duckdb":
        request.getfixturevalue("duckdb_driver")
        import duckdb

        with duckdb.connect(str(path)) as database:
            database.execute(";".join(_SINGERS))
    else:
        with closing(hasty_connection(path)) as file:
            file.executescript(";".join(_SINGERS))
    return str(path)


def assert_shows_what_the_schema_knows(parser: Parser, singers: str) -> Answer:
    """Ask the question at penalty 0. Gives the answer."""
    with closing(open_executor(singers, schema=SINGERS)) as executor:
        answer = parser.ask(QUESTION, SINGERS, executor=executor, penalty=0)
    assert answer.columns == ("id", "name")
    assert answer.rows is not None
    assert sorted(answer.rows.rows) == [(1, "Ada"), (2, "Ben")]
    return answer


@pytest.mark.parametrize("star", [False, True], ids=["as it is written", "with a star"])
def test_all_information_is_what_the_schema_knows(
    star: bool, singers: str, toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair is remembered, as a toy's own SQL is random. fastsql spells a star out, so that one is put back, too."""
    parser = load_toy(toy_bundle)
    parser.remember(QUESTION, STAR, SINGERS)
    if star:
        parse = parser.parse
        monkeypatch.setattr(
            parser, "parse", lambda *given, **options: replace(parse(*given, **options), best=STAR)
        )
    answer = assert_shows_what_the_schema_knows(parser, singers)
    assert (answer.sql == STAR) == star


def test_the_bundled_model_shows_what_the_schema_knows(ehr_en: Parser, singers: str) -> None:
    """It has the right SQL for the question by itself."""
    assert_shows_what_the_schema_knows(ehr_en, singers)
