"""Laying out SQL changes white space and nothing else."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.view.differences import Difference, differences
from fastsql.view.figures import milliseconds, told_apart
from fastsql.view.sql_layout import kind, lay_out, tokens

PIECES = st.sampled_from(
    [
        *(
            "SELECT",
            "FROM",
            "WHERE",
            "AND",
            "OR",
            "BETWEEN",
            "(",
            ")",
            "(SELECT",
            "ORDER BY",
            "LIMIT",
            "UNION",
            "JOIN",
        ),
        *(
            "LEFT",
            "t",
            "t.a",
            '"odd name"."col(umn"',
            "'it''s (SELECT'",
            "1.5",
            "<=",
            ",",
            "*",
            "'",
            '"',
            "患者.性别",
        ),
    ]
)


@given(st.lists(PIECES, max_size=40).map(" ".join))
def test_the_tokens_stay_as_they_are(sql: str) -> None:
    assert tokens(" ".join(lay_out(sql))) == tokens(sql)
    assert tokens("\n".join(lay_out(sql))) == tokens(sql)


@pytest.mark.parametrize(
    ("sql", "lines"),
    [
        ("", []),
        ("SELECT 1", ["SELECT 1"]),
        (
            "SELECT COUNT(*) FROM t JOIN u ON t.a = u.a LEFT JOIN v ON v.b = t.b WHERE t.x BETWEEN 1 AND 2 AND t.y = 3",
            [
                *("SELECT COUNT(*)", "FROM t", "JOIN u ON t.a = u.a", "LEFT JOIN v ON v.b = t.b"),
                *("WHERE t.x BETWEEN 1 AND 2", "AND t.y = 3"),
            ],
        ),
        (
            "SELECT a FROM (SELECT a, RANK() OVER (ORDER BY b DESC) AS r FROM t GROUP BY a) AS T1 WHERE (r = 1 OR r = 2)",
            [
                *(
                    "SELECT a",
                    "FROM (",
                    "  SELECT a, RANK() OVER (ORDER BY b DESC) AS r",
                    "  FROM t",
                    "  GROUP BY a",
                ),
                *(") AS T1", "WHERE (r = 1 OR r = 2)"),
            ],
        ),
        ("SELECT 'FROM x AND (SELECT' FROM t", ["SELECT 'FROM x AND (SELECT'", "FROM t"]),
        ("SELECT 1 UNION ALL SELECT 2", ["SELECT 1", "UNION ALL", "SELECT 2"]),
    ],
)
def test_clauses_and_subqueries_have_lines_of_their_own(sql: str, lines: list[str]) -> None:
    assert lay_out(sql) == lines


def test_what_is_laid_out_runs_as_before() -> None:
    sql = (
        "SELECT T1.C1, 'a  b', 1 - -2 FROM (SELECT 1 AS C1 UNION SELECT 2 AS C1) AS T1 "
        "WHERE T1.C1 IN (SELECT 2) AND T1.C1 BETWEEN 0 AND (SELECT 3)"
    )
    connection = sqlite3.connect(":memory:")
    assert (
        connection.execute("\n".join(lay_out(sql))).fetchall()
        == connection.execute(sql).fetchall()
        == [(2, "a  b", 3)]
    )
    connection.close()


def test_kinds_of_tokens() -> None:
    shown = [kind(token) for token in tokens("select 'x', 1.5, t.a, \"q\" <= 患者 '")]
    assert shown == [
        "keyword",
        "string",
        "sign",
        "number",
        "sign",
        "name",
        "sign",
        "name",
        "sign",
        "name",
        "sign",
    ]


# ---------------------------------------------------------------- differences


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("SELECT a FROM t", "SELECT a FROM t", ()),
        ("SELECT a FROM t LIMIT 1", "SELECT a FROM t LIMIT 2", (Difference("LIMIT 1", "LIMIT 2"),)),
        ("SELECT a FROM t", "SELECT a FROM t LIMIT 2", (Difference("t", "t LIMIT 2"),)),
        (
            "SELECT a FROM t WHERE b = 'x y' AND c = 1",
            "SELECT a FROM t WHERE b IN ('x y') AND c = 1",
            (Difference("b = 'x y'", "b IN ('x y')"),),
        ),
        ("SELECT f(a) FROM t WHERE t.b = 1", "SELECT f(d) FROM t WHERE t.b = 1", (Difference("a", "d"),)),
        ("SELECT a FROM t", "DELETE x y z", None),
    ],
)
def test_differences_are_told_with_what_they_are_about(
    one: str, other: str, found: tuple[Difference, ...] | None
) -> None:
    assert differences(one, other) == found


def test_very_long_queries_are_not_compared() -> None:
    assert differences("a " * 500, "a " * 500 + "b") is None


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (0.91, 0.9090909090909091, ("0.910", "0.909")),
        (0.9073, 10 / 11, ("0.907", "0.909")),
        (0.90909, 10 / 11, ("0.909090", "0.909091")),
        (0.2, 0.9, ("0.20", "0.90")),
        (0.5, 0.5, ("0.50", "0.50")),
        (0.5, 0.5 - 2**-53, ("0.5000000000000000", "0.4999999999999999")),
    ],
)
def test_two_numbers_are_told_apart(one: float, other: float, shown: tuple[str, str]) -> None:
    assert told_apart(one, other) == shown


@given(st.floats(0, 1), st.floats(0, 1))
def test_numbers_that_differ_visibly_never_look_alike(one: float, other: float) -> None:
    shown = told_apart(one, other)
    assert (shown[0] == shown[1]) == (f"{one:.16f}" == f"{other:.16f}")


def test_durations_have_as_many_decimals_as_tell() -> None:
    assert [milliseconds(value) for value in (0.061, 3.25, 99.96, 123.4)] == ["0.06", "3.2", "100.0", "123"]
