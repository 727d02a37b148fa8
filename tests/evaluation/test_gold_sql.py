"""The data sets' shorthand is replaced in code and never inside a value."""

from __future__ import annotations

import pytest

from fastsql.evaluation import normalise_sql

NOW = "2100-12-31 23:59:00"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT current_time", f"SELECT '{NOW}'"),
        ("SELECT CURRENT_TIMESTAMP", f"SELECT '{NOW}'"),
        ("SELECT current_date", "SELECT '2100-12-31'"),
        ("SELECT datetime('now', '-1 day')", f"SELECT datetime('{NOW}', '-1 day')"),
        ("SELECT strftime('%y-%j', current_time)", f"SELECT strftime('%Y-%J', '{NOW}')"),
        ("SELECT STRFTIME ( '%y', t.d )", "SELECT STRFTIME ( '%Y', t.d )"),
        ("x NOT BETWEEN sao2_lower AND SAO2_UPPER", "x NOT BETWEEN 95.0 AND 100.0"),
        ("x < diastolic_bp_lower", "x < 60.0"),
        ("a > = 1 AND b ! = 2", "a >= 1 AND b != 2"),
        ("SELECT\n  1", "SELECT 1"),
    ],
)
def test_shorthand_of_ehrsql_in_gold_sql_is_replaced(sql: str, expected: str) -> None:
    assert normalise_sql(sql, NOW) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.current_time FROM t",
        "SELECT t.sao2_lower FROM t",
        "SELECT 1 WHERE x = 'current_time'",
        "SELECT 1 WHERE x = 'sao2_lower > = %y'",
        "SELECT 1 WHERE x LIKE '%yeast%'",
        'SELECT "current_time" FROM t',
        "SELECT 1 WHERE x = 'it''s current_time'",
        "SELECT my_current_time FROM t",
    ],
)
def test_names_and_values_are_left_alone(sql: str) -> None:
    assert normalise_sql(sql, NOW) == sql


def test_without_a_time_now_stays() -> None:
    assert (
        normalise_sql("SELECT current_time, strftime('%y', 'now')")
        == "SELECT current_time, strftime('%Y', 'now')"
    )
