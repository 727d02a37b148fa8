"""Behind the verifier: the walls of each database alone let no attack change anything, read a file or take too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution import Cursor, ReadOnlyExecutor

from ..databases import PostgresServer
from ..in_time import in_time
from ..role_recipe import role_recipe
from ..worlds.planted_files import files_of, holds_file_content, plant_files
from ..worlds.ward import ward_database, ward_script
from .cases import Attack, attacks_on, label

SECONDS = 0.5
BOUND = 1.5 * SECONDS + 1
"""Seconds after which the caller must be free."""
Open = Callable[[str], AbstractContextManager[Cursor]]


def attack_alone(attack: Attack, run: Open, folder: Path, *, must_refuse: bool) -> None:
    """Run an attack; in time it is refused, or gives rows that hold nothing from a file."""

    def once() -> None:
        try:
            with run(attack.in_folder(folder)) as cursor:
                rows = cursor.fetchmany(100)
        except ExecutionError:
            return
        assert not must_refuse, f"{attack.tries}: it ran"
        assert not holds_file_content(rows)

    in_time(BOUND, once)


def bounded(dialect: str) -> list[Any]:
    """The attacks on a dialect that its walls must stand, as parameters."""
    return [
        pytest.param(attack, id=label(attack))
        for attack in attacks_on(dialect)
        if attack.alone != "unbounded"
    ]


# ---------------------------------------------------------------- SQLite


@pytest.fixture(scope="module")
def sqlite_content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sqlite") / "hospital.sqlite"
    return ward_database(path).read_bytes()


@pytest.fixture
def sqlite_file(sqlite_content: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "hospital.sqlite"
    path.write_bytes(sqlite_content)
    plant_files(tmp_path)
    return path


@pytest.mark.parametrize("attack", bounded("sqlite"))
def test_sqlite_stands_alone(attack: Attack, sqlite_file: Path) -> None:
    folder = sqlite_file.parent
    before = files_of(folder)
    with ReadOnlyExecutor(sqlite_file, time_limit=SECONDS) as executor:
        attack_alone(attack, executor.cursor, folder, must_refuse=attack.alone == "refused")
    assert files_of(folder) == before


# ---------------------------------------------------------------- DuckDB


@pytest.fixture(scope="module")
def duckdb_file(duckdb_driver: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import duckdb

    path = tmp_path_factory.mktemp("duckdb") / "hospital.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(ward_script() + "CREATE SEQUENCE visits;")
    plant_files(path.parent)
    return path


@pytest.mark.parametrize("attack", bounded("duckdb"))
def test_duckdb_stands_alone(attack: Attack, duckdb_file: Path) -> None:
    from fastsql.execution.duckdb import DuckDBExecutor

    planted = [[1]]  # a variable that a replacement scan would find
    folder = duckdb_file.parent
    before = files_of(folder)
    with DuckDBExecutor(duckdb_file, time_limit=SECONDS) as executor:
        attack_alone(attack, executor.unverified_cursor, folder, must_refuse=attack.alone == "refused")
    assert files_of(folder) == before
    assert planted == [[1]]


# ---------------------------------------------------------------- PostgreSQL

_STATE = """
SELECT (SELECT string_agg(p::text, ';' ORDER BY subject_id) FROM patients p),
       (SELECT string_agg(s::text, ';') FROM staff s),
       (SELECT last_value FROM visits),
       (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_roles),
       (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_replication_slots),
       (SELECT count(*) FROM pg_extension), (SELECT string_agg(setting, ',' ORDER BY name) FROM pg_settings),
       (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')
"""


@pytest.fixture(scope="module")
def hospital(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """The database `hospital`, with the role that docs/deploying.md describes."""
    import psycopg

    postgres.create_database("hospital")
    with psycopg.connect(postgres.conninfo("hospital"), autocommit=True) as connection:
        connection.execute(ward_script() + "CREATE SEQUENCE visits;")
        connection.execute(
            "CREATE FUNCTION note_visit(INT) RETURNS INT LANGUAGE plpgsql AS "
            "'BEGIN INSERT INTO patients VALUES (9, NULL, NULL); RETURN 1; END'"
        )
        connection.execute("DROP ROLE IF EXISTS fastsql_reader")
        connection.execute(role_recipe())
    yield postgres
    with psycopg.connect(postgres.conninfo("hospital"), autocommit=True) as connection:
        connection.execute("DROP OWNED BY fastsql_reader CASCADE")
        connection.execute("DROP ROLE fastsql_reader")


@pytest.fixture(scope="module")
def watcher(hospital: PostgresServer) -> Iterator[Callable[[], Any]]:
    """Tells the state of the database, as its superuser sees it."""
    import psycopg

    with psycopg.connect(hospital.conninfo("hospital"), autocommit=True) as connection:
        yield lambda: connection.execute(_STATE).fetchone()


@pytest.fixture(scope="module")
def reader(hospital: PostgresServer) -> Iterator[Any]:
    from fastsql.execution import open_executor

    with open_executor(hospital.url("hospital", "fastsql_reader"), time_limit=SECONDS) as executor:
        yield executor


@pytest.mark.parametrize("attack", bounded("postgres"))
def test_postgres_stands_alone(
    attack: Attack, reader: Any, watcher: Callable[[], Any], tmp_path: Path
) -> None:
    plant_files(tmp_path)
    tmp_path.chmod(0o777)
    before, files = watcher(), files_of(tmp_path)
    attack_alone(attack, reader.unverified_cursor, tmp_path, must_refuse=attack.alone == "refused")
    assert watcher() == before
    assert files_of(tmp_path) == files
