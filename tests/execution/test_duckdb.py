"""The DuckDB executor on a real database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError, VerificationError
from fastsql.execution import QueryTimeoutError, Rows, open_executor
from fastsql.schema import Schema

TABLES = "CREATE TABLE patients (subject_id INT, name TEXT);"
SCHEMA = Schema.from_ddl(TABLES)


@pytest.fixture(scope="module")
def file(duckdb_driver: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import duckdb

    path = tmp_path_factory.mktemp("duckdb") / "ward 病房.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES + "INSERT INTO patients SELECT i, 'p' || i FROM range(20) AS r(i);")
        connection.execute("CREATE TABLE staff (password TEXT)")
    return path


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
        open_executor(file, schema=SCHEMA) as executor,
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
    with pytest.raises(ExecutionError, match="is not one SELECT"), executor.unverified_cursor(statement):
        pass


def test_a_file_that_somebody_writes_is_an_error(file: Path) -> None:
    import duckdb

    with duckdb.connect(str(file)), pytest.raises(ExecutionError, match="cannot be opened read-only"):
        open_executor(file)
