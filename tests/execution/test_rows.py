"""Rows are iterated over, become dictionaries and data frames, and lose no cell on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fastsql import Audit
from fastsql.errors import ExecutionError
from fastsql.execution import RefusedError, Rows, open_executor

from ..databases import PostgresServer
from ..worlds.ward import ward_database, ward_schema

ROWS = Rows(("id", "name", "id"), ((1, "Ada", 2), (3, None, 4)))


def test_rows_iterate_in_the_order_of_the_query_and_have_a_length() -> None:
    assert list(ROWS) == [(1, "Ada", 2), (3, None, 4)]
    assert [name for _, name, _ in ROWS] == ["Ada", None]
    assert (len(ROWS), len(Rows(("id",), ()))) == (2, 0)


def test_a_name_that_a_query_gives_twice_is_numbered_and_no_cell_is_lost() -> None:
    assert ROWS.to_dicts() == [{"id": 1, "name": "Ada", "id_2": 2}, {"id": 3, "name": None, "id_2": 4}]
    assert ROWS.columns == ("id", "name", "id")


@pytest.mark.parametrize(
    ("columns", "unique"),
    [
        ((), ()),
        (("a", "b"), ("a", "b")),
        (("a", "a", "a"), ("a", "a_2", "a_3")),
        (("a", "a", "a_2"), ("a", "a_3", "a_2")),
        (("a_2", "a", "a"), ("a_2", "a", "a_3")),
        (("a", "a_2", "a", "a_2"), ("a", "a_2", "a_3", "a_2_2")),
        (("", ""), ("", "_2")),
        (("数", "数"), ("数", "数_2")),
        (("a", "A"), ("a", "A")),
    ],
)
def test_unique_names_are_unique_and_each_name_stands_where_it_stood_first(
    columns: tuple[str, ...], unique: tuple[str, ...]
) -> None:
    rows = Rows(columns, (tuple(range(len(columns))),))
    assert rows.unique_columns == unique
    assert rows.to_dicts() == [dict(zip(unique, range(len(columns)), strict=True))]


# ---------------------------------------------------------------- pandas


def test_a_data_frame_has_the_types_of_the_cells_and_keeps_every_digit() -> None:
    pandas = pytest.importorskip("pandas", reason="pip install '.[pandas]' to run this")
    big = 2**62 + 1
    rows = Rows(
        ("id", "id", "rate", "name", "price", "at", "on", "flag", "huge"),
        (
            (1, big, 0.5, "Ada", Decimal("1.10"), datetime(2100, 1, 2, 3), date(2100, 1, 2), True, 2**70),  # noqa: DTZ001
            (2, None, None, None, None, None, None, None, None),
            (3, 7, 2.0, "", Decimal("2"), datetime(2100, 1, 3), date(2100, 1, 3), False, 1),  # noqa: DTZ001
        ),
    )
    frame = rows.to_pandas()
    assert list(frame.columns) == [*rows.unique_columns] == ["id", "id_2", *rows.columns[2:]]
    assert frame["id"].dtype == "int64"
    assert frame["id_2"].dtype == "Int64"
    assert frame["id_2"].tolist() == [big, pandas.NA, 7]
    assert frame["flag"].dtype == "boolean"
    assert frame["rate"].dtype == "float64"
    assert frame["rate"].isna().tolist() == [False, True, False]
    assert frame["name"].isna().tolist() == [False, True, False]
    assert frame["name"][2] == ""
    assert frame["price"][0] == Decimal("1.10")
    assert frame["at"].dtype.kind == "M"
    assert frame["on"][0] == date(2100, 1, 2)
    assert frame["huge"][0] == 2**70


def test_a_result_without_rows_is_a_data_frame_with_its_columns() -> None:
    pytest.importorskip("pandas", reason="pip install '.[pandas]' to run this")
    frame = Rows(("id", "id"), ()).to_pandas()
    assert list(frame.columns) == ["id", "id_2"]
    assert len(frame) == 0


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ExecutionError, match=r"'pandas' is not installed.*pip install 'fastsql\[pandas\]'"):
        ROWS.to_pandas()


# ---------------------------------------------------------------- refusals


@pytest.fixture(params=["sqlite", "duckdb", "postgres", "isolated", "audited"])
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """One of each kind, with a schema."""
    schema, target = ward_schema(), str(tmp_path / "ward.sqlite")
    isolated = request.param == "isolated"
    if isolated and sys.platform != "linux":
        pytest.skip("isolated=True needs Linux")
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        target = server.url()
    elif request.param == "duckdb":
        request.getfixturevalue("duckdb_driver")
        import duckdb

        duckdb.connect(target).close()
    else:
        ward_database(Path(target))
    with open_executor(target, schema=schema, isolated=isolated) as opened:
        yield Audit([].append).watch(opened) if request.param == "audited" else opened


def test_the_sql_of_a_refusal_is_refused_by_an_error_that_says_so(executor: Any) -> None:
    with pytest.raises(RefusedError, match=r"query: there is no SQL to run: the question was refused\. Look"):
        executor.run(None)
    with pytest.raises(RefusedError), executor.cursor(None):
        pass
    assert issubclass(RefusedError, ExecutionError)


@pytest.mark.parametrize("sql", [b"SELECT 1", 1, ["SELECT 1"]])
def test_a_query_that_is_no_text_is_refused(sql: Any, executor: Any) -> None:
    with pytest.raises(ExecutionError, match=rf"query: is {type(sql).__name__}, not text"):
        executor.run(sql)
