"""What a result may take is bounded in rows and bytes, and a limit that bounds nothing is refused wherever it is given."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import LimitError
from fastsql.execution import Bounds, ReadOnlyExecutor, ResultSizeError, open_executor
from fastsql.execution.executor import fetch, memory_of

from ..worlds.database import inserted
from ..worlds.ward import ward_database

NO_LIMITS = [0, -5, float("nan"), float("inf"), -float("inf"), True, "10", b"1", [], 10**400]


class Made:
    """A cursor over rows that are made when they are asked for; keeps how many were asked for each time."""

    def __init__(self, row: Callable[[int], tuple[Any, ...]], count: int, width: int = 1) -> None:
        self.description = [(f"c{number}",) for number in range(width)]
        self.asked: list[int] = []
        self._row = row
        self._next, self._count = 0, count

    def fetchmany(self, size: int) -> Sequence[tuple[Any, ...]]:
        self.asked.append(size)
        first, self._next = self._next, min(self._next + size, self._count)
        return [self._row(number) for number in range(first, self._next)]


# ---------------------------------------------------------------- rows and bytes


def test_rows_up_to_the_limit_come_in_order_and_more_are_said_to_be_there() -> None:
    for count in (0, 1, 7, 8, 9, 2_999, 3_000, 3_001, 5_000):
        found = fetch(Made(lambda number: (number,), count), Bounds(row_limit=3_000))
        assert found.rows == tuple((number,) for number in range(min(count, 3_000)))
        assert found.truncated == (count > 3_000)


def test_no_more_rows_are_asked_for_than_one_beyond_the_limit() -> None:
    cursor = Made(lambda number: (number,), 10_000)
    fetch(cursor, Bounds(row_limit=2_500))
    assert sum(cursor.asked) == 2_501


def test_a_result_beyond_the_budget_is_an_error_that_names_it_and_the_remedy() -> None:
    with pytest.raises(ResultSizeError, match=r"more than 2 MiB.*cell_limit.*byte_limit"):
        fetch(Made(lambda number: ("x" * 100_000,), 100), Bounds(byte_limit=2 * 2**20))


@pytest.mark.parametrize("size", [10, 1_000, 100_000, 5_000_000])
def test_fetching_holds_little_more_than_the_budget_whatever_the_rows(size: int) -> None:
    budget = 4 * 2**20
    tracemalloc.start()
    with pytest.raises(ResultSizeError):
        fetch(Made(lambda number: (f"{number:0{size}}",), 10**6), Bounds(byte_limit=budget, row_limit=10**6))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * budget + 8 * size  # the first rows come before anything is known of them


def test_a_wide_row_shrinks_the_next_fetch() -> None:
    cursor = Made(lambda number: ("x" * (10 if number < 100 else 300_000),), 120)
    with pytest.raises(ResultSizeError):
        fetch(cursor, Bounds(byte_limit=2 * 2**20))
    narrow = Made(lambda number: ("x" * 200_000,), 20)
    fetch(narrow, Bounds(byte_limit=8 * 2**20))
    assert max(narrow.asked[1:]) <= 5


def test_memory_is_counted_within_containers() -> None:
    text = "x" * 1_000_000
    for cell in (text, [text], {"a": [text]}, {"a": {text: 1}}, (1, [[text]]), {text}):
        assert 1_000_000 < memory_of([(cell,)]) < 1_010_000


def test_the_estimate_is_what_python_takes() -> None:
    moment = datetime(2100, 1, 1, tzinfo=timezone.utc)
    tracemalloc.start()
    rows = [
        (f"p{number}", number + 1_000, number / 7, Decimal(number) / 3, moment.replace(microsecond=number))
        for number in range(5_000)
    ]
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0.8 < memory_of(rows) / taken < 1.3


def test_long_cells_are_cut_where_that_is_asked_for_and_the_result_says_how_many() -> None:
    row = ("abcdef", b"abcdef", "abc", 1_234_567, None, Decimal("1.23456"))
    found = fetch(Made(lambda number: row, 2, 6), Bounds(cell_limit=3))
    assert found.rows[0] == ("abc", b"abc", "abc", 1_234_567, None, Decimal("1.23456"))
    assert found.cut == 4
    assert not found.truncated
    assert fetch(Made(lambda number: row, 2, 6), Bounds(cell_limit=6)).cut == 0


def test_an_executor_keeps_the_budget_and_works_on(tmp_path: Path) -> None:
    rows = inserted("patients (subject_id, name)", [(number, "n" * 10_000) for number in range(200)])
    path = ward_database(tmp_path / "ward.sqlite", rows)
    with ReadOnlyExecutor(path, byte_limit=2**20) as executor:
        with pytest.raises(ResultSizeError):
            executor.run("SELECT name FROM patients")
        assert executor.run("SELECT COUNT(*) FROM patients").rows == ((200,),)
    with ReadOnlyExecutor(path, byte_limit=2**20, cell_limit=100) as executor:
        found = executor.run("SELECT name FROM patients")
    assert (len(found.rows), found.cut, len(str(found.rows[0][0]))) == (200, 200, 100)


# ---------------------------------------------------------------- limits that are none


@pytest.mark.parametrize("value", NO_LIMITS)
def test_a_time_limit_that_bounds_nothing_is_refused(value: Any, tmp_path: Path) -> None:
    for make in (Bounds, lambda **kind: open_executor(_database(tmp_path), **kind)):
        with pytest.raises(LimitError, match=r"time_limit: .* is not a valid limit. Give"):
            make(time_limit=value)


@pytest.mark.parametrize("name", ["row_limit", "byte_limit", "cell_limit"])
@pytest.mark.parametrize("value", [*NO_LIMITS[:-1], 1.5])
def test_a_count_that_bounds_nothing_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    for make in (Bounds, lambda **kind: open_executor(_database(tmp_path), **kind)):
        with pytest.raises(LimitError, match=f"{name}: .* is not a valid limit. Give a whole number"):
            make(**{name: value})


def test_every_executor_refuses_limits_that_bound_nothing(duckdb_driver: None, tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "ward.duckdb"
    duckdb.connect(str(path)).close()
    for name in ("time_limit", "row_limit", "byte_limit", "cell_limit"):
        with pytest.raises(LimitError, match=name):
            open_executor(path, **{name: -1})  # type: ignore[arg-type]
        with pytest.raises(LimitError, match=name):
            open_executor("postgresql+psycopg://nobody@/nowhere", **{name: -1})  # type: ignore[arg-type]


def test_the_least_and_the_most_are_limits() -> None:
    assert Bounds(time_limit=1e-9, row_limit=1, byte_limit=1, cell_limit=1)
    assert Bounds(time_limit=1_000_000, row_limit=10**30, byte_limit=10**30)


def _database(folder: Path) -> Path:
    path = folder / "empty.sqlite"
    sqlite3.connect(path).close()
    return path
