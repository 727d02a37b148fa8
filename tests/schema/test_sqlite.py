"""SQLite files and connections: read-only, whole, damaged and gone."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import ForeignKey, Schema

from ..worlds.database import write_database

HOSPITAL = """
CREATE TABLE patients (subject_id INT PRIMARY KEY, gender VARCHAR(5), dob TIMESTAMP(0), note TEXT);
CREATE TABLE stays (a INTEGER, b TEXT, c REAL, "病区" TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID;
CREATE TABLE "order" (id INTEGER PRIMARY KEY AUTOINCREMENT, who REFERENCES patients, x TEXT, y INT,
    twice INT GENERATED ALWAYS AS (y * 2) VIRTUAL,
    FOREIGN KEY (x, y) REFERENCES STAYS (b, a), FOREIGN KEY (y) REFERENCES patients (subject_id));
CREATE VIEW names AS SELECT gender AS sex FROM patients;
INSERT INTO patients VALUES (1, 'f', '2100-01-01', 'x'), (2, 'm', NULL, NULL), (3, 'f', NULL, '');
INSERT INTO stays VALUES (1, 'b', 0.5, '内科'), (2, 'a', 1.5, '外科');
INSERT INTO "order" (who, x, y) VALUES (1, 'b', 1);
"""


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], Path]:
    def make_database(script: str, name: str = "hospital.sqlite") -> Path:
        return write_database(tmp_path / name, script)

    return make_database


@pytest.fixture
def memory() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


def test_tables_columns_types_and_keys(make: Callable[[str], Path]) -> None:
    schema = Schema.from_sqlite(make(HOSPITAL), strict=True)
    assert (schema.name, schema.dialect) == ("hospital", "sqlite")
    assert [table.name for table in schema.tables] == ["patients", "stays", "order"]
    assert [(c.name, c.type, c.sql_type) for c in schema.columns if c.table == 2] == [
        ("id", "number", "INTEGER"),
        ("who", "number", ""),  # declared without a type: told by what it holds
        ("x", "text", "TEXT"),
        ("y", "number", "INT"),
        ("twice", "number", "INT"),
    ]
    assert schema.tables[1].primary_key == (5, 4)
    assert schema.foreign_keys == (
        ForeignKey((9,), (0,)),
        ForeignKey((10, 11), (5, 4)),
        ForeignKey((11,), (0,)),
    )


def test_small_domains_are_read_sorted_and_without_empty_text(make: Callable[[str], Path]) -> None:
    schema = Schema.from_sqlite(make(HOSPITAL))
    values = {schema.qualified_name(i): c.values for i, c in enumerate(schema.columns) if c.values}
    assert values == {
        "patients.gender": ("f", "m"),
        "patients.note": ("x",),
        "stays.b": ("a", "b"),
        "stays.病区": ("内科", "外科"),
        "order.x": ("b",),
    }


def test_a_domain_of_more_than_the_maximum_is_none(memory: sqlite3.Connection) -> None:
    memory.execute("CREATE TABLE t (few TEXT, many TEXT)")
    memory.executemany("INSERT INTO t VALUES (?, ?)", [(f"v{n % 3}", f"v{n}") for n in range(4)])
    few, many = Schema.from_sqlite(memory, max_values=3).columns
    assert (few.values, many.values) == (("v0", "v1", "v2"), ())
    assert all(not column.values for column in Schema.from_sqlite(memory, max_values=0).columns)


def test_values_that_cannot_stand_in_sql_are_left_out(memory: sqlite3.Connection) -> None:
    memory.execute("CREATE TABLE t (long TEXT, bytes TEXT, broken TEXT, mixed TEXT)")
    memory.execute("INSERT INTO t VALUES (?, x'00ff', CAST(x'ff' AS TEXT), 'a')", ["x" * 201])
    memory.execute("INSERT INTO t VALUES ('short', 'ok', 'ok', 7)")
    long, bytes_, broken, mixed = Schema.from_sqlite(memory).columns
    assert long.values == ()  # texts, not categories
    assert (bytes_.values, broken.values, mixed.values) == (("ok",), ("ok",), ("7", "a"))


def test_numbers_are_a_domain_where_they_say_no_and_yes(memory: sqlite3.Connection) -> None:
    memory.execute("CREATE TABLE t (smoker INTEGER, beds INTEGER, never INTEGER, share REAL)")
    memory.executemany("INSERT INTO t VALUES (?, ?, 0, ?)", [(n % 2, n, n / 3) for n in range(3)])
    memory.execute("INSERT INTO t (beds) VALUES (NULL)")
    memory.execute("CREATE TABLE u (ward INTEGER REFERENCES t (beds), part REAL, mixed INTEGER)")
    memory.execute("INSERT INTO u VALUES (0, 0, 0), (1, 1, 1), (1, 1, x'00')")
    assert [column.values for column in Schema.from_sqlite(memory).columns] == [(0, 1), *[()] * 6]
    assert Schema.from_sqlite(memory, max_values=1).columns[0].values == ()
    assert not any(column.values for column in Schema.from_sqlite(memory, max_values=0).columns)


def test_codes_that_a_comment_explains_stay_where_the_rows_are_no_domain(memory: sqlite3.Connection) -> None:
    memory.execute("""CREATE TABLE people (
        id INTEGER PRIMARY KEY,
        sex INTEGER, -- sex (1 = male, 2 = female)
        smoker INTEGER -- smoker (0 = no, 1 = yes)
    )""")
    memory.execute("INSERT INTO people VALUES (1, 1, 0), (2, 2, 1), (3, 1, 1)")
    assert [column.values for column in Schema.from_sqlite(memory).columns] == [(), (1, 2), (0, 1)]


def test_what_rows_that_are_not_looked_at_hold_may_be_an_amount(
    memory: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.execute("CREATE TABLE t (children INTEGER)")
    memory.executemany("INSERT INTO t VALUES (?)", [(0,), (1,), (1,), (7,)])
    monkeypatch.setattr("fastsql.schema.sqlite._SCANNED_ROWS", 3)
    assert Schema.from_sqlite(memory).columns[0].values == ()
    memory.execute("DELETE FROM t WHERE children = 7")
    assert Schema.from_sqlite(memory).columns[0].values == (0, 1)


def test_views_are_read_where_asked_for(make: Callable[[str], Path]) -> None:
    schema = Schema.from_sqlite(make(HOSPITAL), views=True)
    assert schema.tables[-1].name == "names"
    assert schema.columns[-1].values == ("f", "m")


def test_the_tables_of_sqlite_itself_are_passed_over_silently(make: Callable[[str], Path]) -> None:
    path = make(HOSPITAL + "ANALYZE;")
    schema = Schema.from_sqlite(path, strict=True)
    assert not any(table.name.startswith("sqlite_") for table in schema.tables)


def test_a_full_text_table_shows_its_columns_and_hides_its_shadows(memory: sqlite3.Connection) -> None:
    try:
        memory.execute("CREATE VIRTUAL TABLE notes USING fts5(title, body)")
    except sqlite3.OperationalError:
        pytest.skip("needs an SQLite that has FTS5")
    memory.execute("INSERT INTO notes VALUES ('a', 'b')")
    schema = Schema.from_sqlite(memory)
    if sqlite3.sqlite_version_info >= (3, 37):
        assert [table.name for table in schema.tables] == ["notes"]
    assert [schema.columns[index].name for index in schema.tables[0].columns] == ["title", "body"]


def test_a_table_that_sqlite_cannot_open_is_left_out(memory: sqlite3.Connection) -> None:
    memory.executescript("CREATE TABLE t (a INT); CREATE VIEW v AS SELECT x FROM nowhere")
    schema = Schema.from_sqlite(memory, views=True)
    assert [table.name for table in schema.tables] == ["t"]
    assert schema.warnings[0].startswith("table 'v': ")
    with pytest.raises(SchemaError, match="'v'"):
        Schema.from_sqlite(memory, views=True, strict=True)


def test_a_connection_is_left_as_it_was(memory: sqlite3.Connection) -> None:
    memory.executescript("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x')")
    memory.row_factory = sqlite3.Row
    memory.text_factory = bytes
    assert Schema.from_sqlite(memory).columns[0].values == ("x",)
    assert (memory.row_factory, memory.text_factory) == (sqlite3.Row, bytes)


def test_reading_changes_nothing_and_creates_nothing(make: Callable[[str], Path]) -> None:
    path = make(HOSPITAL)
    before = hashlib.sha256(path.read_bytes()).digest()
    Schema.from_sqlite(path)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    with pytest.raises(SchemaError, match=r"gone\.sqlite.*no such file"):
        Schema.from_sqlite(path.parent / "gone.sqlite")
    assert not (path.parent / "gone.sqlite").exists()


def test_odd_paths_are_no_matter(tmp_path: Path) -> None:
    for name in ("a b?mode=rw&c#d%20.sqlite", "医院.db", "'q'.sqlite"):
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            connection.execute("CREATE TABLE t (a INT)")
        assert Schema.from_sqlite(str(tmp_path / name)).tables[0].name == "t"


@pytest.mark.parametrize("damage", ["empty", "text", "truncated", "folder", "header"])
def test_what_is_no_intact_database_is_a_schema_error_that_names_it(
    make: Callable[[str], Path], damage: str, tmp_path: Path
) -> None:
    path = make(HOSPITAL)
    content = path.read_bytes()
    if damage == "folder":
        path = tmp_path
    else:
        path.write_bytes(
            {
                "empty": b"",
                "text": b"no database at all " * 100,
                "truncated": content[: len(content) // 2],
                "header": content[:100] + b"\xff" * (len(content) - 100),
            }[damage]
        )
    with pytest.raises(SchemaError) as caught:
        Schema.from_sqlite(path)
    assert str(path.stem) in str(caught.value)


def test_a_locked_database_is_a_schema_error(make: Callable[[str], Path]) -> None:
    path = make(HOSPITAL)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("BEGIN EXCLUSIVE")
        reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0)
        with closing(reader), pytest.raises(SchemaError, match="locked"):
            Schema.from_sqlite(reader)


def test_a_closed_connection_is_a_schema_error() -> None:
    connection = sqlite3.connect(":memory:")
    connection.close()
    with pytest.raises(SchemaError):
        Schema.from_sqlite(connection)


def test_the_same_tables_give_the_same_fingerprint_whatever_the_order_of_rows(
    make: Callable[[str, str], Path],
) -> None:
    rows = ["INSERT INTO t VALUES ('b');", "INSERT INTO t VALUES ('a');"]
    first = make("CREATE TABLE t (a TEXT);" + "".join(rows), "one.db")
    second = make("CREATE TABLE t (a TEXT);" + "".join(reversed(rows)), "two.db")
    assert Schema.from_sqlite(first).fingerprint == Schema.from_sqlite(second).fingerprint
