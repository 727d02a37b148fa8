"""Queries whose results make no sense are told from others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql.execution import open_executor
from fastsql.schema import Schema
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.results import Results, SenselessError, are_equal
from fastsql.synthesis.schema.words import Words
from fastsql.verification.parse import parse_query

from ...worlds.database import inserted, write_database


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    ddl = (
        "CREATE TABLE stays (id INTEGER PRIMARY KEY, kind TEXT, cost REAL, report TEXT, began DATETIME, note TEXT,"
        " part TEXT);"
    )
    rows = [
        (
            n,
            "ab"[n % 2],
            n + 0.5,
            f"The patient number {n} was seen and sent home.",
            f"2020-01-0{n} 09:00:00",
            None,
            "xyzxxxx"[n - 1],
        )
        for n in range(1, 8)
    ]
    path = write_database(tmp_path / "stays.sqlite", ddl + inserted("stays", rows))
    schema = Schema.from_sqlite(path)
    with open_executor(path) as executor:
        yield Results(schema, executor, Contents(schema, executor), Words(schema))


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT stays.note FROM stays", "nothing"),
        ("SELECT COUNT(*) FROM stays WHERE stays.kind = 'c'", "nothing"),
        ("SELECT stays.kind FROM stays WHERE stays.cost > 0", "condition"),
        ("SELECT stays.id, COUNT(*) FROM stays GROUP BY stays.id", "nothing"),
        ("SELECT stays.id FROM stays GROUP BY stays.id ORDER BY COUNT(*) DESC LIMIT 1", "one row"),
        ("SELECT stays.cost, COUNT(*) FROM stays GROUP BY stays.cost", "measures"),
        ("SELECT stays.report, COUNT(*) FROM stays GROUP BY stays.report", "texts"),
        ("SELECT stays.began, COUNT(*) FROM stays GROUP BY stays.began", "measures"),
        ("SELECT stays.id FROM stays ORDER BY stays.kind LIMIT 1", "equal rows"),
        ("SELECT DISTINCT stays.kind, stays.id FROM stays ORDER BY stays.kind DESC LIMIT 3", "equal rows"),
        ("SELECT stays.part FROM stays GROUP BY stays.part ORDER BY COUNT(*) LIMIT 1", "equal rows"),
        (
            "SELECT stays.id FROM stays WHERE stays.cost > 3 UNION SELECT stays.id FROM stays WHERE stays.cost < 0",
            "two parts",
        ),
        ("SELECT stays.lost FROM stays", "failed"),
    ],
)
def test_a_query_whose_result_makes_no_sense_is_refused_with_the_reason(
    sql: str, why: str, results: Results
) -> None:
    with pytest.raises(SenselessError, match=why):
        results.check(parse_query(sql), sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT stays.kind FROM stays WHERE stays.cost > 3",
        "SELECT stays.kind, COUNT(*) FROM stays GROUP BY stays.kind",
        "SELECT stays.kind FROM stays GROUP BY stays.kind ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT stays.part FROM stays GROUP BY stays.part ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT stays.id FROM stays ORDER BY stays.cost LIMIT 3",
        "SELECT DISTINCT stays.kind FROM stays ORDER BY stays.kind DESC LIMIT 1",
    ],
)
def test_a_query_whose_result_makes_sense_is_kept_as_it_is(sql: str, results: Results) -> None:
    query = parse_query(sql)
    before = query.sql("sqlite")
    results.check(query, sql)
    assert query.sql("sqlite") == before


def test_answers_are_compared_in_whatever_order(results: Results) -> None:
    down, up = (
        "SELECT stays.id FROM stays ORDER BY stays.cost DESC",
        "SELECT stays.id FROM stays ORDER BY stays.cost",
    )
    assert not results.differ(parse_query(down), parse_query(up))
    assert results.differ(parse_query(up), parse_query("SELECT stays.cost FROM stays"))
    assert are_equal([(1,), (None,)], [(None,), (1,)])
