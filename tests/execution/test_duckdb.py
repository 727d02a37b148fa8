"""The DuckDB executor on a real database."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError, FastSQLError, VerificationError
from fastsql.execution import QueryTimeoutError, Rows, open_executor

from ..worlds.ward import numbered_patients, ward_database, ward_schema


@pytest.fixture(scope="module")
def file(duckdb_driver: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ward_database(tmp_path_factory.mktemp("duckdb") / "ward 病房.duckdb", numbered_patients(20))


@pytest.fixture
def executor(file: Path) -> Iterator[Any]:
    with open_executor(file, row_limit=5) as executor:
        yield executor


def test_rows_come_in_the_order_of_the_query(executor: Any) -> None:
    found = executor.run("SELECT subject_id, name AS n FROM patients ORDER BY subject_id DESC LIMIT 2")
    assert found == Rows(("subject_id", "n"), ((19, "p19"), (18, "p18")))


def test_more_rows_than_the_limit_are_cut_and_said_to_be(executor: Any) -> None:
    assert executor.run("SELECT name FROM patients").truncated
    assert not executor.run("SELECT name FROM patients LIMIT 5").truncated


def test_a_reader_may_go_row_by_row(executor: Any) -> None:
    with executor.cursor("SELECT subject_id FROM patients ORDER BY subject_id") as cursor:
        assert [row[0] for row in cursor] == list(range(20))


def test_with_a_schema_names_are_checked(file: Path) -> None:
    with (
        open_executor(file, schema=ward_schema()) as executor,
        pytest.raises(VerificationError, match="not in the schema"),
    ):
        executor.run("SELECT password FROM staff")


def test_a_long_query_ends_at_the_time_limit(file: Path) -> None:
    crossed = ", ".join(f"patients AS p{number}" for number in range(12))
    slow = f"SELECT COUNT(*) FROM {crossed} WHERE p0.name <> p1.name OR p2.name < p3.name"
    with (
        open_executor(file, time_limit=0.2) as executor,
        pytest.raises(QueryTimeoutError, match=r"took longer than 0.2 s"),
    ):
        executor.run(slow)


def test_an_error_holds_nothing_of_the_query(executor: Any) -> None:
    with pytest.raises(ExecutionError, match="ConversionException") as caught:
        executor.run("SELECT name FROM patients WHERE subject_id = CAST('Jane Roe' AS INT)")
    assert "Jane" not in str(caught.value)


@pytest.mark.parametrize(
    "statement", ["SET enable_external_access = true", "SELECT 1; SELECT 2", "CREATE TEMP TABLE t (x INT)"]
)
def test_only_one_select_comes_through(executor: Any, statement: str) -> None:
    with pytest.raises(ExecutionError, match="is not a single SELECT"), executor.unverified_cursor(statement):
        pass


def test_a_file_that_somebody_writes_is_an_error(file: Path) -> None:
    import duckdb

    with duckdb.connect(str(file)), pytest.raises(ExecutionError, match="cannot be opened read-only"):
        open_executor(file)


def test_a_file_that_was_renamed_over_is_read_anew(file: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "ward.duckdb", tmp_path / "other.duckdb"
    shutil.copy(file, path)
    with open_executor(path) as executor, open_executor(path) as second:  # type: ignore[attr-defined]
        assert executor.run("SELECT COUNT(*) FROM patients").rows == ((20,),)
        ward_database(other, numbered_patients(1)).replace(path)
        for one in (executor, second, executor):
            assert one.run("SELECT COUNT(*) FROM patients").rows == ((1,),)
        path.unlink()
        with pytest.raises(ExecutionError, match="no such database"):
            executor.run("SELECT COUNT(*) FROM patients")


@pytest.mark.parametrize("name", ["main", "temp", "memory", "system", 'a b\'s "c".x', "病房"])
def test_a_file_may_have_any_name(file: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.duckdb"
    shutil.copy(file, path)
    with open_executor(path, schema=ward_schema()) as executor:  # type: ignore[attr-defined]
        assert executor.run("SELECT name FROM patients WHERE subject_id = 3").rows == (("p3",),)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 'Jane Roe'; SELECT 2",
        "SELECT CAST('Jane Roe' AS INT)",
        "SELECT 'Jane Roe' FROM nowhere",
        "SELECT 'Jane Roe' FROM",
        "SELECT 'Jane Roe\ud800'",
        "SELECT name FROM patients WHERE name > 'Jane Roe' AND CAST(name AS INT) = 1",
        "SELECT COUNT(*) FROM range(100000000000) WHERE 'Jane Roe' <> ''",
    ],
)
def test_no_error_carries_a_message_of_the_driver(file: Path, statement: str) -> None:
    from fastsql.execution.duckdb import DuckDBExecutor

    def read() -> None:
        with executor.unverified_cursor(statement) as cursor:
            list(cursor)

    with DuckDBExecutor(file, time_limit=0.3) as executor, pytest.raises(ExecutionError) as caught:
        read()
    error: BaseException | None = caught.value
    while error is not None:
        assert "Jane" not in str(error)
        assert isinstance(error, FastSQLError)
        error = error.__cause__ or error.__context__


def test_a_query_that_needs_too_much_memory_says_so(file: Path) -> None:
    from fastsql.execution.duckdb import DuckDBExecutor

    big = "SELECT i, md5(i::TEXT) AS m FROM range(3000000) AS r(i) ORDER BY m, i"
    with (
        DuckDBExecutor(file, memory_limit="20MB", time_limit=60) as executor,
        pytest.raises(ExecutionError, match="ran out of memory"),
        executor.unverified_cursor(big) as cursor,
    ):
        cursor.fetchmany(1)


def test_an_executor_that_nobody_closed_lets_the_interpreter_end_in_silence(file: Path) -> None:
    code = (
        "import sys; from fastsql.execution import open_executor\n"
        "executor = open_executor(sys.argv[1]); print(executor.run('SELECT COUNT(*) FROM patients').rows)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    )
    assert (ended.stdout, ended.stderr) == ("((20,),)\n", "")


def test_what_is_left_of_a_result_is_let_go_of(file: Path) -> None:
    from fastsql.execution.duckdb import DuckDBExecutor

    with DuckDBExecutor(file, connections=1) as executor:
        with executor.unverified_cursor("SELECT i FROM range(1000000) AS r(i)") as cursor:
            assert cursor.fetchmany(2) == [(0,), (1,)]
        (worker,) = executor._workers.idle
        assert worker._held[0]._connection is None
        assert executor.run("SELECT COUNT(*) FROM patients").rows == ((20,),)
