"""A process may fork while its other threads parse and query: the child does both, and waits for nobody who is not there."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import pytest

from fastsql import Parser, backends, forking
from fastsql.errors import ExecutionError
from fastsql.execution import Executor, ReadOnlyExecutor, open_executor, verify
from fastsql.schema import Schema

from .worlds.toy_bundle import QUESTIONS, load_toy
from .worlds.toy_model import SCHEMA
from .worlds.ward import numbered_patients, ward_database, ward_ddl, ward_schema

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

CHILD_SECONDS = 60
"""After which a child that hangs is killed by an alarm."""
SORTED = "SELECT a.name, COUNT(*) FROM patients AS a, patients AS b GROUP BY a.name ORDER BY a.name"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return ward_database(tmp_path / "ward.sqlite", numbered_patients(200))


def in_child(work: Callable[[], object]) -> int:
    """The status of a child that does a piece of work: 0 if it ends well, that of the signal if it is killed."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CHILD_SECONDS)
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a child must never go on as the test
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@contextmanager
def busy(*works: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Threads that each do a piece of work again and again; the list is of what they raised."""
    done, errors, begun = threading.Event(), list[BaseException](), threading.Barrier(len(works) + 1)

    def repeat(work: Callable[[], object]) -> None:
        begun.wait()
        try:
            while not done.is_set():
                work()
        except Exception as error:  # noqa: BLE001 - told to the test
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    begun.wait()
    yield errors
    done.set()
    for thread in threads:
        thread.join()


# ---------------------------------------------------------------- under load


@pytest.fixture
def executors(database: Path) -> Iterator[list[Executor]]:
    """One of each kind that runs in the process itself."""
    paths = [database]
    if find_spec("duckdb"):
        paths.append(ward_database(database.with_suffix(".duckdb"), numbered_patients(200)))
    with ExitStack() as stack:
        yield [stack.enter_context(open_executor(path)) for path in paths]  # type: ignore[type-var]


def test_children_of_a_process_at_work_hang_nowhere(
    toy_bundle: Path, executors: list[Executor], database: Path
) -> None:
    parser = load_toy(toy_bundle, device="python" if backends.native() is None else "cpu")
    schema = ward_schema()

    def parse() -> None:
        parser.parse(QUESTIONS[0], SCHEMA)

    def query() -> None:
        for executor in executors:
            assert len(executor.run(SORTED).rows) == 200

    def check() -> None:
        verify("SELECT name FROM patients", schema)
        Schema.from_sqlite(database)

    def everything() -> None:
        parse()
        query()
        check()

    with busy(parse, query, check) as errors:
        statuses = [in_child(everything) for _ in range(30)]
    assert statuses == [0] * 30
    assert errors == []


# ---------------------------------------------------------------- one at a time


def test_a_fork_waits_until_no_thread_is_inside_sqlite() -> None:
    inside, left = threading.Event(), list[bool]()

    def stay() -> None:
        with forking.inside_sqlite():
            inside.set()
            while not forking._gate.closed:
                os.sched_yield()
            left.append(True)

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    assert in_child(lambda: 1 / len(left)) == 0
    thread.join()


def test_a_long_query_lets_forks_pass(database: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    with ReadOnlyExecutor(database, time_limit=30, connections=1) as executor:

        def ask() -> None:
            with pytest.raises(ExecutionError):
                executor.run(endless)

        thread = threading.Thread(target=ask)
        thread.start()
        while not forking._gate._inside:
            os.sched_yield()
        status = in_child(lambda: forking._gate.enter())
        assert thread.is_alive()
        (worker,) = executor._workers._workers
        worker.interrupt()
        thread.join()
    assert status == 0


def test_a_thread_that_was_given_up_keeps_no_fork_waiting() -> None:
    inside, released = threading.Event(), threading.Event()

    def stay() -> None:
        with forking.inside_sqlite():
            inside.set()
            released.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    forking.forget_thread(thread.ident)
    assert forking._gate._inside == set()
    released.set()
    thread.join()


def test_the_child_opens_connections_of_its_own(database: Path) -> None:
    with ReadOnlyExecutor(database, connections=1) as executor:

        def ask() -> None:
            assert executor._workers.idle == []
            assert len(executor.run(SORTED).rows) == 200

        assert in_child(ask) == 0
        assert len(executor.run(SORTED).rows) == 200


def test_a_cursor_that_was_inherited_says_so(database: Path) -> None:
    with ReadOnlyExecutor(database) as executor, executor.cursor("SELECT subject_id FROM patients") as cursor:
        assert cursor.fetchmany(2) == [(0,), (1,)]

        def read_on() -> None:
            with pytest.raises(ExecutionError, match="belongs to the process that this one was forked from"):
                cursor.fetchmany(2)

        assert in_child(read_on) == 0
        assert cursor.fetchmany(2) == [(2,), (3,)]


def test_a_lock_that_another_thread_held_is_free_in_the_child(toy: Parser) -> None:
    sources = toy._sources
    with sources.lock:
        outcome: list[int] = []
        thread = threading.Thread(target=lambda: outcome.append(in_child(lambda: sources.lock.acquire())))
        thread.start()  # in the child the thread that forked is the only one, and it does not hold the lock
        thread.join()
    assert outcome == [0]


def test_a_cached_property_that_another_thread_computes_can_be_computed_in_the_child() -> None:
    computing, go_on = threading.Event(), threading.Event()
    schema = Schema.from_ddl(ward_ddl())  # of its own: nobody has asked for its fingerprint

    def compute(_: object) -> str:
        computing.set()
        go_on.wait()
        return ""

    prop = Schema.__dict__["fingerprint"]
    assert isinstance(prop, cached_property)
    function, prop.func = prop.func, compute
    thread = threading.Thread(target=lambda: schema.fingerprint)
    try:
        thread.start()
        computing.wait()
        prop.func = function
        assert in_child(lambda: Schema.from_ddl(ward_ddl()).fingerprint) == 0
    finally:
        prop.func = function
        go_on.set()
        thread.join()


@pytest.fixture
def slow_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module whose import ends a moment after a process has begun to fork."""
    name = "a_module_that_waits_for_a_fork"
    lines = [
        "import os, time",
        "from fastsql import forking",
        "while not forking._gate.closed:",
        "    os.sched_yield()",
    ]
    (tmp_path / f"{name}.py").write_text("\n".join([*lines, "time.sleep(0.05)"]), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_a_fork_waits_for_modules_that_other_threads_import(slow_module: str) -> None:
    thread = threading.Thread(target=importlib.import_module, args=(slow_module,))
    thread.start()
    while slow_module not in sys.modules:
        os.sched_yield()
    assert in_child(lambda: importlib.import_module(slow_module)) == 0
    thread.join()


def test_a_module_may_fork_while_it_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "a_module_that_forks"
    (tmp_path / f"{name}.py").write_text(
        "import os\nchild = os.fork()\nif not child:\n    os._exit(0)\nos.waitpid(child, 0)", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    begun = time.monotonic()
    importlib.import_module(name)
    assert time.monotonic() - begun < forking._IMPORT_PATIENCE
    del sys.modules[name]


def test_owners_are_told_as_long_as_they_live() -> None:
    class Owner:
        told = 0

        def renew_after_fork(self) -> None:
            self.told += 1

    owner, dropped = Owner(), Owner()
    forking.renew_in_child(owner)
    forking.renew_in_child(dropped)
    before = len(forking._renewables)
    del dropped
    assert len(forking._renewables) == before - 1
    assert in_child(lambda: 1 / owner.told) == 0
    assert owner.told == 0
