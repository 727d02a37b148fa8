"""A PostgreSQL server may freeze, end its sessions or send too much: the caller gets a typed error in time, and goes on."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution import QueryTimeoutError, ResultSizeError, open_executor
from fastsql.schema import Schema

from ..databases import PostgresServer
from ..in_time import in_time, patiently

DATABASE = "sessions"
TABLES = "CREATE TABLE notes (note_id INT PRIMARY KEY, text TEXT, scan BYTEA);"
LIMIT = 0.4
BOUND = 1.5 * LIMIT + 1
"""Seconds after which a caller must be free."""
OWN_PID = "SELECT pg_backend_pid()"


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> PostgresServer:
    import psycopg

    postgres.create_database(DATABASE)
    with psycopg.connect(postgres.conninfo(DATABASE), autocommit=True) as connection:
        connection.execute(TABLES)
        connection.execute(
            "INSERT INTO notes SELECT i, repeat('n', 5000) || i, convert_to(repeat('s', 5000), 'UTF8') "
            "FROM generate_series(1, 50) AS i"
        )
    return postgres


@pytest.fixture
def executor(server: PostgresServer) -> Iterator[Any]:
    with open_executor(server.url(DATABASE), time_limit=LIMIT) as executor:
        yield executor


def ask(executor: Any, sql: str) -> Any:
    """The first cell of a query that the verifier would not let pass."""
    with executor.unverified_cursor(sql) as cursor:
        return cursor.fetchmany(1)[0][0]


def own_pid(executor: Any) -> int:
    """The process of the server that answers; a connection is made first where there is none."""
    return int(patiently(lambda: ask(executor, OWN_PID)))


@contextmanager
def frozen(process: int) -> Iterator[None]:
    """A process that does nothing for the time of the block."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def refused_late(executor: Any, sql: str) -> None:
    """Run a query that nobody answers."""
    with pytest.raises(QueryTimeoutError, match=r"took longer than 0\.4 s"):
        ask(executor, sql)


# ---------------------------------------------------------------- a server that does not answer


def ask_a_frozen_backend(executor: Any) -> None:
    """It ends in time, and the next query is another backend's."""
    pids: set[int] = set()
    with ExitStack() as thawing:

        def freeze() -> None:
            pid = own_pid(executor)
            pids.add(pid)
            thawing.enter_context(frozen(pid))

        in_time(BOUND, lambda: refused_late(executor, "SELECT 1"), prepare=freeze)
        assert own_pid(executor) not in pids


def test_a_frozen_backend_holds_nobody_and_its_connection_is_not_used_again(executor: Any) -> None:
    ask_a_frozen_backend(executor)


def test_a_backend_that_freezes_between_two_fetches_holds_nobody(executor: Any) -> None:
    def read_on() -> None:
        with executor.unverified_cursor(f"SELECT generate_series(1, 100000), ({OWN_PID})") as cursor:
            rows = cursor.fetchmany(10)
            assert len(rows) == 10
            with frozen(rows[0][1]):
                cursor.fetchmany(10)

    def be_late() -> None:
        with pytest.raises(QueryTimeoutError, match=r"took longer than 0\.4 s"):
            read_on()

    in_time(BOUND, be_late, prepare=lambda: own_pid(executor))
    assert patiently(lambda: ask(executor, "SELECT 7")) == 7


def test_a_backend_that_freezes_at_the_end_holds_nobody_and_the_answer_counts(executor: Any) -> None:
    with ExitStack() as thawing:
        pids: list[int] = []

        def freeze_at_the_end() -> None:
            with executor.unverified_cursor("SELECT 1"):
                thawing.enter_context(frozen(pids[-1]))

        in_time(BOUND, freeze_at_the_end, prepare=lambda: pids.append(own_pid(executor)))
        assert own_pid(executor) not in pids


def test_connecting_to_what_does_not_answer_ends_in_time(server: PostgresServer) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(server.folder / ".s.PGSQL.1"))
        silent.listen()
        url = f"{server.url(DATABASE)}&port=1"
        with open_executor(url, time_limit=LIMIT) as executor:
            in_time(BOUND, lambda: refused_late(executor, "SELECT 1"))
    (server.folder / ".s.PGSQL.1").unlink()


def test_a_pool_of_somebody_else_that_is_used_up_holds_nobody(server: PostgresServer) -> None:
    from sqlalchemy import create_engine

    engine = create_engine(server.url(DATABASE), pool_size=1, max_overflow=0)
    taken = engine.raw_connection()
    executor = open_executor(engine, time_limit=LIMIT)
    in_time(BOUND, lambda: refused_late(executor, "SELECT 1"))
    taken.close()
    assert patiently(lambda: executor.run("SELECT 1")).rows == ((1,),)
    engine.dispose()


def test_the_server_is_asked_to_cancel_what_was_cut_off(executor: Any, server: PostgresServer) -> None:
    import psycopg

    # The statement's own time-out is taken away, as a function that does not look for it would.
    with ExitStack() as reading:
        cursor = patiently(lambda: reading.enter_context(executor.unverified_cursor("SELECT 1")))
        pid = cursor._cursor.connection.info.backend_pid
        cursor._cursor.connection.execute("SET LOCAL statement_timeout = 0")
        cursor._session._renewed_at = 0.0
        with pytest.raises(QueryTimeoutError):
            cursor._session.call(lambda: cursor._cursor.connection.execute("SELECT pg_sleep(600)"))
    with psycopg.connect(server.conninfo(DATABASE), autocommit=True) as watcher:
        end = time.monotonic() + 20
        while watcher.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone():
            assert time.monotonic() < end, "the backend goes on"


# ---------------------------------------------------------------- a server that ends sessions


def test_after_its_sessions_were_ended_the_next_query_runs(server: PostgresServer) -> None:
    import psycopg

    with open_executor(server.url(DATABASE)) as executor:
        barrier = threading.Barrier(3)

        def hold_one() -> None:
            with executor.unverified_cursor("SELECT 1"):  # type: ignore[attr-defined]
                barrier.wait(30)

        threads = [threading.Thread(target=hold_one) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with psycopg.connect(server.conninfo(DATABASE), autocommit=True) as other:
            ended = other.execute(
                "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
                "WHERE datname = %s AND pid <> pg_backend_pid()",
                [DATABASE],
            ).fetchone()
        assert ended == (3,)
        assert executor.run("SELECT COUNT(*) FROM notes").rows == ((50,),)


def test_a_session_that_ends_within_a_query_is_an_error_that_says_so(executor: Any) -> None:
    with pytest.raises(ExecutionError, match=r"database: the connection was lost \(57P01\). Run it again"):
        patiently(lambda: ask(executor, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(10)"))
    assert patiently(lambda: ask(executor, "SELECT 7")) == 7


def test_no_error_carries_what_the_driver_said(executor: Any, server: PostgresServer) -> None:
    failing = [
        "SELECT CAST('Jane Roe' AS INT)",
        "SELECT 'Jane Roe'::int FROM generate_series(1, 9)",
        "SELECT CASE WHEN i < 5 THEN 1 ELSE ('Jane Roe' || i)::int END FROM generate_series(1, 9) AS i",
        "SELECT 'Jane Roe' FROM nowhere",
        "Jane Roe",
        "SELECT 'Jane Roe\ud800'",
        "SELECT 'Jane Roe', pg_sleep(100)",
        "SELECT 'Jane Roe', pg_terminate_backend(pg_backend_pid()), pg_sleep(10)",
    ]
    for sql in failing:
        with pytest.raises(ExecutionError) as caught, executor.unverified_cursor(sql) as cursor:
            list(cursor)
        assert _chain(caught.value) == [caught.value], sql
        assert "Jane" not in str(caught.value)
    with open_executor("postgresql://me:geheim@/x?host=/nowhere") as nowhere:
        with pytest.raises(ExecutionError) as caught:
            nowhere.run("SELECT 1")
        assert _chain(caught.value) == [caught.value]


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        found = waiting.pop()
        if found is not None and found not in chain:
            chain.append(found)
            waiting += [found.__cause__, found.__context__]
    return chain


# ---------------------------------------------------------------- sizes


def test_a_result_beyond_the_budget_is_refused_and_its_buffers_are_let_go(server: PostgresServer) -> None:
    with open_executor(server.url(DATABASE), byte_limit=100_000) as executor:
        first = ask(executor, OWN_PID)
        with pytest.raises(ResultSizeError, match="byte_limit"):
            executor.run("SELECT text FROM notes")
        assert ask(executor, OWN_PID) != first
        assert executor.run("SELECT text FROM notes LIMIT 5").rows[4][0] == "n" * 5_000 + "5"


def test_long_cells_are_cut_by_the_server_where_that_is_asked_for(server: PostgresServer) -> None:
    sql = 'SELECT note_id, text AS "a ""b", scan FROM notes ORDER BY note_id DESC'
    with open_executor(server.url(DATABASE), cell_limit=10, byte_limit=100_000) as executor:
        found = executor.run(sql)
        assert found.columns == ("note_id", 'a "b', "scan")
        assert found.rows == tuple((number, "n" * 10, b"s" * 10) for number in range(50, 0, -1))
        assert (found.cut, found.truncated) == (100, False)
        # What came over the wire is one more than that, not the whole.
        with executor.unverified_cursor(sql + " ;\n") as cursor:  # type: ignore[attr-defined]
            assert cursor.fetchmany(1) == [(50, "n" * 11, b"s" * 11)]


# ---------------------------------------------------------------- forks


def test_a_forked_child_makes_connections_of_its_own(server: PostgresServer) -> None:
    with open_executor(server.url(DATABASE), schema=Schema.from_ddl(TABLES), time_limit=20) as executor:
        mine = ask(executor, OWN_PID)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                other = ask(executor, OWN_PID)
                counted = executor.run("SELECT COUNT(*) FROM notes").rows == ((50,),)
                code = 0 if other != mine and counted else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ask(executor, OWN_PID) == mine


def test_a_forked_child_is_not_held_by_a_frozen_backend(server: PostgresServer) -> None:
    with open_executor(server.url(DATABASE), time_limit=LIMIT) as executor:
        own_pid(executor)  # the watchdog runs, in this process
        child = os.fork()
        if child == 0:
            code = 1
            try:
                ask_a_frozen_backend(executor)
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
