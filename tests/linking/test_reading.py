"""Reading values of databases that are large: in bounded time, in sight, interrupted without loss, and again."""

from __future__ import annotations

import os
import pickle
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ExecutionError, LimitError
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import ReadingInterrupted, Schema
from fastsql.schema.server_values import ServerValues

from ..databases import PostgresServer
from ..worlds.database import write_database

SCHEMA = Schema.from_dict(
    {
        "dialect": "postgres",
        "tables": [
            {"name": name, "namespace": "public", "columns": [{"name": column, "sql_type": "text"} for column in columns]}
            for name, columns in {
                "drugs": ["name", "form"], "endless": ["parity"], "tests": ["label"], "wide": ["code"],
            }.items()
        ],
    }
)  # fmt: skip
LATE = "only a sample was read: all of it takes longer than 0.3 s"
SQLITE = """
CREATE TABLE drugs (name TEXT, form TEXT);
INSERT INTO drugs VALUES ('warfarin', 'tablet'), ('heparin', 'vial'), ('aspirin', 'tablet');
CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT CASE i % 2 WHEN 0 THEN 'even' ELSE 'odd' END AS parity FROM n;
CREATE TABLE tests (label TEXT);
INSERT INTO tests VALUES ('sodium'), ('potassium');
CREATE TABLE wide (code TEXT);
INSERT INTO wide SELECT 'code ' || value FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n
    LIMIT 5000) SELECT value FROM n);
"""
POSTGRES = """
CREATE TABLE drugs (name TEXT, form TEXT);
INSERT INTO drugs VALUES ('warfarin', 'tablet'), ('heparin', 'vial'), ('aspirin', 'tablet');
CREATE VIEW endless AS SELECT CASE i % 2 WHEN 0 THEN 'even' ELSE 'odd' END AS parity
    FROM (SELECT generate_series(1, 1000000000) AS i) AS n;
CREATE TABLE tests (label TEXT);
INSERT INTO tests VALUES ('sodium'), ('potassium');
CREATE TABLE wide (code TEXT);
INSERT INTO wide SELECT 'code ' || i FROM generate_series(1, 5000) AS i;
ANALYZE wide;
"""


@pytest.fixture(autouse=True)
def quick_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples that even a busy machine reads in no time."""
    for module in ("schema.server_values", "linking.database_values"):
        monkeypatch.setattr(f"fastsql.{module}.SAMPLE_ROWS", 100)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_database(tmp_path / "ward.sqlite", SQLITE)


@pytest.fixture
def server(postgres: PostgresServer) -> PostgresServer:
    import psycopg

    postgres.create_database("reading")
    with psycopg.connect(postgres.conninfo("reading"), autocommit=True) as connection:
        connection.execute(POSTGRES.encode())
    return postgres


@pytest.fixture(params=["file", "sqlite url", "postgres"])
def source(request: pytest.FixtureRequest) -> str:
    """Each way to read the same values."""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("server")
        return server.url("reading")
    pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    path: Path = request.getfixturevalue("file")
    return str(path) if request.param == "file" else f"sqlite:///{path}"


def read(source: Any, **settings: Any) -> ValueDictionary:
    return ValueDictionary.from_database(
        source, SCHEMA, **{"max_values": 1000, "column_seconds": 0.3, **settings}
    )


def values_of(dictionary: ValueDictionary) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for value, columns in dictionary._index.items():
        for column in columns:
            found.setdefault(SCHEMA.qualified_name(column), []).append(value)
    return {name: sorted(values) for name, values in found.items()}


KNOWN = {
    "drugs.name": ["aspirin", "heparin", "warfarin"],
    "drugs.form": ["tablet", "vial"],
    "endless.parity": ["even", "odd"],
    "tests.label": ["potassium", "sodium"],
}


def test_a_column_that_takes_too_long_leaves_the_values_of_a_sample(source: str) -> None:
    dictionary = read(source)
    assert values_of(dictionary) == KNOWN
    skipped = {(table, column): why for table, column, why in dictionary.skipped}
    assert skipped["endless", "parity"] == LATE
    assert skipped["wide", "code"].startswith("more than 1,000 distinct values")
    assert len(skipped) == 2


def test_statistics_spare_the_reading_of_a_column_that_has_too_many_values(server: PostgresServer) -> None:
    (why,) = [
        why for table, _, why in read(server.url("reading"), column_seconds=1).skipped if table == "wide"
    ]
    assert why == "more than 1,000 distinct values: about 5,000 by the server's statistics"


def test_the_most_common_values_add_to_a_sample(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg
    import sqlalchemy

    with psycopg.connect(server.conninfo("reading"), autocommit=True) as connection:
        connection.execute("CREATE TABLE sorted AS SELECT CASE WHEN i < 900 THEN 'a' ELSE 'z' END AS kind"
                           " FROM generate_series(1, 1000) AS i; ANALYZE sorted")  # fmt: skip
    monkeypatch.setattr("fastsql.schema.server_values.SAMPLE_ROWS", 10)
    whole = ServerValues._read
    monkeypatch.setattr(ServerValues, "_read", lambda *given: whole(*given) if given[-1] == 10 else None)
    engine = sqlalchemy.create_engine(server.url("reading"))
    with engine.connect() as connection:
        found = ServerValues(connection, 1.0).distinct("sorted", "public", "kind", 50)
    engine.dispose()
    assert sorted(found.values) == ["a", "z"]
    assert found.late


def test_progress_is_told_before_each_column(source: str) -> None:
    told: list[tuple[int, int, str]] = []
    read(source, progress=lambda *given: told.append(given))
    names = [SCHEMA.qualified_name(column) for column in range(5)]
    assert told == [(place, 5, name) for place, name in enumerate([*names, ""])]


def test_a_line_of_progress_goes_to_the_standard_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read(file, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "reading values: 0 of 5 columns  drugs.name\nreading values: 5 of 5 columns\n"


def test_a_callback_that_says_no_ends_the_reading_and_keeps_what_was_read(source: str) -> None:
    dictionary = read(source, progress=lambda done, *_: done < 2)
    assert values_of(dictionary) == {name: KNOWN[name] for name in ("drugs.name", "drugs.form")}
    assert [f"{table}.{column}: {why}" for table, column, why in dictionary.skipped] == [
        f"{name}: not read: the reading was ended before"
        for name in ("endless.parity", "tests.label", "wide.code")
    ]


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_between_columns_loses_nothing(source: str) -> None:
    def interrupt(done: int, *_: object) -> None:
        if done == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(ReadingInterrupted, match="partial") as caught:
        read(source, progress=interrupt)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert values_of(caught.value.partial) == {name: KNOWN[name] for name in ("drugs.name", "drugs.form")}
    assert values_of(caught.value.partial.refresh()) == KNOWN


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_within_a_column_loses_nothing(source: str) -> None:
    def interrupt(done: int, *_: object) -> None:
        if done == 2:
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.daemon = True
            timer.start()

    with pytest.raises(ReadingInterrupted) as caught:
        read(source, progress=interrupt, column_seconds=60)
    assert values_of(caught.value.partial) == {name: KNOWN[name] for name in ("drugs.name", "drugs.form")}
    assert ("endless", "parity", "not read: the reading was ended before") in caught.value.partial.skipped


def test_a_time_that_is_none_is_an_error(file: Path) -> None:
    with pytest.raises(LimitError, match="column_seconds"):
        read(file, column_seconds=0)


# ---- again ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The columns that a server is asked for."""
    asked: list[str] = []
    distinct = ServerValues.distinct

    def noting(self: ServerValues, table: str, namespace: str | None, column: str, most: int) -> Any:
        asked.append(f"{table}.{column}")
        return distinct(self, table, namespace, column, most)

    monkeypatch.setattr(ServerValues, "distinct", noting)
    return asked


def test_refreshing_reads_the_tables_that_were_written_since(
    server: PostgresServer, reads: list[str]
) -> None:
    import psycopg

    def write(sql: str) -> None:
        with psycopg.connect(server.conninfo("reading"), autocommit=True) as connection:
            connection.execute(sql.encode())
            connection.execute("SELECT pg_stat_force_next_flush()")
            connection.execute("SELECT 1")

    write("DROP VIEW endless; CREATE TABLE endless (parity TEXT)")
    before = read(server.url("reading"))
    assert len(reads) == 5
    for sql, column, expected in (
        ("INSERT INTO tests VALUES ('glucose')", "tests.label", ["glucose", "potassium", "sodium"]),
        (
            "UPDATE tests SET label = 'calcium' WHERE label = 'sodium'",
            "tests.label",
            ["calcium", "potassium"],
        ),
        ("DELETE FROM tests WHERE label = 'potassium'", "tests.label", ["sodium"]),
        ("TRUNCATE tests", "tests.label", None),
    ):
        write(f"TRUNCATE tests; INSERT INTO tests VALUES ('sodium'), ('potassium'); {sql}")
        reads.clear()
        after = before.refresh()
        assert reads == [column]
        assert values_of(after).get(column) == expected
        assert values_of(after)["drugs.name"] == KNOWN["drugs.name"]
        assert after.skipped == before.skipped
        reads.clear()
        assert after.refresh() is after
        assert reads == []
        before = after


def test_refreshing_a_file_reads_it_where_it_was_written(file: Path) -> None:
    schema = Schema.from_dict({"drugs": {"name": "TEXT"}})
    before = ValueDictionary.from_database(file, schema)
    assert before.refresh() is before
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO drugs VALUES ('insulin', 'pen')")
        connection.commit()
    after = before.refresh()
    assert (len(before), len(after)) == (3, 4)
    assert after.refresh() is after


def test_refreshing_reads_columns_again_that_were_not_read_to_their_end(file: Path) -> None:
    before = read(file, progress=lambda done, *_: done < 3)
    assert "tests.label" not in values_of(before)
    after = before.refresh()
    assert after is not before
    assert values_of(after) == KNOWN


def test_refreshing_with_values_in_the_order_of_a_first_reading(file: Path) -> None:
    schema = Schema.from_dict({"drugs": {"name": "TEXT", "form": "TEXT"}, "tests": {"label": "TEXT"}})
    before = ValueDictionary.from_database(file, schema, progress=lambda done, *_: done < 2)
    again = ValueDictionary.from_database(file, schema)
    assert list(before.refresh()._index.items()) == list(again._index.items())


def test_a_dictionary_without_a_database_asks_for_one(file: Path, tmp_path: Path) -> None:
    schema = Schema.from_dict({"drugs": {"name": "TEXT"}})
    made = ValueDictionary.from_mapping({("drugs", "name"): ["insulin"]}, schema)
    with pytest.raises(ExecutionError, match=r"not read from a database.*refresh\(database\)"):
        made.refresh()
    made.save(tmp_path / "values")
    for dictionary in (
        made,
        ValueDictionary.load(tmp_path / "values", schema),
        pickle.loads(pickle.dumps(made)),
    ):
        assert len(dictionary.refresh(file)) == 3
        assert dictionary.refresh(file).refresh() is not dictionary


def test_what_a_dictionary_was_read_from_is_not_pickled(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        dictionary = ValueDictionary.from_database(connection, Schema.from_dict({"drugs": {"name": "TEXT"}}))
        assert len(pickle.loads(pickle.dumps(dictionary))) == 3
        assert "ward" not in repr(dictionary)


# ---- privileges and schemas -------------------------------------------------------------------------------------------


def test_columns_that_the_role_may_not_read_are_skipped(server: PostgresServer) -> None:
    import psycopg

    with psycopg.connect(server.conninfo("reading"), autocommit=True) as connection:
        connection.execute(
            "DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN; GRANT SELECT ON drugs TO clerk"
        )
    dictionary = read(server.url("reading", "clerk"))
    assert set(values_of(dictionary)) == {"drugs.name", "drugs.form"}
    assert {why for *_, why in dictionary.skipped} == {"the role may not read it"}
    with psycopg.connect(server.conninfo("reading"), autocommit=True) as connection:
        connection.execute("DROP OWNED BY clerk; DROP ROLE clerk")


def test_a_schema_is_read_in_the_same_way(source: str) -> None:
    url = source if "://" in source else f"sqlite:///{source}"
    schema = Schema.from_sqlalchemy(
        url, views=True, max_values=5, column_seconds=0.3, strict="postgres" in url
    )
    found = {
        schema.qualified_name(i): column.values for i, column in enumerate(schema.columns) if column.values
    }
    if "postgres" in url:  # SQLite knows no type of the view's column
        assert found.pop("endless.parity") == ("even", "odd")
        assert schema.warnings == (f"column endless.parity: {LATE}",)
    assert found == {name: tuple(values) for name, values in KNOWN.items() if name != "endless.parity"}


@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_schema_keeps_its_tables_and_the_values_that_were_read(source: str) -> None:
    def interrupt(done: int, *_: object) -> None:
        if done == 1:
            signal.raise_signal(signal.SIGINT)

    url = source if "://" in source else f"sqlite:///{source}"
    for read_schema in (Schema.from_sqlalchemy, Schema.coerce):
        callback: Callable[..., None] = interrupt
        with pytest.raises(ReadingInterrupted) as caught:
            read_schema(url, progress=callback)
        schema = caught.value.partial
        assert isinstance(schema, Schema)
        assert {table.name for table in schema.tables} == {"drugs", "tests", "wide"}
        assert sum(bool(column.values) for column in schema.columns) == 1
        assert any("were not read" in warning for warning in schema.warnings)
