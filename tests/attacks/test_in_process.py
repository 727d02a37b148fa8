"""Without the verifier and without a process of its own: SQLite shows nothing hidden, and no engine holds its caller."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution import QueryTimeoutError, ReadOnlyExecutor
from fastsql.verification.readable import Readable

from ..databases import PostgresServer
from ..in_time import once_within
from ..worlds.database import hasty_connection, write_databases
from ..worlds.ward import ward_schema, ward_script
from .cases import FOLDER, Attack, attacks_on, label

LIMIT = 0.2
BOUND = 1.5 * LIMIT + 1
"""Seconds after which the caller must be free."""

# ---------------------------------------------------------------- what is hidden

_CHANGES = """
UPDATE staff SET password = 'swordfish';
INSERT INTO staff VALUES (2, 'hunter2'), (3, 'secret');
UPDATE patients SET ssn = 'other';
CREATE TABLE later (x);
"""


@pytest.fixture(scope="module")
def two_hospitals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Databases that differ in what is hidden alone: rows of a table, cells of a column, a table."""
    folder = tmp_path_factory.mktemp("hidden")
    paths = [folder / "one.sqlite", folder / "other.sqlite"]
    for path, changes in zip(paths, ("", _CHANGES), strict=True):
        with closing(hasty_connection(path)) as connection:
            connection.executescript(
                f"{ward_script()} ALTER TABLE patients ADD COLUMN ssn TEXT DEFAULT 's'; {changes}"
            )
    return paths


_COLUMNS = [
    Attack("SELECT ssn AS ssn FROM patients", "a hidden column"),
    Attack("SELECT 1 FROM patients WHERE ssn LIKE 'o%'", "a hidden column, as an oracle"),
    Attack("SELECT * FROM patients", "a hidden column, by a star"),
    Attack("SELECT COUNT(DISTINCT ssn) FROM patients GROUP BY SSN", "a hidden column, counted"),
]


@pytest.mark.parametrize(
    "attack", [pytest.param(attack, id=label(attack)) for attack in [*attacks_on("sqlite"), *_COLUMNS]]
)
def test_sqlite_alone_gives_what_does_not_depend_on_hidden_cells(
    attack: Attack, two_hospitals: list[Path]
) -> None:
    def outcome(path: Path) -> object:
        readable = Readable.of_schema(ward_schema())
        with ReadOnlyExecutor(path, readable=readable, time_limit=LIMIT) as executor:
            try:
                return executor.run(attack.in_folder(FOLDER)).rows
            except QueryTimeoutError:
                return None  # which depends on what else the machine does
            except ExecutionError:
                return "refused"

    one, other = map(outcome, two_hospitals)
    if "random" not in attack.sql.lower() and None not in (one, other):
        assert one == other
    assert "hunter2" not in repr(one).replace(attack.sql, "")


# ---------------------------------------------------------------- time

_RUNS = """
import json, os, resource, signal, sys, time
resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))  # what strings take is not bounded in the process
from fastsql.errors import ExecutionError
from fastsql.execution import QueryTimeoutError, ReadOnlyExecutor, open_executor
from fastsql.execution.duckdb import DuckDBExecutor
from fastsql.execution.reuse import Statement

try:
    import sqlalchemy.dialects.postgresql.psycopg, psycopg
except ImportError:
    pass  # then there is no test that needs them

def opened(target, limit):
    executor = open_executor(target, time_limit=limit)
    for _ in range(100):
        try:
            executor.run_statement(Statement("SELECT 1"))
            return executor
        except QueryTimeoutError:
            pass  # connecting is not what is measured
    raise SystemExit("no connection")

def seconds(dialect, target, sql, limit):
    if dialect == "sqlite":
        executor = ReadOnlyExecutor(target, time_limit=limit, memory_limit=200 * 2**20)
        start = executor.cursor
    elif dialect == "duckdb":
        executor = DuckDBExecutor(target, time_limit=limit, memory_limit="200MB")
        start = executor.unverified_cursor
    else:
        executor = opened(target, limit)
    begun = time.monotonic()
    try:
        if dialect == "postgres":
            executor.run_statement(Statement(sql))  # unverified, and all else as in run()
        else:
            with start(sql) as cursor:
                cursor.fetchmany(100)
    except ExecutionError:
        pass
    return time.monotonic() - begun

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        print(seconds(*json.loads(line)), flush=True)
        os._exit(0)  # the thread that was given up may go on for long
    status = os.waitpid(pid, 0)[1]
    if status:
        print(f"ended with status {status}", flush=True)
"""
"""Runs each statement in a process of its own, forked from one that has imported everything."""


@pytest.fixture(scope="module")
def runs() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", _RUNS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        yield process


def expensive() -> list[Any]:
    """Statements that take minutes, as parameters."""
    lines = (FOLDER / "expensive.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        pytest.param(dialect, entry["sql"], id=f"{dialect}: {entry['tries']}")
        for entry in map(json.loads, lines)
        for dialect in entry["dialects"]
    ]


@pytest.fixture(scope="module")
def databases(
    duckdb_driver: None, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """A ward in each database, as a path or a URL."""
    databases = write_databases(tmp_path_factory.mktemp("time"), postgres, ward_script())
    return {dialect: str(target) for dialect, target in databases.items()}


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux, which can bound a process's memory")
@pytest.mark.parametrize(("dialect", "sql"), expensive())
def test_the_caller_is_free_in_time(
    dialect: str, sql: str, databases: dict[str, str], runs: subprocess.Popen[str]
) -> None:
    def seconds() -> float:
        assert runs.stdin is not None
        assert runs.stdout is not None
        runs.stdin.write(json.dumps([dialect, databases[dialect], sql, LIMIT]) + "\n")
        return float(runs.stdout.readline())

    once_within(BOUND, seconds)
