"""Statements that take minutes or gigabytes: refused before they run or not, in a worker process they end in time.

``expensive.jsonl`` holds a statement a line, with the dialects that know it and what it tries. Here the verifier is left
out: the walls of the worker alone have to hold, also against what it refuses today.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError, VerificationError
from fastsql.execution import Rows, open_executor, verify

from ..databases import PostgresServer
from ..in_time import in_time, patiently
from ..worlds.database import write_databases
from ..worlds.ward import ward_schema, ward_script
from .cases import DIALECTS, FOLDER

LIMIT = 0.2
BOUND = 1.5 * LIMIT + 1
"""Seconds after which the caller must be free."""
MEMORY = 200 * 2**20
MOST_MEMORY = {
    "sqlite": 700 * 2**20,
    "duckdb": 1_000 * 2**20 + (os.cpu_count() or 1) * 48 * 2**20,
    "postgres": 700 * 2**20,
}
"""Bytes of address space that a worker may have at most: what it needs to start, its limit, room for stacks and results."""
VERDICT = 0.5
"""Seconds within which the verifier decides."""


@dataclass(frozen=True)
class Expensive:
    """One statement, in one dialect."""

    sql: str
    tries: str
    dialect: str


def read_expensive() -> list[Any]:
    """The statements as parameters of a test."""
    lines = (FOLDER / "expensive.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        pytest.param(Expensive(entry["sql"], entry["tries"], dialect), id=f"{dialect}: {entry['tries']}")
        for entry in map(json.loads, lines)
        for dialect in entry["dialects"]
    ]


STATEMENTS = read_expensive()


@pytest.fixture(scope="module")
def targets(
    tmp_path_factory: pytest.TempPathFactory, duckdb_driver: None, postgres: PostgresServer
) -> dict[str, Any]:
    """A ward in each database."""
    return write_databases(tmp_path_factory.mktemp("expensive"), postgres, ward_script())


@pytest.fixture(scope="module")
def executors(targets: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if sys.platform != "linux":
        pytest.skip("isolated=True needs Linux")
    opened = {
        dialect: open_executor(
            targets[dialect],
            isolated=True,
            workers=3,
            time_limit=LIMIT,
            memory_limit=MEMORY,
            byte_limit=2**22,
        )
        for dialect in DIALECTS
    }
    yield opened
    for executor in opened.values():
        executor.close()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_caller_is_free_in_time_with_rows_or_a_typed_error(
    statement: Expensive, executors: dict[str, Any]
) -> None:
    executor = executors[statement.dialect]
    largest = 0

    def await_worker() -> None:
        """Those of the statement before were killed."""
        nonlocal largest
        patiently(lambda: executor.run_unverified("SELECT 1"))
        largest = max(map(_limit_of_memory, executor.pids()))

    def attack() -> None:
        try:
            found = executor.run_unverified(statement.sql)
        except ExecutionError as error:
            assert "for a worker process" not in str(error)  # noqa: PT017 - it did run
        else:
            assert isinstance(found, Rows)

    in_time(BOUND, attack, prepare=await_worker)
    assert 0 < largest <= MOST_MEMORY[statement.dialect]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_verifier_decides_at_once_and_lets_no_long_text_be_made(statement: Expensive) -> None:
    refused, seconds = _verdict(statement)
    if seconds >= VERDICT:  # once more: other threads of this process count, too
        seconds = min(seconds, _verdict(statement)[1])
    assert seconds < VERDICT
    # What is left to the walls are joins of many tables, and one search in one text of 64 kB.
    assert refused or "forty times" in statement.tries or "join" in statement.tries or _is_short(statement)


def _verdict(statement: Expensive) -> tuple[bool, float]:
    """Whether the verifier refuses, and the seconds of processor time that it takes."""
    begun = time.process_time()
    try:
        verify(statement.sql, ward_schema(), dialect=statement.dialect)
    except VerificationError:
        return True, time.process_time() - begun
    return False, time.process_time() - begun


def _is_short(statement: Expensive) -> bool:
    return statement.dialect == "postgres" and "c5" not in statement.sql and "'%a%a%a%b'" in statement.sql


def _limit_of_memory(pid: int) -> int:
    """Bytes of address space that the operating system lets a worker that is ready have; 0 for one that still starts."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/limits").read_text(encoding="ascii").splitlines():
            if line.startswith("Max address space"):
                limit = line.split()[4]
                return 0 if limit == "unlimited" else int(limit)
    return 0
