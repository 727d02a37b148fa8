"""Whole extensions: drawn by a seed, one on another, into a new file; the old one stays as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql.datasets import Example
from fastsql.schema import Schema
from fastsql.synthesis.extension import extend, extend_at, find_sites, variants
from fastsql.synthesis.source import SynthesisError

from ...worlds.linked_ward import QUERIES, make_ward
from .conftest import Make

PAIRS = [Example(str(number), "ward", "?", sql) for number, sql in enumerate(QUERIES)]


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize("seed", ["1", "5"])
def test_operations_work_on_what_others_have_made(seed: str, tmp_path: Path) -> None:
    path, target = tmp_path / "ward.sqlite", tmp_path / "extended.sqlite"
    schema = make_ward(path, 1)
    made = extend(schema, path, target, pairs=PAIRS, seed=seed, steps=3)
    assert len(made.operations) == 3
    assert len(made.pairs) > 0.9 * len(PAIRS)
    assert {one.why for one in made.dropped} <= {"another answer", "a condition that no part meets"}
    assert {table.name for table in Schema.from_sqlite(target).tables} == {t.name for t in made.schema.tables}
    assert Schema.from_dict(made.schema.to_dict()) == made.schema


def test_the_same_seed_makes_the_same_extension_and_the_original_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    schema = make_ward(path, 1)
    before = path.read_bytes()
    one, again, other = (
        extend(schema, path, tmp_path / f"{n}.sqlite", pairs=PAIRS, seed=seed, steps=2, name="ward_x")
        for n, seed in enumerate(("a", "a", "b"))
    )
    assert path.read_bytes() == before
    assert (one.schema, one.pairs, one.operations) == (again.schema, again.pairs, again.operations)
    assert one.database.read_bytes() == again.database.read_bytes()
    assert one.operations != other.operations
    assert one.database.stat().st_mode & 0o777 == 0o600


def test_variants_of_an_extended_database_differ_in_their_operations(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    schema = make_ward(path, 1)
    made = list(variants(schema, path, tmp_path, 4, steps=2))
    assert len({one.operations for one in made}) == 4
    assert [one.schema.name for one in made] == [f"ward_x{number}" for number in (1, 2, 3, 4)]


def test_the_file_declares_no_key_that_the_rows_break(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    schema = make_ward(path, 1)
    for number, site in enumerate(find_sites(schema, path)):
        target = tmp_path / f"{number}.sqlite"
        extend_at(schema, path, target, [lambda *_, s=site: s])  # type: ignore[misc]
        with closing(sqlite3.connect(target)) as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE t (id INTEGER PRIMARY KEY);",
        "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('x', 'y');",
    ],
    ids=["no rows", "nothing to do"],
)
def test_a_database_to_which_nothing_applies_is_an_error_and_leaves_no_file(script: str, make: Make) -> None:
    path = make(script)
    target = path.with_name("extended.sqlite")
    with pytest.raises(SynthesisError, match="no operation applies to it"):
        extend(Schema.from_sqlite(path), path, target)
    assert not target.exists()


def test_types_and_values_are_carried_over_as_they_are(make: Make) -> None:
    path = make(
        "CREATE TABLE p (code VARCHAR(3) PRIMARY KEY, at DATETIME);"
        "INSERT INTO p VALUES ('007', '2020-01-01'), ('08', NULL);"
        "CREATE TABLE c (id INTEGER PRIMARY KEY, code VARCHAR(3) REFERENCES p (code), n NUMERIC, x, y REAL, z BLOB);"
        "INSERT INTO c VALUES (1, '007', 1.5, '12', 2, x'00ff'), (2, '08', '1e3', 12, 3.25, NULL),"
        " (3, NULL, NULL, 1.0, 4, 'text');"
    )
    schema = Schema.from_sqlite(path)
    columns = ("id", "code", "n", "x", "y", "z")
    sql = f"SELECT {', '.join(f'{name}, typeof({name})' for name in columns)} FROM c ORDER BY id"
    for site in find_sites(schema, path):
        target = path.with_name(f"{site.operation}.sqlite")
        made = extend_at(schema, path, target, [lambda *_, s=site: s], [Example("q", "d", "?", sql)])  # type: ignore[misc]
        assert [pair.original for pair in made.pairs] == [sql], site.operation


CELLS = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(
    parents=st.lists(st.tuples(CELLS, st.sampled_from(["x", "y"])), min_size=1, max_size=5),
    children=st.lists(st.tuples(st.integers(0, 9), CELLS, st.sampled_from(["x", "y", "z"])), max_size=8),
)
def test_whatever_the_rows_are_queries_keep_their_answers(
    parents: list[tuple[str | None, str]], children: list[tuple[int, str | None, str]], make: Make
) -> None:
    path = make("CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT, k TEXT);"
                "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p (id), a TEXT, k TEXT)")  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("INSERT INTO p (a, k) VALUES (?, ?)", parents)
        rows = [(place if 0 < place <= len(parents) else None, *rest) for place, *rest in children]
        connection.executemany("INSERT INTO c (p, a, k) VALUES (?, ?, ?)", rows)
        connection.commit()
    schema = Schema.from_sqlite(path)
    queries = (
        "SELECT p.a, c.a FROM p LEFT JOIN c ON c.p = p.id AND c.k = 'x'",
        "SELECT c.a, p.k FROM c JOIN p ON c.p = p.id WHERE p.k = 'y'",
        "SELECT a, COUNT(*) FROM p GROUP BY a",
        "SELECT p, COUNT(a) FROM c GROUP BY p",
        "SELECT a FROM p WHERE id NOT IN (SELECT p FROM c WHERE p IS NOT NULL)",
        "SELECT k, a FROM c WHERE p > 1 UNION ALL SELECT k, a FROM p",
    )
    pairs = [Example(sql, "d", "?", sql) for sql in queries]
    for number, site in enumerate(find_sites(schema, path)):
        target = path.with_name(f"{number}.sqlite")
        made = extend_at(schema, path, target, [lambda *_, s=site: s], pairs)  # type: ignore[misc]
        target.unlink()
        assert {one.why for one in made.dropped} <= {"a condition that no part meets"}
