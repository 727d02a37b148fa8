"""Real databases: many threads and executors hold few connections, and whatever ends a query, its connection is not lost."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError, LimitError
from fastsql.execution import QueryTimeoutError, open_executor
from fastsql.execution.connections import CONNECTIONS, ConnectionsBusyError
from fastsql.execution.executor import too_late
from fastsql.execution.postgres_connections import PostgresConnections

from ..databases import PostgresServer
from ..in_time import patiently
from ..interrupts import interrupted
from ..role_recipe import role_recipe
from ..worlds.ward import numbered_patients, ward_database, ward_schema, ward_script

DATABASE, READER = "shared", "fastsql_reader"
ROWS = numbered_patients(100)
COUNT = "SELECT COUNT(*) FROM patients"
CROSSED = " FROM " + ", ".join(f"patients AS p{number}" for number in range(12))
ENDLESS = "SELECT COUNT(*)" + CROSSED
PROCESS = ("sqlite", "duckdb", "postgres")
KINDS = [
    *PROCESS,
    *(
        pytest.param(f"isolated {dialect}", marks=pytest.mark.skipif(sys.platform != "linux", reason="Linux"))
        for dialect in PROCESS
    ),
]
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A database with the role of docs/deploying.md, which may connect eight times."""
    import psycopg

    postgres.create_database(DATABASE)
    recipe = role_recipe().replace("ON DATABASE hospital", f"ON DATABASE {DATABASE}")
    with psycopg.connect(postgres.conninfo(DATABASE), autocommit=True) as connection:
        connection.execute(ward_script(ROWS).encode())
        connection.execute(f"DROP ROLE IF EXISTS {READER}")
        connection.execute(recipe)
    assert "CONNECTION LIMIT 8" in recipe
    yield postgres
    with psycopg.connect(postgres.conninfo(DATABASE), autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {READER} CASCADE")
        connection.execute(f"DROP ROLE {READER}")


@pytest.fixture
def watch(server: PostgresServer) -> Iterator[Callable[[], list[str]]]:
    """Gives the states of the role's sessions, as the superuser sees them."""
    import psycopg

    with psycopg.connect(server.conninfo(DATABASE), autocommit=True) as connection:
        yield lambda: [
            state
            for (state,) in connection.execute(
                "SELECT state FROM pg_stat_activity WHERE usename = %s", [READER]
            ).fetchall()
        ]


@pytest.fixture(scope="module")
def targets(
    tmp_path_factory: pytest.TempPathFactory, duckdb_driver: None, server: PostgresServer
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("shared")
    return {
        "sqlite": ward_database(folder / "ward.sqlite", ROWS),
        "duckdb": ward_database(folder / "ward.duckdb", ROWS),
        "postgres": server.url(DATABASE, READER),
    }


@pytest.fixture(params=KINDS)
def one(request: pytest.FixtureRequest, targets: dict[str, Any]) -> Iterator[Open]:
    """Opens executors of one kind that share one connection."""
    where, _, dialect = request.param.rpartition(" ")
    alone = {"isolated": True, "workers": 1, "connections": 1} if where else {"connections": 1}
    with ExitStack() as opened:
        yield lambda **settings: opened.enter_context(open_executor(targets[dialect], **alone, **settings))


def together(*works: Callable[[], object]) -> list[BaseException]:
    """What pieces of work raise that are done at the same time."""
    caught: list[BaseException] = []

    def do(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told to the test
            caught.append(error)

    threads = [threading.Thread(target=do, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return caught


# ---------------------------------------------------------------- a bounded number


@pytest.mark.parametrize("executors", [1, 6])
def test_twelve_threads_get_on_with_a_role_that_may_connect_eight_times(
    executors: int, targets: dict[str, Any], watch: Callable[[], list[str]]
) -> None:
    with ExitStack() as opened:
        several: list[Any] = [
            opened.enter_context(open_executor(targets["postgres"], time_limit=60))  # type: ignore[type-var]
            for _ in range(executors)
        ]

        def ask(executor: Any) -> None:
            for _ in range(20):
                assert executor.run(COUNT).rows == ((100,),)

        assert together(*(lambda e=several[n % executors]: ask(e) for n in range(12))) == []  # type: ignore[misc]
        assert 1 <= len(watch()) <= CONNECTIONS


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_executors_on_one_file_hold_four_connections_together(dialect: str, targets: dict[str, Any]) -> None:
    with ExitStack() as opened:
        several: list[Any] = [
            opened.enter_context(open_executor(targets[dialect], time_limit=60, row_limit=number + 1))  # type: ignore[type-var]
            for number in range(6)
        ]
        quota = several[0]._workers.quota
        most = 0

        def ask(executor: Any) -> None:
            nonlocal most
            for _ in range(20):
                with executor.cursor(COUNT) as cursor:
                    assert cursor.fetchmany(2) == [(100,)]
                    most = max(most, sum(len(pool.idle) + len(pool.busy()) for pool in list(quota.pools)))

        assert together(*(lambda e=several[n % 6]: ask(e) for n in range(12))) == []  # type: ignore[misc]
        assert len(quota.pools) == 6
        assert 1 <= most <= CONNECTIONS


@pytest.mark.skipif(sys.platform != "linux", reason="isolated=True needs Linux")
def test_isolated_executors_of_several_schemas_hold_four_workers_together(
    targets: dict[str, Any], watch: Callable[[], list[str]]
) -> None:
    schemas = [ward_schema("patients"), ward_schema("admissions"), ward_schema("patients", "admissions")]
    with ExitStack() as opened:
        several: list[Any] = [
            opened.enter_context(  # type: ignore[type-var]
                open_executor(targets["postgres"], schema=schema, isolated=True, workers=2, time_limit=60)
            )
            for schema in schemas
        ]
        for _ in range(2):
            for executor, table in zip(several, ("patients", "admissions", "patients"), strict=True):
                assert len(executor.run(f"SELECT COUNT(*) FROM {table}").rows) == 1
        assert sum(len(executor.pids()) for executor in several) <= CONNECTIONS
        assert len(watch()) <= CONNECTIONS


@pytest.mark.skipif(sys.platform != "linux", reason="isolated=True needs Linux")
def test_isolated_executors_that_are_set_up_alike_share_their_workers(targets: dict[str, Any]) -> None:
    with open_executor(targets["sqlite"], isolated=True, workers=2) as first:
        pids = set(first.pids())
        with open_executor(targets["sqlite"], isolated=True, workers=2) as second:
            assert second.run(COUNT).rows == ((100,),)
            assert {*first.pids(), *second.pids()} == pids
        assert first.run(COUNT).rows == ((100,),)
        assert set(first.pids()) == pids


def test_who_finds_all_in_use_waits_for_his_turn_and_is_told_at_the_time_limit(one: Open) -> None:
    executor, hasty = one(time_limit=60), one(time_limit=0.05)
    with executor.cursor(COUNT):
        with pytest.raises(ConnectionsBusyError, match=r"number of (connections|workers)"):
            hasty.run(COUNT)
        served: list[object] = []
        thread = threading.Thread(target=lambda: served.append(executor.run(COUNT).rows))
        thread.start()
    thread.join()
    assert served == [((100,),)]


def test_a_server_that_takes_no_more_is_asked_again_until_the_time_limit(
    server: PostgresServer, targets: dict[str, Any]
) -> None:
    import psycopg

    with ExitStack() as others, open_executor(targets["postgres"], time_limit=3) as hasty:
        for _ in range(8):
            others.enter_context(psycopg.connect(server.conninfo(DATABASE, READER)))
        with pytest.raises(ConnectionsBusyError, match="the server takes no more connections of this role"):
            hasty.run(COUNT)
        with open_executor(targets["postgres"], time_limit=60) as patient:
            done = threading.Thread(target=others.close)
            caught = together(lambda: patient.run(COUNT), done.start)
            done.join()
        assert caught == []
        assert patiently(lambda: hasty.run(COUNT)).rows == ((100,),)


def test_a_server_that_said_no_is_busy_though_time_ran_out_while_it_was_asked_again(
    targets: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[QueryTimeoutError] = [ConnectionsBusyError("no more"), too_late(60)]

    def opened(connections: PostgresConnections, lease: Any, _: object) -> None:
        connections._pool.end(lease, keep=False)
        raise answers.pop(0)

    monkeypatch.setattr(PostgresConnections, "_opened", opened)
    with open_executor(targets["postgres"], time_limit=60) as executor:
        with pytest.raises(ConnectionsBusyError, match="no more"):
            executor.run(COUNT)
        assert answers == []
        answers.append(too_late(60))
        with pytest.raises(QueryTimeoutError) as caught:
            executor.run(COUNT)
        assert not isinstance(caught.value, ConnectionsBusyError), "who never answered is not busy"


def test_the_pool_of_an_engine_that_is_given_has_bounds_of_its_own(server: PostgresServer) -> None:
    from sqlalchemy import create_engine

    engine = create_engine(server.url(DATABASE), pool_size=1, max_overflow=0)
    with pytest.raises(LimitError, match="connections: an engine's own pool says how many"):
        open_executor(engine, connections=2)
    with open_executor(engine, time_limit=60) as executor:
        assert together(*[lambda: executor.run(COUNT)] * 6) == []
    engine.dispose()


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_a_number_of_connections_that_is_none_is_refused(number: Any, targets: dict[str, Any]) -> None:
    for dialect in PROCESS:
        with pytest.raises(LimitError, match="connections"):
            open_executor(targets[dialect], connections=number)


# ---------------------------------------------------------------- queries that end before they are done


def test_queries_that_reach_their_time_limit_leave_the_connection_to_others(one: Open) -> None:
    hasty, executor = one(time_limit=0.05), one(time_limit=60)
    for _ in range(3):
        with pytest.raises(QueryTimeoutError):
            hasty.run(ENDLESS)
    assert executor.run(COUNT).rows == ((100,),)


def test_an_interrupt_leaves_the_connection_to_others(one: Open) -> None:
    executor = one(time_limit=60)
    with interrupted():
        executor.run(ENDLESS)
    assert executor.run(COUNT).rows == ((100,),)


def test_closing_an_executor_ends_its_query_and_leaves_the_connection_to_others(one: Open) -> None:
    closing, executor = one(time_limit=60), one(time_limit=60)
    begun = threading.Event()

    def read() -> None:
        with closing.cursor("SELECT subject_id FROM patients") as cursor:
            begun.set()
            while True:
                cursor.fetchmany(1)

    def close() -> None:
        begun.wait(60)
        closing.close()

    caught = together(read, close)
    assert [str(error) for error in caught] == ["executor: is closed. Open another."]
    assert executor.run(COUNT).rows == ((100,),)
    with pytest.raises(ExecutionError, match="is closed"):
        closing.run(COUNT)


def test_a_query_that_computes_is_ended_too_when_its_executor_is_closed(one: Open) -> None:
    closing, executor = one(time_limit=60), one(time_limit=60)
    thread = threading.Timer(0.2, closing.close)
    thread.start()
    with pytest.raises(ExecutionError, match=r"executor: is closed\. Open another"):
        closing.run(ENDLESS)
    thread.join()
    assert executor.run(COUNT).rows == ((100,),)


def test_a_cursor_that_nobody_ends_loses_its_connection_after_its_time(one: Open) -> None:
    executor = one(time_limit=0.3)
    abandoned = executor.cursor("SELECT subject_id FROM patients")
    cursor = patiently(abandoned.__enter__)
    assert patiently(lambda: executor.run(COUNT)).rows == ((100,),)
    with pytest.raises(ExecutionError):
        cursor.fetchmany(1)
    abandoned.__exit__(None, None, None)
    assert patiently(lambda: executor.run(COUNT)).rows == ((100,),)


def test_the_server_stops_to_work_on_a_query_whose_executor_was_closed(
    targets: dict[str, Any], watch: Callable[[], list[str]]
) -> None:
    executor = open_executor(targets["postgres"], time_limit=60)
    thread = threading.Timer(0.2, executor.close)
    thread.start()
    with pytest.raises(ExecutionError, match="is closed"):
        executor.run(ENDLESS)
    thread.join()
    while "active" in watch():
        os.sched_yield()


def test_a_thread_that_gave_up_while_it_waited_takes_nobodys_turn(one: Open, tmp_path: Path) -> None:
    executor, hasty = one(time_limit=60), one(time_limit=0.05)
    served: list[object] = []
    with executor.cursor(COUNT):
        late = together(*[lambda: hasty.run(COUNT)] * 3)
        thread = threading.Thread(target=lambda: served.append(executor.run(COUNT).rows))
        thread.start()
    thread.join()
    assert [type(error) for error in late] == [ConnectionsBusyError] * 3
    assert served == [((100,),)]
