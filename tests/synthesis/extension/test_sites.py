"""Where operations apply: what the rows do not bear out is not offered."""

from __future__ import annotations

import pytest

from fastsql.schema import Schema
from fastsql.synthesis.extension import extend_at, find_sites
from fastsql.synthesis.source import SynthesisError

from .conftest import Make, described

PARENT = "CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO p VALUES (1, 'a'), (2, 'b');"
CHILD = "CREATE TABLE c (id INTEGER PRIMARY KEY, p_id INTEGER REFERENCES p (id), note TEXT);"
BOTH = ["relation: c(p_id) -> p", "merge: p + c (p_id)"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (f"{PARENT}{CHILD} INSERT INTO c VALUES (1, 1, 'x'), (2, 1, 'y'), (3, NULL, 'z');", BOTH),
        (f"{PARENT}{CHILD}", []),
        (f"{PARENT}{CHILD} INSERT INTO c VALUES (1, NULL, 'x');", []),
        (f"{PARENT}{CHILD} INSERT INTO c VALUES (1, 1, 'x'), (2, 7, 'y');", []),
        ("CREATE TABLE p (id INTEGER, name TEXT); INSERT INTO p VALUES (1, 'a');", []),
        (f"{PARENT} CREATE TABLE q (id INTEGER PRIMARY KEY); INSERT INTO q VALUES (1);", []),
    ],
    ids=["rows", "no rows", "NULL keys only", "a dangling key", "one table", "no keys"],
)
def test_keys_that_link_nothing_are_not_offered(script: str, expected: list[str], make: Make) -> None:
    path = make(script)
    assert described(Schema.from_sqlite(path), path) == expected


@pytest.mark.parametrize("rows", ["(1, 'a'), (1, 'b')", "(1, 'a'), (NULL, 'b')"], ids=["doubles", "NULL"])
def test_a_key_that_the_rows_break_is_none(rows: str, make: Make) -> None:
    path = make(
        f"CREATE TABLE p (id INTEGER, name TEXT); INSERT INTO p VALUES {rows};"
        "CREATE TABLE c (id INTEGER, p_id INTEGER); INSERT INTO c VALUES (1, 1), (1, 1);"
    )
    tables = [
        {
            "name": "p",
            "columns": [
                {"name": "id", "primary_key": True, "type": "number"},
                {"name": "name", "type": "text"},
            ],
        },
        {
            "name": "c",
            "columns": [
                {"name": "id", "primary_key": True, "type": "number"},
                {"name": "p_id", "type": "number"},
            ],
        },
    ]
    schema = Schema.from_dict({"db_id": "d", "tables": tables, "foreign_keys": [["c.p_id", "p.id"]]})
    assert find_sites(schema, path) == ()


@pytest.mark.parametrize(
    ("kinds", "parts"),
    [
        (["F", "M"] * 3, 2),
        (["F", "M", None] * 3, 0),
        (["F"] * 6, 0),
        (["F", "M"], 0),
        (list("abcdef") * 3, 0),
        (["F", ""] * 3, 0),
    ],
    ids=["two", "a NULL", "one", "too few rows", "too many", "an empty one"],
)
def test_a_column_of_few_values_that_repeat_splits_a_table(
    kinds: list[str | None], parts: int, make: Make
) -> None:
    rows = ", ".join(
        f"({n}, {'NULL' if kind is None else repr(kind)}, 'x{n}')" for n, kind in enumerate(kinds)
    )
    path = make(f"CREATE TABLE t (id INTEGER PRIMARY KEY, sex TEXT, note TEXT); INSERT INTO t VALUES {rows};")
    assert described(Schema.from_sqlite(path), path) == ([f"split: t by sex, {parts} parts"] if parts else [])


def test_a_composite_key_that_is_null_in_part_is_related_but_not_merged(make: Make) -> None:
    script = (
        "CREATE TABLE p (a INTEGER, b INTEGER, n TEXT, PRIMARY KEY (a, b)); INSERT INTO p VALUES (1, 1, 'x'), (1, 2, 'y');"
        "CREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, FOREIGN KEY (a, b) REFERENCES p (a, b));"
        "INSERT INTO c VALUES (1, 1, 1), (2, {}, NULL);"
    )
    path = make(script.format(1))
    schema = Schema.from_sqlite(path)
    assert described(schema, path) == ["relation: c(a, b) -> p"]
    target = path.with_name("extended.sqlite")
    assert extend_at(schema, path, target, [lambda *_: find_sites(schema, path)[0]]).operations
    path = make(script.format("NULL"))
    assert described(schema, path) == ["relation: c(a, b) -> p", "merge: p + c (a, b)"]


def test_sites_are_always_listed_in_the_same_order(make: Make) -> None:
    path = make(f"{PARENT}{CHILD} INSERT INTO c VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'x'), (4, 2, 'y');")
    schema = Schema.from_sqlite(path)
    assert described(schema, path) == described(schema, path)
    assert described(schema, path) == [*BOTH, "split: c by note, 2 parts"]


def test_a_table_of_1530_columns_is_extended(make: Make) -> None:
    columns = ", ".join(f"c{n} TEXT" for n in range(1528))
    path = make(
        f"{PARENT} CREATE TABLE w (id INTEGER PRIMARY KEY, p_id INTEGER REFERENCES p (id), {columns});"
        "INSERT INTO w (id, p_id, c7) VALUES (1, 1, 'x'), (2, 2, 'y');"
    )
    schema = Schema.from_sqlite(path, max_values=0)
    for site in find_sites(schema, path):
        target = path.with_name(f"{site.operation}.sqlite")
        made = extend_at(schema, path, target, [lambda *_, s=site: s])  # type: ignore[misc]
        assert max(len(table.columns) for table in made.schema.tables) in (1529, 1531)


def test_tables_that_would_be_wider_than_sqlite_bears_are_not_merged(make: Make) -> None:
    def columns(name: str) -> str:
        return ", ".join(f"{name}{n} TEXT" for n in range(1200))

    path = make(
        f"CREATE TABLE p (id INTEGER PRIMARY KEY, {columns('p')}); INSERT INTO p (id) VALUES (1);"
        f"CREATE TABLE c (id INTEGER PRIMARY KEY, p_id INTEGER REFERENCES p (id), {columns('c')});"
        "INSERT INTO c (id, p_id) VALUES (1, 1);"
    )
    assert described(Schema.from_sqlite(path, max_values=0), path) == ["relation: c(p_id) -> p"]


def test_a_schema_of_another_database_is_an_error(make: Make) -> None:
    path = make(PARENT)
    with pytest.raises(SynthesisError, match=r"column p\.hair: the database has no such column"):
        find_sites(Schema.from_dict({"p": {"id": "INT", "hair": "TEXT"}}), path)


def test_what_is_no_database_is_an_error(make: Make) -> None:
    path = make(PARENT)
    schema = Schema.from_sqlite(path)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(SynthesisError, match="SQLite cannot read it"):
        find_sites(schema, path)


def test_an_operation_that_there_is_not_is_an_error(make: Make) -> None:
    path = make(PARENT)
    with pytest.raises(
        SynthesisError, match=r"operation 'melt': there is no such operation\. There are: relation"
    ):
        find_sites(Schema.from_sqlite(path), path, ["melt"])
