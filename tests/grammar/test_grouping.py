"""Strict grouping: beside aggregates stand only columns that the query groups by. Checked on the finished SQL alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from fastsql.execution import verify
from fastsql.grammar import ActionSpace
from fastsql.limits import DEFAULT
from fastsql.verification.verify import parse_query

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import space_for
from .strategies import habits, spaces
from .test_promises import LEAST, SEEDS, promise, written
from .walking import HABITS, Bias, walk


def stray_columns(query: exp.Expr) -> list[str]:
    """What stands beside aggregates of any query inside and is no key of its GROUP BY."""
    return [name for select in query.find_all(exp.Select) for name in _stray(select)]


def _stray(select: exp.Select) -> Iterator[str]:
    group = select.args.get("group")
    framing = [part for part in (select.args.get("having"), select.args.get("order")) if part is not None]
    found = [node for part in (*select.expressions, *framing) for node in _beside(part)]
    if group is None and not any(isinstance(node, exp.AggFunc) for node in found):
        return
    keys = {key.sql() for key in group.expressions} if group is not None else set()
    yield from (node.sql() for node in found if not isinstance(node, exp.AggFunc) and node.sql() not in keys)


def _beside(node: exp.Expr) -> Iterator[exp.Expr]:
    """Columns and stars outside of aggregates, and the aggregates, of one query; not what is inside nested ones.

    A function over a window is no aggregate: its argument and its keys stand where it stands.
    """
    if isinstance(node, exp.Query):
        return
    if isinstance(node, (exp.Column, exp.Star, exp.AggFunc)):
        yield node
        return
    parts = list(node.iter_expressions())
    if isinstance(node, exp.Window):
        parts = [*node.this.iter_expressions(), *(part for part in parts if part is not node.this)]
    for part in parts:
        if not (isinstance(node, exp.Window) and isinstance(part, exp.Star)):  # COUNT(*) OVER counts rows
            yield from _beside(part)


@promise
@given(spaces(), habits(), SEEDS)
def test_any_scores_give_sql_that_postgresql_would_group(space: ActionSpace, bias: Bias, seed: int) -> None:
    strict = replace(space, strict_grouping=True)
    sql = written(walk(strict, seed, bias).decisions, strict)
    assert stray_columns(parse_query(sql)) == []
    verify(sql, strict.schema)


@promise
@given(spaces(), habits(), SEEDS, st.integers(LEAST, 60))
def test_on_a_small_budget_any_scores_give_sql_that_postgresql_would_group(
    space: ActionSpace, bias: Bias, seed: int, budget: int
) -> None:
    strict = replace(space, strict_grouping=True, limits=replace(DEFAULT, actions=budget))
    result = walk(strict, seed, bias)
    assert result.used <= budget
    assert stray_columns(parse_query(written(result.decisions, strict))) == []


def test_without_strict_grouping_some_columns_stray() -> None:
    """The check sees what the switch prevents."""
    space = space_for(HOSPITAL, "how many?")
    habit = HABITS["many items"]
    assert any(stray_columns(parse_query(written(walk(space, n, habit).decisions, space))) for n in range(4))


@pytest.mark.parametrize(
    ("sql", "stray"),
    [
        ("SELECT a, COUNT(*) FROM t", ["a"]),
        ("SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY b", ["b"]),
        ("SELECT COUNT(*) FROM t GROUP BY a HAVING MIN(b) = b", ["b"]),
        ("SELECT RANK() OVER (PARTITION BY b ORDER BY COUNT(*)) FROM t GROUP BY a", ["b"]),
        ("SELECT a, SUM(b), (SELECT c FROM u) FROM t GROUP BY a", []),
        ("SELECT a FROM t WHERE a IN (SELECT b FROM t GROUP BY c)", ["b"]),
        ("SELECT RANK() OVER (ORDER BY b), a FROM t", []),
        ("SELECT SUM(b) OVER (PARTITION BY c), COUNT(*) OVER (), a FROM t", []),
        ("SELECT SUM(b) OVER (ORDER BY a), LAG(a) OVER (ORDER BY c) FROM t GROUP BY a", ["b", "c"]),
        ("SELECT SUM(COUNT(*)) OVER (ORDER BY a) FROM t GROUP BY a", []),
    ],
)
def test_the_check_tells_grouped_columns_from_others(sql: str, stray: list[str]) -> None:
    assert stray_columns(parse_one(sql)) == stray
