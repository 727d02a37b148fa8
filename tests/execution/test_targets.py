"""The executor that fits a database is found by what is in a file, a URL or an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.errors import DialectError, ExecutionError, LimitError
from fastsql.execution import ReadOnlyExecutor, open_executor

from ..databases import PostgresServer
from ..worlds.ward import ward_database

sqlalchemy = pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return ward_database(tmp_path / "ward.sqlite")


def test_an_sqlite_file_by_path_url_and_engine(file: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    for target in (file, str(file), f"sqlite:///{file}", f"sqlite3:///{file}", engine):
        executor = open_executor(target)
        assert isinstance(executor, ReadOnlyExecutor)
        assert executor.dialect == "sqlite"
        assert executor.run("SELECT COUNT(*) FROM patients").rows == ((2,),)
        executor.close()


def test_the_content_of_a_file_tells_duckdb(duckdb_driver: None, tmp_path: Path) -> None:
    import duckdb

    from fastsql.execution.duckdb import DuckDBExecutor

    path = tmp_path / "ward.db"
    duckdb.connect(str(path)).close()
    for target in (path, f"duckdb:///{path}"):
        executor = open_executor(target)
        assert isinstance(executor, DuckDBExecutor)
        assert executor.dialect == "duckdb"
        assert executor.run("SELECT 1").rows == ((1,),)
        executor.close()


def test_what_cannot_be_opened_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="no such database"):
        open_executor(tmp_path / "none.sqlite")
    with pytest.raises(ExecutionError, match="in memory"):
        open_executor("sqlite://")
    with pytest.raises(ExecutionError, match="not a database URL"):
        open_executor("://")
    with pytest.raises(DialectError, match="'mysql'"):
        open_executor("mysql+pymysql://me:geheim@host/db")


def test_memory_is_bounded_where_the_engine_runs_here(
    duckdb_driver: None, tmp_path: Path, file: Path
) -> None:
    import duckdb

    path = tmp_path / "ward.duckdb"
    duckdb.connect(str(path)).close()
    executor = open_executor(path, memory_limit=50 * 2**20)
    with executor, executor.unverified_cursor("SELECT current_setting('memory_limit')") as cursor:
        assert cursor.fetchmany(1) == [("50.0 MiB",)]
    with open_executor(file, memory_limit=2**30) as executor:
        assert executor.run("SELECT 1").rows == ((1,),)
    with pytest.raises(LimitError, match="memory_limit: PostgreSQL's server decides"):
        open_executor("postgresql://me@/x", memory_limit=2**30)
    for target in (path, file, "postgresql://me@/x"):
        for isolated in (False, True):
            with pytest.raises(LimitError, match="memory_limit: -1 is not a valid limit"):
                open_executor(target, memory_limit=-1, isolated=isolated)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "pg"])
@pytest.mark.parametrize("isolated", [False, True])
def test_postgresql_by_each_of_its_names(postgres: PostgresServer, scheme: str, isolated: bool) -> None:
    executor = open_executor(postgres.url().replace("postgresql+psycopg", scheme), isolated=isolated)
    assert executor.dialect == "postgres"
    assert executor.run("SELECT 1").rows == ((1,),)
    executor.close()
