"""The PostgreSQL executor on a real server: what it reads, where it ends, what READ ONLY does not stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from fastsql.errors import ExecutionError, VerificationError
from fastsql.execution import QueryTimeoutError, Rows, open_executor
from fastsql.schema import Schema

from ..databases import PostgresServer
from ..role_recipe import role_recipe
from ..worlds.ward import ward_ddl, ward_schema, ward_script

ROWS = """
INSERT INTO patients SELECT i, 'F', 'p' || i || '%s' FROM generate_series(1, 20) AS i;
INSERT INTO admissions SELECT i, i, 60, 'w' || i || '%s', TIMESTAMP '2100-01-01' + i * INTERVAL '1 day'
FROM generate_series(1, 20) AS i;
CREATE VIEW wards AS SELECT subject_id AS ward_id FROM patients;
"""
DATABASE = "hospital"


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """The database, with the role of docs/deploying.md, and one that owns all."""
    import psycopg

    postgres.create_database(DATABASE)
    with psycopg.connect(postgres.conninfo(DATABASE), autocommit=True) as connection:
        connection.execute(ward_script(ROWS).encode())
        connection.execute("DROP ROLE IF EXISTS fastsql_reader")
        connection.execute(role_recipe())
        connection.execute("GRANT SELECT ON wards TO fastsql_reader")
    yield postgres
    with psycopg.connect(postgres.conninfo(DATABASE), autocommit=True) as connection:
        connection.execute("DROP OWNED BY fastsql_reader CASCADE")
        connection.execute("DROP ROLE fastsql_reader")


@pytest.fixture
def reader(server: PostgresServer) -> Iterator[Any]:
    with open_executor(server.url(DATABASE, "fastsql_reader"), row_limit=5) as executor:
        yield executor


def test_rows_come_with_their_types(reader: Any) -> None:
    found = reader.run(
        "SELECT ward, admittime FROM admissions WHERE ward LIKE 'w1%' ORDER BY hadm_id LIMIT 1"
    )
    assert found == Rows(("ward", "admittime"), (("w1%s", datetime(2100, 1, 2)),))  # noqa: DTZ001 - the column has no zone


def test_more_rows_than_the_limit_are_cut_and_said_to_be(reader: Any) -> None:
    assert len(reader.run("SELECT name FROM patients").rows) == 5
    assert reader.run("SELECT name FROM patients").truncated
    assert not reader.run("SELECT name FROM patients LIMIT 5").truncated


def test_a_reader_may_go_row_by_row(reader: Any) -> None:
    with reader.cursor("SELECT subject_id FROM patients ORDER BY subject_id") as cursor:
        assert [row[0] for row in cursor] == list(range(1, 21))


def test_with_a_schema_names_are_checked_before_the_server_sees_them(server: PostgresServer) -> None:
    with open_executor(server.url(DATABASE), schema=ward_schema()) as executor:
        assert executor.run("SELECT COUNT(*) FROM patients").rows == ((20,),)
        with pytest.raises(VerificationError, match="not in the schema"):
            executor.run("SELECT password FROM staff")


@pytest.mark.parametrize(
    ("listed", "missing"),
    [
        ("CREATE TABLE patients (subject_id INT, text TEXT)", "patients.text"),
        ("CREATE TABLE patients (subject_id INT, NAME TEXT, dod TEXT)", "patients.dod, patients.NAME"),
        ("CREATE TABLE wards (ward_id INT, name TEXT)", "wards.name"),
        ("CREATE TABLE patients (subject_id INT, ctid TEXT)", "patients.ctid"),
    ],
)
def test_columns_that_the_database_does_not_have_are_found_before_the_first_query(
    server: PostgresServer, listed: str, missing: str
) -> None:
    """PostgreSQL would take `p.text` for `text(p)`, the whole row."""
    url = server.url(DATABASE, "fastsql_reader")
    with open_executor(url, schema=Schema.from_ddl(listed)) as executor:
        for _ in range(2):
            with pytest.raises(ExecutionError, match="does not have these columns of the schema") as caught:
                executor.run("SELECT COUNT(*) FROM " + ("wards" if "wards" in listed else "patients"))
            assert all(name in str(caught.value) for name in missing.split(", "))


def test_views_are_read_and_a_table_that_is_not_there_is_the_servers_to_refuse(
    server: PostgresServer,
) -> None:
    schema = Schema.from_ddl(ward_ddl() + "CREATE TABLE wards (ward_id INT); CREATE TABLE beds (bed_id INT);")
    with open_executor(server.url(DATABASE, "fastsql_reader"), schema=schema) as executor:
        assert executor.run("SELECT COUNT(*) FROM wards").rows == ((20,),)
        assert executor.run("SELECT COUNT(*) FROM patients").rows == ((20,),)
        with pytest.raises(ExecutionError, match="42P01"):
            executor.run("SELECT COUNT(*) FROM beds")


def test_an_error_holds_the_code_and_nothing_of_the_query(reader: Any) -> None:
    with pytest.raises(ExecutionError, match="22P02") as caught:
        reader.run("SELECT name FROM patients WHERE subject_id = CAST('Jane Roe' AS INT)")
    assert "Jane" not in str(caught.value)
    assert reader.run("SELECT COUNT(*) FROM patients").rows == ((20,),)


def test_a_long_query_ends_at_the_time_limit(server: PostgresServer) -> None:
    crossed = ", ".join(f"patients AS p{number}" for number in range(12))
    with open_executor(server.url(DATABASE), time_limit=0.2) as executor:
        with pytest.raises(QueryTimeoutError, match=r"took longer than 0.2 s"):
            executor.run(f"SELECT COUNT(*) FROM {crossed}")
        with pytest.raises(QueryTimeoutError), executor.unverified_cursor("SELECT pg_sleep(60)") as cursor:  # type: ignore[attr-defined]
            cursor.fetchmany(1)


def test_threads_may_share_an_executor(reader: Any) -> None:
    answers: list[object] = []

    def ask() -> None:
        answers.extend(reader.run("SELECT COUNT(*) FROM patients").rows for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [((20,),)] * 20


def test_an_engine_is_left_as_it_was_found(server: PostgresServer) -> None:
    from sqlalchemy import create_engine, text

    engine = create_engine(server.url(DATABASE), pool_size=1, max_overflow=0)
    with open_executor(engine) as executor:
        executor.run("SELECT name FROM patients")
        with engine.begin() as connection:
            connection.execute(text("CREATE TABLE written (x INT)"))
            connection.execute(text("DROP TABLE written"))
            assert connection.execute(text("SHOW statement_timeout")).scalar() == "0"
    engine.dispose()


def test_an_engine_that_commits_by_itself_is_read_only_all_the_same(server: PostgresServer) -> None:
    from sqlalchemy import create_engine

    engine = create_engine(server.url(DATABASE), isolation_level="AUTOCOMMIT")
    executor: Any = open_executor(engine)
    for writing in ("SELECT nextval('s')", "DELETE FROM patients", "COMMIT; DELETE FROM patients"):
        with pytest.raises(ExecutionError), executor.unverified_cursor(writing) as cursor:
            cursor.fetchmany(1)
    assert executor.run("SELECT COUNT(*) FROM patients").rows == ((20,),)
    engine.dispose()


def test_drivers_that_send_several_statements_are_refused(server: PostgresServer) -> None:
    class Engine:
        class dialect:  # noqa: N801 - as SQLAlchemy calls it
            name, driver = "postgresql", "psycopg2"

    from fastsql.execution.postgres import PostgresExecutor

    with pytest.raises(ExecutionError, match="postgresql\\+psycopg2 may send several"):
        PostgresExecutor(Engine())  # type: ignore[arg-type]


def test_a_server_that_cannot_be_reached_is_an_error_without_the_password(tmp_path: Any) -> None:
    pytest.importorskip("psycopg", reason="pip install '.[postgres]' to run this")
    with open_executor(f"postgresql://me:geheim@/x?host={tmp_path}") as executor:
        with pytest.raises(ExecutionError, match="cannot be reached") as caught:
            executor.run("SELECT 1")
        assert "geheim" not in str(caught.value)


# ---------------------------------------------------------------- the role of docs/deploying.md


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO patients VALUES (99, 'F', 'x')",
        "UPDATE patients SET name = 'x'",
        "DELETE FROM patients",
        "TRUNCATE patients",
        "SELECT * FROM staff",
        "CREATE TABLE mine (x INT)",
        "CREATE TEMP TABLE mine (x INT)",
        "CREATE FUNCTION f() RETURNS INT LANGUAGE sql AS 'SELECT 1'",
        "COPY patients TO '/tmp/out'",
        "SELECT lo_create(0)",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_sleep(0)",
        "SELECT pg_notify('a', 'b')",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SET ROLE postgres",
    ],
)
def test_the_role_can_do_no_harm_even_without_read_only(server: PostgresServer, statement: str) -> None:
    import psycopg

    with psycopg.connect(server.conninfo(DATABASE, "fastsql_reader")) as connection:
        connection.execute("SET TRANSACTION READ WRITE")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
        connection.rollback()


def test_the_role_reads_what_it_was_given_and_has_its_time_limits(server: PostgresServer) -> None:
    import psycopg

    with psycopg.connect(server.conninfo(DATABASE, "fastsql_reader")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM patients").fetchone() == (20,)
        assert connection.execute("SHOW statement_timeout").fetchone() == ("15s",)
        assert connection.execute("SHOW default_transaction_read_only").fetchone() == ("on",)


# ---------------------------------------------------------------- what READ ONLY does not stop, as docs/deploying.md says


@pytest.mark.parametrize(
    "call",
    [
        "pg_read_file('PG_VERSION')",
        "pg_ls_dir('.')",
        "pg_advisory_xact_lock(1)",
        "pg_sleep(0)",
        "query_to_xml('SELECT 1', true, true, '')",
        "set_config('statement_timeout', '0', true)",
        "pg_logical_emit_message(true, 'a', 'b')",
        "pg_notify('a', 'b')",
        "pg_reload_conf()",
    ],
)
def test_read_only_lets_a_superuser_call_functions_that_the_verifier_refuses(
    server: PostgresServer, call: str
) -> None:
    with open_executor(server.url(DATABASE)) as executor:
        with executor.unverified_cursor(f"SELECT {call}") as cursor:  # type: ignore[attr-defined]
            assert len(cursor.fetchmany(2)) >= 1
        with pytest.raises(VerificationError, match="function"):
            executor.run(f"SELECT {call}")
