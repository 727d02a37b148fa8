"""An SQLite file is left as it was found, however it is written, replaced, removed or damaged beside the reader."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.errors import ExecutionError, FastSQLError
from fastsql.execution import ReadOnlyExecutor
from fastsql.execution.executor import ResultSizeError
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import Schema
from fastsql.verification.authorizer import LONGEST_VALUE

from ..worlds.database import hasty_connection

DDL = "CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT);"
COUNT = "SELECT COUNT(*) FROM patients"


def create(path: Path, rows: int, mode: str = "delete", ddl: str = DDL) -> Path:
    with closing(hasty_connection(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.executescript(ddl)
        table = "patients" if ddl is DDL else Schema.from_ddl(ddl).tables[0].name
        connection.executemany(f"INSERT INTO \"{table}\" VALUES (?, 'p' || ?)", [(i, i) for i in range(rows)])
        connection.commit()
    return path


def add_row(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO patients (name) VALUES ('new')")


@pytest.fixture(params=["delete", "wal"])
def database(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return create(tmp_path / "病房.sqlite", 3, request.param)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---------------------------------------------------------------- the folder


def test_reading_leaves_no_file_behind(database: Path) -> None:
    before = files(database.parent)
    with ReadOnlyExecutor(database) as executor:
        assert executor.run(COUNT).rows == ((3,),)
        assert files(database.parent) == before
    schema = Schema.from_sqlite(database)
    ValueDictionary.from_database(database, schema)
    assert files(database.parent) == before


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write any folder; run as another user"
)
def test_a_folder_that_cannot_be_written_will_do(database: Path) -> None:
    database.parent.chmod(0o500)
    try:
        with ReadOnlyExecutor(database) as executor:
            assert executor.run(COUNT).rows == ((3,),)
    finally:
        database.parent.chmod(0o700)


def test_a_link_to_a_database_is_read_where_it_lies(database: Path, tmp_path: Path) -> None:
    link = tmp_path / "links" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(database)
    with ReadOnlyExecutor(link) as executor:
        assert executor.run(COUNT).rows == ((3,),)
        add_row(database)
        assert executor.run(COUNT).rows == ((4,),)
    assert set(files(link.parent)) == {"link.sqlite"}


def test_what_others_write_is_seen(database: Path) -> None:
    with ReadOnlyExecutor(database) as executor:
        for rows in range(3, 13):
            assert executor.run(COUNT).rows == ((rows,),)
            add_row(database)


def test_what_another_process_has_in_its_log_is_seen(database: Path) -> None:
    with closing(sqlite3.connect(database)) as writer, ReadOnlyExecutor(database) as executor:
        for rows in range(3, 8):
            assert executor.run(COUNT).rows == ((rows,),)
            with writer:
                writer.execute("INSERT INTO patients (name) VALUES ('new')")


def test_a_database_that_comes_to_have_a_log_is_read_on(tmp_path: Path) -> None:
    path = create(tmp_path / "ward.sqlite", 3)
    with ReadOnlyExecutor(path) as executor:
        assert executor.run(COUNT).rows == ((3,),)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = wal")
        add_row(path)
        assert executor.run(COUNT).rows == ((4,),)
    assert set(files(tmp_path)) == {"ward.sqlite"}


def test_rows_of_two_states_are_not_mixed(tmp_path: Path) -> None:
    path = create(tmp_path / "ward.sqlite", 20_000, "wal")
    os.utime(path, (1, 1))  # long ago
    with ReadOnlyExecutor(path) as executor, executor.cursor("SELECT id FROM patients") as cursor:
        assert len(cursor.fetchmany(10)) == 10
        add_row(path)
        with pytest.raises(ExecutionError, match="was written while it was read"):
            list(cursor)


# ---------------------------------------------------------------- another file, or none


def test_a_database_that_was_renamed_over_is_read_anew(database: Path) -> None:
    with ReadOnlyExecutor(database) as executor:
        assert executor.run(COUNT).rows == ((3,),)
        create(database.with_name("other"), 5).replace(database)
        assert executor.run(COUNT).rows == ((5,),)


def test_a_database_that_is_gone_is_an_error_until_it_is_back(database: Path) -> None:
    kept = database.with_name("kept")
    with ReadOnlyExecutor(database) as executor:
        database.rename(kept)
        with pytest.raises(ExecutionError, match="no such database"):
            executor.run(COUNT)
        kept.rename(database)
        assert executor.run(COUNT).rows == ((3,),)


def test_a_database_that_became_something_else_is_an_error(database: Path) -> None:
    with ReadOnlyExecutor(database) as executor:
        assert executor.run(COUNT).rows == ((3,),)
        database.unlink()
        database.write_text("no database, but long enough to be looked at as one " * 20)
        with pytest.raises(ExecutionError, match="cannot be opened"):
            executor.run(COUNT)


# ---------------------------------------------------------------- memory


def open_files() -> set[str]:
    return {str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs a system with /proc, such as Linux")
def test_a_big_sort_is_kept_in_memory(tmp_path: Path) -> None:
    path = create(tmp_path / "ward.sqlite", 1_000)
    sort = "SELECT a.name || b.name AS n FROM patients AS a, patients AS b ORDER BY n LIMIT -1"
    with ReadOnlyExecutor(path, time_limit=60) as executor:
        before = open_files()
        with executor.cursor(sort) as cursor:
            assert cursor.fetchmany(1) == [("p0p0",)]
            assert {name for name in open_files() - before if "ward" not in name} == set()


_BOUNDED = """
import sqlite3, sys
from fastsql.errors import ExecutionError
from fastsql.execution import ReadOnlyExecutor
with ReadOnlyExecutor(sys.argv[1], memory_limit=100_000_000, time_limit=60) as executor:
    try:
        executor.run("SELECT a.name AS n FROM patients AS a, patients AS b, patients AS c ORDER BY n")
    except ExecutionError as error:
        print(error)
    print(executor.run("SELECT COUNT(*) FROM patients").rows)
print(sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit").fetchone())
ReadOnlyExecutor(sys.argv[1], memory_limit=200_000_000).close()
print(sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit").fetchone())
ReadOnlyExecutor(sys.argv[1], memory_limit=1_000).close()
print(sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit").fetchone()[0] > 1_000_000)
"""
_SET_BY_THE_APPLICATION = """
import sqlite3, sys
from fastsql.execution import ReadOnlyExecutor
connection = sqlite3.connect(":memory:")
connection.execute("PRAGMA hard_heap_limit = 900000000")
ReadOnlyExecutor(sys.argv[1], memory_limit=100_000_000).close()
print(connection.execute("PRAGMA hard_heap_limit").fetchone())
"""
_UNSET = """
import sqlite3, sys
from fastsql.execution import ReadOnlyExecutor
ReadOnlyExecutor(sys.argv[1], memory_limit=None).close()
print(sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit").fetchone())
"""


def in_a_process_of_its_own(code: str, path: Path) -> list[str]:
    """What a program prints: the limit is one of the whole process."""
    return subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    ).stdout.splitlines()


has_limit = pytest.mark.skipif(
    sqlite3.sqlite_version_info < (3, 31), reason="needs SQLite 3.31, which can limit its heap"
)


@has_limit
def test_sqlite_runs_out_of_memory_where_it_was_told_to(tmp_path: Path) -> None:
    path = create(tmp_path / "ward.sqlite", 1_000)
    error, rows, limit, again, low = in_a_process_of_its_own(_BOUNDED, path)
    assert error == "query: ran out of memory. Ask for less, or raise the executor's memory_limit."
    assert rows == "((1000,),)"
    assert limit == again == "(100000000,)"
    assert low == "True"  # never below what is in use


@has_limit
def test_a_heap_limit_that_somebody_else_set_is_left_alone(tmp_path: Path) -> None:
    path = create(tmp_path / "ward.sqlite", 3)
    assert in_a_process_of_its_own(_SET_BY_THE_APPLICATION, path) == ["(900000000,)"]
    assert in_a_process_of_its_own(_UNSET, path) == ["(0,)"]


@pytest.mark.skipif(
    not hasattr(sqlite3.Connection, "setlimit"), reason="needs Python 3.11, which can set SQLite's limits"
)
def test_a_long_clinical_note_is_read_and_a_longer_value_is_not_made(tmp_path: Path) -> None:
    path = create(tmp_path / "ward.sqlite", 1)
    note = "注" * (LONGEST_VALUE // 3 - 100)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO patients VALUES (7, ?)", (note,))
    with ReadOnlyExecutor(path) as executor:
        assert executor.run("SELECT name FROM patients WHERE id = 7").rows == ((note,),)
        with pytest.raises(ExecutionError):
            executor.run("SELECT name || name FROM patients WHERE id = 7")


def test_one_row_of_very_many_long_cells_is_refused_before_it_is_whole(tmp_path: Path) -> None:
    path = create(tmp_path / "ward.sqlite", 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO patients VALUES (7, ?)", ("x" * 900_000,))
    wide = ", ".join(["name"] * 1_500)
    with ReadOnlyExecutor(path, byte_limit=2**20, time_limit=60) as executor, pytest.raises(ResultSizeError):
        executor.run(f"SELECT {wide} FROM patients WHERE id = 7")


# ---------------------------------------------------------------- damage

CHINESE = (
    'CREATE TABLE "病人" ("编号" INTEGER PRIMARY KEY, "姓名" TEXT); CREATE INDEX "索引" ON "病人" ("姓名");'
)


def damaged(raw: bytes, rng: random.Random) -> bytes:
    """A file with its end cut off, or some bytes changed, often in the schema."""
    if rng.random() < 0.2:
        return raw[: rng.randrange(len(raw))]
    changed = bytearray(raw)
    schema = raw.index(b"CREATE") - 60
    for _ in range(rng.choice((1, 3, 20, 200))):
        place = rng.randrange(schema, schema + 200) if rng.random() < 0.5 else rng.randrange(len(raw))
        changed[place] = rng.choice((0, 0x80, 0xFF, rng.randrange(256)))
    return bytes(changed)


def typed_error(work: Callable[[], object]) -> FastSQLError | None:
    """The error of a piece of work, if any; what is not typed comes through."""
    try:
        work()
    except FastSQLError as error:
        return error
    return None


def attempts(path: Path, schema: Schema) -> Iterator[None]:
    """Every way to read a file."""
    (table,) = schema.tables
    everything = f'SELECT * FROM "{table.name}"'
    with ReadOnlyExecutor(path) as executor:
        yield executor.run(everything) and None
        with executor.cursor(f"{everything} ORDER BY 2") as cursor:
            yield list(cursor) and None
    with ReadOnlyExecutor(path, schema=schema) as executor:
        yield executor.run(everything) and None


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("ddl", [DDL, CHINESE], ids=["latin", "chinese"])
def test_a_damaged_file_gives_rows_or_a_typed_error(tmp_path: Path, ddl: str, mode: str) -> None:
    whole = create(tmp_path / "whole.sqlite", 60, mode, ddl)
    schema = Schema.from_sqlite(whole)
    raw, path, rng, refused = whole.read_bytes(), tmp_path / "damaged.sqlite", random.Random(7), 0
    for _ in range(100):
        path.unlink(missing_ok=True)  # what is written over is first flushed to the disk
        path.write_bytes(damaged(raw, rng))
        ways = (
            lambda: list(attempts(path, schema)),
            lambda: Schema.from_sqlite(path),
            lambda: ValueDictionary.from_database(path, schema),
        )
        for way in ways:
            error = typed_error(way)
            if error is not None:
                refused += 1
                assert error.__context__ is None
                assert error.__cause__ is None
        path.unlink()
    assert refused > 50
    assert set(files(tmp_path)) == {"whole.sqlite"}


# ---------------------------------------------------------------- what errors carry

LITERAL = "Jane Roe"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT * FROM patients WHERE name = '{LITERAL}' AND AND",
        f"SELECT '{LITERAL}' FROM nowhere",
        f"SELECT abs(-9223372036854775807 - 1), '{LITERAL}'",
        f"SELECT json('{LITERAL}')",
        f"SELECT '{LITERAL}' \0",
        f"SELECT '{LITERAL}\ud800'",
        f"DELETE FROM patients WHERE name = '{LITERAL}'",
        f"SELECT '{LITERAL}'; SELECT 2",
        f"WITH RECURSIVE n(i) AS (SELECT '{LITERAL}' UNION ALL SELECT i FROM n) SELECT COUNT(*) FROM n",
        f"SELECT '{LITERAL}' || replace(hex('{'x' * 999}'), '7', hex('{'x' * 999}'))",
    ],
)
@pytest.mark.parametrize("way", ["run", "cursor"])
def test_no_error_carries_a_message_of_the_driver(tmp_path: Path, sql: str, way: str) -> None:
    def read() -> None:
        with executor.cursor(sql) as cursor:
            list(cursor)

    path = create(tmp_path / "ward.sqlite", 3)
    with ReadOnlyExecutor(path, time_limit=0.1) as executor, pytest.raises(ExecutionError) as caught:
        executor.run(sql) if way == "run" else read()
    error: BaseException | None = caught.value
    while error is not None:
        assert "Jane" not in str(error)
        assert isinstance(error, FastSQLError)
        error = error.__cause__ or error.__context__


def test_a_copy_beside_the_database_is_not_taken_for_it(database: Path) -> None:
    shutil.copy(database, database.with_name("copy.sqlite"))
    with ReadOnlyExecutor(database) as executor:
        add_row(database.with_name("copy.sqlite"))
        assert executor.run(COUNT).rows == ((3,),)
