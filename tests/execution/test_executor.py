"""The executor reads, within bounds, and does nothing else."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution import ReadOnlyExecutor
from fastsql.execution.executor import QueryTimeoutError

from ..in_time import patiently
from ..worlds.ward import numbered_patients, ward_database

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return ward_database(tmp_path / "ward.sqlite", numbered_patients(10))


def test_rows_come_with_column_names_in_the_order_of_the_query(database: Path) -> None:
    with ReadOnlyExecutor(database) as executor:
        found = executor.run(
            "SELECT subject_id, name AS called FROM patients WHERE subject_id < 2 ORDER BY subject_id DESC"
        )
    assert found.columns == ("subject_id", "called")
    assert found.rows == ((1, "p1"), (0, "p0"))
    assert not found.truncated


def test_more_rows_than_the_limit_are_cut_and_said_to_be(database: Path) -> None:
    with ReadOnlyExecutor(database, row_limit=3) as executor:
        assert executor.run("SELECT subject_id FROM patients").truncated
        assert len(executor.run("SELECT subject_id FROM patients").rows) == 3
        assert not executor.run("SELECT subject_id FROM patients LIMIT 3").truncated


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM patients",
        "INSERT INTO patients VALUES (99, 'F', 'x')",
        "UPDATE patients SET name = ''",
        "CREATE TABLE more (x)",
        "CREATE TEMP TABLE more (x)",
        "DROP TABLE patients",
        "ATTACH DATABASE ':memory:' AS other",
        "PRAGMA user_version",
        "PRAGMA query_only = OFF",
        "SELECT * FROM pragma_table_info('patients')",
        "SELECT sql FROM sqlite_master",
        "SELECT load_extension('x')",
        "SELECT zeroblob(1000000000)",
        "BEGIN",
        "VACUUM",
        "SELECT 1; SELECT 2",
        "SELECT * FROM nowhere",
        "SELEC 1",
        "",
    ],
)
def test_whatever_is_not_plain_reading_is_refused(database: Path, sql: str) -> None:
    before = database.read_bytes()
    with ReadOnlyExecutor(database) as executor, pytest.raises(ExecutionError):
        executor.run(sql)
    assert database.read_bytes() == before


def test_an_endless_query_ends_at_the_time_limit(database: Path) -> None:
    with ReadOnlyExecutor(database, time_limit=0.05) as executor:
        with pytest.raises(QueryTimeoutError, match=r"took longer than 0.05 s"):
            executor.run(ENDLESS)
        assert patiently(lambda: executor.run("SELECT COUNT(*) FROM patients")).rows == ((10,),)


def test_the_time_limit_covers_the_reading_of_rows(database: Path) -> None:
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    def read_all() -> None:
        with executor.cursor(rows) as cursor:
            for _ in cursor:
                pass

    with ReadOnlyExecutor(database, time_limit=0.05) as executor, pytest.raises(QueryTimeoutError):
        read_all()


def test_an_error_shows_no_literal_of_the_query(database: Path) -> None:
    with ReadOnlyExecutor(database) as executor, pytest.raises(ExecutionError) as caught:
        executor.run("SELECT * FROM patients WHERE name = 'Jane Roe' AND AND")
    assert "Jane" not in str(caught.value)


def test_text_that_is_no_utf8_is_read_without_its_bad_bytes(database: Path) -> None:
    with ReadOnlyExecutor(database) as executor:
        assert executor.run("SELECT CAST(x'61ff62' AS TEXT)").rows == (("ab",),)


def test_threads_may_share_an_executor(database: Path) -> None:
    answers: list[object] = []
    with ReadOnlyExecutor(database) as executor:

        def ask() -> None:
            answers.extend(executor.run("SELECT COUNT(*) FROM patients").rows for _ in range(20))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [((10,),)] * 80


def test_a_missing_or_wrong_file_is_an_error_and_is_not_created(tmp_path: Path) -> None:
    missing = tmp_path / "none.sqlite"
    with pytest.raises(ExecutionError, match="no such database"):
        ReadOnlyExecutor(missing)
    assert not missing.exists()
    wrong = tmp_path / "wrong.sqlite"
    wrong.write_text("no database, but long enough to be looked at as one " * 20)
    with pytest.raises(ExecutionError, match="cannot be opened"):
        ReadOnlyExecutor(wrong)


def test_a_path_with_odd_characters_is_taken_literally(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c %20 病房.sqlite"
    sqlite3.connect(path).close()
    path.write_bytes(b"")
    with ReadOnlyExecutor(path) as executor:
        assert executor.run("SELECT 1").rows == ((1,),)
