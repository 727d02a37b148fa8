"""Queries in processes of their own: the same answers, and whatever happens to such a process, a typed error in time."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError, FastSQLError, LimitError, VerificationError
from fastsql.execution import QueryTimeoutError, ResultSizeError, WorkerDiedError, open_executor
from fastsql.execution.isolation.isolated import IsolatedExecutor
from fastsql.schema import Schema

from ..databases import PostgresServer
from ..in_time import in_time, once_within, patiently
from ..interrupts import interrupted
from ..worlds.database import write_databases
from ..worlds.ward import ward_database, ward_schema, ward_script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolated=True needs Linux")

SCHEMA = ward_schema()
ALL = "SELECT lab_id, label, valuenum, charttime FROM labs ORDER BY lab_id"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
LIMIT = 0.4
BOUND = 1.5 * LIMIT + 1
"""Seconds after which a caller must be free."""


@pytest.fixture(scope="module")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ward_database(tmp_path_factory.mktemp("isolated") / "ward.sqlite")


@pytest.fixture(scope="module")
def databases(
    tmp_path_factory: pytest.TempPathFactory, duckdb_driver: None, postgres: PostgresServer
) -> dict[str, Any]:
    """One database of each kind, all with the same rows."""
    return write_databases(tmp_path_factory.mktemp("isolated"), postgres, ward_script())


@pytest.fixture
def executor(sqlite_file: Path) -> Iterator[Any]:
    with open_executor(sqlite_file, isolated=True, time_limit=LIMIT, workers=1) as executor:
        yield executor


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something becomes true in so many seconds; looks again and again, since nobody tells."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


def answers(executor: Any) -> bool:
    """Whether an executor answers, as soon as another worker has started."""
    return bool(patiently(lambda: executor.run("SELECT 1")).rows == ((1,),))


def refused_late(executor: Any, sql: str) -> None:
    """Run a query that does not end."""
    with pytest.raises(QueryTimeoutError, match=r"took longer than 0\.4 s"):
        executor.run(sql)


def is_gone(pid: int) -> bool:
    """Whether a process has ended, be it waited for or not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "Z" and len(list(Path(f"/proc/{pid}/task").iterdir())) == 1
    except (FileNotFoundError, ProcessLookupError):
        return True


# ---------------------------------------------------------------- the same as in one process


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_answers_and_errors_are_those_of_an_executor_in_this_process(
    dialect: str, databases: dict[str, Any]
) -> None:
    target = databases[dialect]
    with (
        open_executor(target, schema=SCHEMA, row_limit=2, cell_limit=2) as here,
        open_executor(target, schema=SCHEMA, row_limit=2, cell_limit=2, isolated=True) as there,
    ):
        for sql in (
            ALL,
            ALL + " LIMIT 1",
            "SELECT COUNT(*) FROM patients",
            "SELECT 1 FROM patients WHERE 1 = 2",
        ):
            assert there.run(sql) == here.run(sql)
        assert there.run(ALL).truncated
        assert there.run(ALL).cut >= 2
        for sql in (
            "SELECT password FROM staff",
            "SELECT nothing FROM patients",
            "DELETE FROM patients",
            "(",
        ):
            errors = []
            for executor in (here, there):
                with pytest.raises(FastSQLError) as caught:
                    executor.run(sql)
                errors.append((type(caught.value), str(caught.value)))
            assert errors[0] == errors[1]
            assert errors[0][0] is VerificationError


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_a_reader_may_go_row_by_row_and_stop(dialect: str, databases: dict[str, Any]) -> None:
    with open_executor(databases[dialect], schema=SCHEMA, isolated=True, workers=1) as executor:
        pids = executor.pids()  # type: ignore[attr-defined]
        with executor.cursor(ALL) as cursor:
            assert [entry[0] for entry in cursor.description] == ["lab_id", "label", "valuenum", "charttime"]
            assert len(cursor.fetchmany(1)) == 1
            assert [row[0] for row in cursor] == [2, 3]
            assert cursor.fetchmany(1) == []
        with pytest.raises(KeyError), executor.cursor(ALL) as cursor:
            raise KeyError
        assert len(executor.run(ALL).rows) == 3
        assert executor.pids() == pids  # type: ignore[attr-defined]


def test_the_authorizer_in_the_worker_lets_through_only_what_the_schema_names(sqlite_file: Path) -> None:
    with open_executor(sqlite_file, schema=SCHEMA, isolated=True, workers=1) as executor:
        for sql in ("SELECT password FROM staff", "SELECT * FROM sqlite_master", "DELETE FROM patients"):
            with pytest.raises(ExecutionError, match="failed"):
                executor.run_unverified(sql)  # type: ignore[attr-defined]
        assert executor.run_unverified(ALL).rows[0][1] == "sodium"  # type: ignore[attr-defined]


def test_columns_that_postgres_does_not_have_are_refused_in_the_worker(databases: dict[str, Any]) -> None:
    schema = Schema.from_ddl("CREATE TABLE patients (subject_id INT, text TEXT)")
    executor = open_executor(databases["postgres"], schema=schema, isolated=True, workers=1)
    with executor, pytest.raises(ExecutionError, match=r"patients\.text"):
        executor.run("SELECT subject_id FROM patients")


def test_large_results_come_in_parts_and_in_order(sqlite_file: Path) -> None:
    sql = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) "
        "SELECT i, '" + "x" * 1_000 + "' || i FROM n"
    )
    with open_executor(sqlite_file, isolated=True, workers=1) as executor:
        found = executor.run(sql)
        assert found.rows == tuple((number, "x" * 1_000 + str(number)) for number in range(1, 9001))
        with executor.cursor(sql) as cursor:
            assert [row[0] for row in cursor] == list(range(1, 9001))


def test_a_result_beyond_the_budget_is_refused_before_it_is_sent(sqlite_file: Path) -> None:
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT '%s' || i FROM n"
    sql = sql.replace("%s", "x" * 100_000)
    with open_executor(sqlite_file, isolated=True, workers=1, byte_limit=10**6) as executor:
        with pytest.raises(ResultSizeError, match="byte_limit"):
            executor.run(sql)
        with executor.cursor(sql) as cursor, pytest.raises(ResultSizeError):
            cursor.fetchmany(100)
        assert executor.run("SELECT 1").rows == ((1,),)


# ---------------------------------------------------------------- time


def test_an_endless_query_ends_in_time_and_the_next_one_runs(executor: Any) -> None:
    for _ in range(2):
        in_time(BOUND, lambda: refused_late(executor, ENDLESS), prepare=lambda: answers(executor))
    assert answers(executor)


def test_a_worker_that_does_nothing_any_more_is_killed(executor: Any) -> None:
    stopped: list[int] = []

    def stop() -> None:
        assert answers(executor)
        stopped.extend(executor.pids())
        os.kill(stopped[-1], signal.SIGSTOP)

    in_time(BOUND, lambda: refused_late(executor, "SELECT 1"), prepare=stop)
    assert all(within(20, lambda pid=pid: is_gone(pid)) for pid in stopped)  # type: ignore[misc]
    assert answers(executor)


def test_a_worker_that_stops_between_fetches_is_killed(executor: Any) -> None:
    stopped: list[int] = []

    def stop_between() -> None:
        stopped.extend(executor.pids())
        with pytest.raises(QueryTimeoutError):
            fetch_and_signal(executor, stopped[-1], signal.SIGSTOP)

    in_time(BOUND, stop_between, prepare=lambda: answers(executor))
    assert all(within(20, lambda pid=pid: is_gone(pid)) for pid in stopped)  # type: ignore[misc]


def test_a_process_that_the_system_is_slow_to_end_holds_its_caller_once_and_is_not_used_again(
    executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (worker,) = executor._pool._all
    waited: list[float] = []

    def wait(timeout: float) -> int:
        waited.append(timeout)
        raise subprocess.TimeoutExpired("worker", timeout)

    with monkeypatch.context() as slow:
        slow.setattr(worker._process, "wait", wait)
        slow.setattr(worker._process, "poll", lambda: None)
        refused_late(executor, ENDLESS)
    assert sum(waited) <= 0.25
    assert worker not in executor._pool._all
    assert answers(executor)


def fetch_and_signal(executor: Any, pid: int, number: int) -> None:
    """Send a signal to a worker between two fetches."""
    with executor.cursor(ENDLESS.replace("COUNT(*)", "i")) as cursor:
        assert len(cursor.fetchmany(5)) == 5
        os.kill(pid, number)
        cursor.fetchmany(5)


def test_a_frozen_server_holds_neither_caller_nor_worker(databases: dict[str, Any]) -> None:
    with open_executor(databases["postgres"], isolated=True, workers=1, time_limit=LIMIT) as executor:
        raw: Any = executor
        frozen: list[int] = []

        def backend() -> int:
            return int(patiently(lambda: raw.run_unverified("SELECT pg_backend_pid()")).rows[0][0])

        def freeze() -> None:
            frozen.append(backend())
            os.kill(frozen[-1], signal.SIGSTOP)

        try:
            in_time(BOUND, lambda: refused_late(executor, "SELECT 1"), prepare=freeze)
            assert answers(executor)
            assert backend() not in frozen
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)


def test_more_callers_than_workers_wait_for_their_turn(sqlite_file: Path) -> None:
    answers: list[object] = []
    with open_executor(sqlite_file, isolated=True, workers=2) as executor:

        def ask(number: int) -> None:
            answers.extend(executor.run(f"SELECT {number}").rows[0][0] == number for _ in range(20))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [True] * 160
        assert len(executor.pids()) == 2  # type: ignore[attr-defined]


def test_who_waits_for_a_worker_too_long_is_told_so(executor: Any) -> None:
    def seconds() -> float:
        with ExitStack() as held:
            patiently(lambda: held.enter_context(executor.cursor("SELECT 1")))
            begun = time.monotonic()
            with pytest.raises(QueryTimeoutError, match=r"for a worker process.*number of workers"):
                executor.run("SELECT 1")
            return time.monotonic() - begun

    once_within(BOUND, seconds)


def test_an_interrupt_ends_the_query_and_its_worker(sqlite_file: Path) -> None:
    with open_executor(sqlite_file, isolated=True, workers=1, time_limit=60) as executor:
        (pid,) = executor.pids()  # type: ignore[attr-defined]
        with interrupted():
            executor.run(ENDLESS)
        assert is_gone(pid)
        assert executor.run("SELECT 1").rows == ((1,),)


# ---------------------------------------------------------------- deaths


def test_a_worker_that_is_killed_within_a_query_is_a_typed_error(sqlite_file: Path) -> None:
    with open_executor(sqlite_file, isolated=True, workers=1, time_limit=30) as executor:
        (pid,) = executor.pids()  # type: ignore[attr-defined]
        with pytest.raises(WorkerDiedError, match=r"ended \(SIGKILL\)"):
            fetch_and_signal(executor, pid, signal.SIGKILL)
        assert executor.run("SELECT 1").rows == ((1,),)
        assert executor.pids() != [pid]  # type: ignore[attr-defined]


def test_a_worker_that_died_while_it_had_nothing_to_do_is_nobodys_error(sqlite_file: Path) -> None:
    with open_executor(sqlite_file, isolated=True, workers=2) as executor:
        raw: Any = executor
        for _ in range(3):
            for pid in raw.pids():
                os.kill(pid, signal.SIGKILL)
                assert within(10, lambda pid=pid: is_gone(pid))  # type: ignore[misc]
            assert executor.run("SELECT 1").rows == ((1,),)


def test_memory_beyond_the_limit_is_an_error_and_the_process_never_holds_it(
    databases: dict[str, Any],
) -> None:
    bombs = {
        "duckdb": "SELECT length(string_agg(repeat('x', 1000000) || i, '')) FROM range(100000) AS t(i)",
        "sqlite": "SELECT COUNT(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        f"SELECT DISTINCT '{'x' * 900_000}' || i FROM n)",
        "postgres": "SELECT repeat('x', 200000000)",
    }
    for dialect, sql in bombs.items():
        with open_executor(
            databases[dialect],
            isolated=True,
            workers=1,
            memory_limit=100 * 2**20,
            time_limit=20,
            byte_limit=2**20,
        ) as executor:
            raw: Any = executor
            largest = 0
            watched = threading.Event()

            def watch(raw: Any = raw, watched: threading.Event = watched) -> None:
                nonlocal largest
                while not watched.is_set():
                    largest = max([largest, *map(resident, raw.pids())])
                    watched.wait(0.005)

            watcher = threading.Thread(target=watch)
            watcher.start()
            with pytest.raises(ExecutionError) as caught:
                raw.run_unverified(sql)
            watched.set()
            watcher.join()
            assert not isinstance(caught.value, QueryTimeoutError), dialect
            assert 0 < largest < 900 * 2**20, dialect
            assert raw.run_unverified("SELECT 1").rows == ((1,),)


def test_nothing_is_spilled_to_a_disk(databases: dict[str, Any]) -> None:
    files = set(databases["duckdb"].parent.iterdir())
    sql = "SELECT COUNT(DISTINCT repeat('x', 100) || i) FROM range(1000000) AS t(i)"
    executor: Any = open_executor(databases["duckdb"], isolated=True, workers=1, memory_limit=30 * 2**20)
    with executor, pytest.raises(ExecutionError, match="ran out of memory"):
        executor.run_unverified(sql)
    assert set(databases["duckdb"].parent.iterdir()) == files
    assert not Path("/.tmp").exists()  # a worker's working folder, where DuckDB would put it


def resident(pid: int) -> int:
    """Bytes of memory that a process has; 0 where it has ended."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    return 0


@pytest.mark.parametrize("workers", [1, 3])
def test_a_database_that_is_gone_is_an_error_each_time_and_no_crash_loop(
    workers: int, tmp_path: Path
) -> None:
    path = tmp_path / "ward.sqlite"
    sqlite3.connect(path).executescript("CREATE TABLE t (a INT)").connection.close()
    with open_executor(path, isolated=True, workers=workers) as executor:
        raw: Any = executor
        path.unlink()
        for pid in raw.pids():
            os.kill(pid, signal.SIGKILL)
        for _ in range(3):
            with pytest.raises(ExecutionError):
                executor.run("SELECT COUNT(*) FROM t")
            assert len(raw.pids()) <= workers
        sqlite3.connect(path).executescript("CREATE TABLE t (a INT)").connection.close()
        assert within(20, lambda: _counts_none(executor))


def _counts_none(executor: Any) -> bool:
    with suppress(ExecutionError):
        return bool(executor.run("SELECT COUNT(*) FROM t").rows == ((0,),))
    return False


def test_a_worker_that_cannot_start_is_an_error_that_says_so(
    sqlite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkerDiedError, match=r"did not start \(exit status 1\)"):
        open_executor(sqlite_file, isolated=True)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ExecutionError, match=r"cannot be started \(FileNotFoundError\)"):
        open_executor(sqlite_file, isolated=True)
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(ExecutionError, match=r"isolated=True: .* Set sys.executable"):
        open_executor(sqlite_file, isolated=True)


def test_a_system_that_bounds_no_process_is_refused(
    sqlite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ExecutionError, match="isolated=True: this system cannot limit the memory"):
        open_executor(sqlite_file, isolated=True)


def test_an_answer_longer_than_the_budget_allows_is_not_read(executor: Any) -> None:
    (worker,) = executor._pool._all
    worker._longest = 20
    with pytest.raises(WorkerDiedError):
        executor.run("SELECT 'more than twenty bytes'")
    assert answers(executor)


def test_what_cannot_be_opened_is_refused_at_once(tmp_path: Path, postgres: PostgresServer) -> None:
    from sqlalchemy import create_engine

    with pytest.raises(ExecutionError, match="no such database"):
        open_executor(tmp_path / "none.sqlite", isolated=True)
    with pytest.raises(ExecutionError, match="an engine cannot be passed to another process"):
        open_executor(create_engine(postgres.url()), isolated=True)
    for setting in ({"workers": 0}, {"workers": True}, {"memory_limit": -1}, {"memory_limit": float("nan")}):
        with pytest.raises(LimitError, match=next(iter(setting))):
            open_executor(tmp_path / "none.sqlite", isolated=True, **setting)  # type: ignore[arg-type]


# ---------------------------------------------------------------- ends


def test_closing_ends_the_workers_and_the_queries_that_run(sqlite_file: Path) -> None:
    executor: Any = open_executor(sqlite_file, isolated=True, workers=2, time_limit=60)
    pids = executor.pids()
    caught: list[BaseException] = []
    begun = threading.Barrier(2)

    def read() -> None:
        try:
            with executor.cursor(ENDLESS.replace("COUNT(*)", "i")) as cursor:
                begun.wait(20)
                while cursor.fetchmany(100):
                    pass
        except ExecutionError as error:
            caught.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    begun.wait(20)
    executor.close()
    reader.join(20)
    assert [str(error) for error in caught] == ["executor: is closed. Open another."]
    assert all(is_gone(pid) for pid in pids)
    with pytest.raises(ExecutionError, match="is closed"):
        executor.run("SELECT 1")
    executor.close()


def test_an_executor_that_is_forgotten_leaves_no_process(sqlite_file: Path) -> None:
    executor: Any = open_executor(sqlite_file, isolated=True, workers=1)
    (pid,) = executor.pids()
    del executor
    gc.collect()
    assert is_gone(pid)


@pytest.mark.parametrize(
    "ending", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)", "executor.run(ENDLESS)"]
)
def test_workers_end_with_the_process_that_started_them(ending: str, sqlite_file: Path) -> None:
    script = (
        "import os, signal; from fastsql.execution import open_executor\n"
        f"ENDLESS = {ENDLESS!r}\n"
        f"executor = open_executor({str(sqlite_file)!r}, isolated=True, time_limit=1.0)\n"
        "print(*executor.pids(), flush=True)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.3)\n" * (ending == "executor.run(ENDLESS)")
    )
    script = script or (
        "import os; from fastsql.execution import open_executor\n"
        f"executor = open_executor({str(sqlite_file)!r}, isolated=True)\n"
        "print(*executor.pids(), flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script + ending], capture_output=True, text=True, check=False
    )
    pids = list(map(int, done.stdout.split()))
    assert len(pids) == 2, done.stderr
    assert all(within(10, lambda pid=pid: is_gone(pid)) for pid in pids)  # type: ignore[misc]


def test_a_forked_child_has_workers_of_its_own(sqlite_file: Path) -> None:
    with open_executor(sqlite_file, isolated=True, workers=1, time_limit=20) as executor:
        raw: Any = executor
        mine = raw.pids()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                answered = executor.run("SELECT 1").rows == ((1,),)
                own = raw.pids()
                executor.close()
                code = 0 if answered and own != mine and is_gone(own[0]) and not is_gone(mine[0]) else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert executor.run("SELECT 1").rows == ((1,),)
        assert raw.pids() == mine


# ---------------------------------------------------------------- what a worker is given


def test_a_worker_is_started_with_no_password_no_descriptor_and_no_right_to_more(
    postgres: PostgresServer, sqlite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "geheim-1")
    monkeypatch.setenv("SOME_TOKEN", "geheim-2")
    url = postgres.url().replace("postgres@", "postgres:geheim-3@")
    with sqlite_file.open() as _, open_executor(url, isolated=True, workers=1) as executor:
        (pid,) = executor.pids()  # type: ignore[attr-defined]
        assert "geheim" not in repr(executor)
        assert "geheim" not in repr(executor._setup)  # type: ignore[attr-defined]
        process = Path(f"/proc/{pid}")
        assert "geheim" not in (process / "cmdline").read_text()
        with suppress(PermissionError):  # only root may look into it
            environment = (process / "environ").read_text()
            assert "geheim" not in environment
            assert "HOME=" not in environment
            open_files = {str(entry.readlink()) for entry in (process / "fd").iterdir()}
            assert not any(str(sqlite_file) in name for name in open_files)
            assert (process / "fd" / "2").readlink() == Path("/dev/null")
        limits = {
            line[:26].strip(): line[26:].split() for line in (process / "limits").read_text().splitlines()
        }
        assert limits["Max core file size"][:2] == ["0", "0"]
        assert limits["Max file size"][:2] == ["0", "0"]
        assert limits["Max open files"][:2] == ["64", "64"]
        assert int(limits["Max address space"][1]) < 8 * 2**30
        status = (process / "status").read_text()
        assert "NoNewPrivs:\t1" in status


def test_the_repr_of_an_isolated_executor_says_what_it_is(executor: Any) -> None:
    assert isinstance(executor, IsolatedExecutor)
    assert repr(executor) == "<IsolatedExecutor sqlite, 1 workers of 1,024 MiB each, 0.4 s a query>"
