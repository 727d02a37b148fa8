"""How deep queries may nest: SQLite's parser has a stack of 100 entries; the weights in the grammar say what is on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from fastsql.execution import verify
from fastsql.grammar import GroundingError, render, sql_to_program, trace_program
from fastsql.grammar.bounds import MAX_NESTING
from fastsql.limits import DEFAULT
from fastsql.linking import find_candidates

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import literals_as_candidates, space_for
from .parser_stack import STACK, is_bounded, stack_depth
from .test_promises import QUESTION, written
from .walking import HABITS, replay, walk

FLAT = 22
"""Entries that a query without anything weighted takes at most."""
ROOMY = replace(DEFAULT, actions=2_000)

NESTED = {
    "item": "SELECT {} FROM admissions",
    "aggregate": "SELECT SUM(DISTINCT {}) FROM admissions",
    "arithmetic": "SELECT age - (hadm_id * ((age + 1) / {})) FROM admissions",
    "comparison": "SELECT age FROM admissions WHERE age IS NULL AND NOT (age = {})",
    "between": "SELECT age FROM admissions WHERE age IS NULL AND age NOT BETWEEN 0 AND {}",
    "having": "SELECT ward FROM admissions GROUP BY ward HAVING COUNT(*) > 1 AND COUNT(*) BETWEEN 0 AND SUM({})",
    "or": "SELECT age FROM admissions WHERE age IS NULL AND (age = 1 OR (age = 2 AND NOT (age > {})))",
    "in": "SELECT age FROM admissions WHERE age IS NULL AND age NOT IN (SELECT {} FROM admissions)",
    "when": "SELECT CASE WHEN age NOT BETWEEN 0 AND {} THEN 1 ELSE 0 END FROM admissions",
    "then": "SELECT CASE WHEN age = 3 THEN {} ELSE 0 END FROM admissions",
    "else": "SELECT CASE WHEN age = 3 THEN 0 ELSE {} END FROM admissions",
    "derived": "SELECT t.a FROM (SELECT age AS a, {} AS b FROM admissions) AS t",
    "joined": "SELECT t.a FROM cost LEFT JOIN (SELECT age AS a, {} AS b FROM admissions) AS t ON cost.cost = t.a",
    "operand": "SELECT age FROM admissions UNION SELECT hadm_id FROM admissions EXCEPT SELECT {} FROM admissions",
    "not exists": "SELECT age FROM admissions WHERE age IS NULL AND NOT EXISTS"
    " (SELECT 1 FROM (SELECT {} AS a FROM admissions GROUP BY age) AS t WHERE t.a = admissions.age)",
    "coalesce": "SELECT COALESCE(age, {}) FROM admissions",
    "nullif": "SELECT NULLIF({}, 0) FROM admissions",
    "window": "SELECT age - SUM(hadm_id) OVER (PARTITION BY ward ORDER BY age) / ({} - LAG(age) OVER (ORDER BY age))"
    " FROM admissions",
    "bare": "SELECT (SELECT 1 + age FROM admissions) = (SELECT {} FROM admissions)",
}
DAYS = "strftime('%J', dischtime) - strftime('%J', admittime)"
FLAT_QUERIES = {
    "order": f"SELECT age FROM admissions ORDER BY age, 24 * ({DAYS})",
    "order by an aggregate": f"SELECT age FROM admissions GROUP BY age ORDER BY COUNT(*), SUM({DAYS})",
    "window": "SELECT RANK() OVER (PARTITION BY age, ward ORDER BY age - strftime('%Y', admittime)) FROM admissions",
    "sum over a window": f"SELECT SUM({DAYS}) OVER (PARTITION BY age, ward ORDER BY age, {DAYS} DESC NULLS FIRST)"
    " FROM admissions",
    "quarter": "SELECT age FROM admissions ORDER BY DATE(admittime, 'start of month', '-' ||"
    " ((STRFTIME('%m', admittime) - 1) % 3) || ' months')",
    "years": "SELECT age FROM admissions WHERE age = 1 AND age BETWEEN 1 AND (strftime('%Y', dischtime)"
    " - strftime('%Y', admittime) - (strftime('%m-%d', dischtime) < strftime('%m-%d', admittime)))",
    "containment": "SELECT age FROM admissions WHERE age = 1 AND INSTR(LOWER(ward), LOWER(ward)) > 0",
    "condition": f"SELECT age FROM admissions WHERE age = 1 AND age NOT BETWEEN 1 AND (24 * ({DAYS}))",
    "calendar": "SELECT age FROM admissions WHERE age = 1 AND"
    " datetime(admittime) BETWEEN datetime(dischtime) AND datetime(dischtime, '+1 hour')",
    "list": "SELECT age FROM admissions WHERE age = 1 AND ward NOT IN ('a', 'b')",
    "pattern": "SELECT age FROM admissions WHERE age = 1 AND ward NOT LIKE '%5\\%%' ESCAPE '\\'",
    "on": "SELECT a.age FROM admissions a LEFT JOIN admissions b ON a.age = b.age AND a.ward = b.ward LIMIT 3 OFFSET 5",
}


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(HOSPITAL.to_ddl())
    yield connection
    connection.close()


@pytest.fixture
def bounded(connection: sqlite3.Connection) -> None:
    if not is_bounded(connection):
        pytest.skip("this SQLite's parser has no fixed stack; SQLite before 3.46 would run this")


def deepest_offered(templates: tuple[str, ...], leaf: str) -> tuple[str, int]:
    """The query that nests templates in turn as often as the automaton offers it, and how often that is."""
    sql, inner, levels = "", leaf, 0
    while True:
        query = templates[levels % len(templates)].format(inner)
        program = sql_to_program(query, HOSPITAL)
        try:
            trace_program(program, space_for(HOSPITAL, "?", literals_as_candidates(program), ROOMY))
        except GroundingError:
            return sql, levels
        sql, inner, levels = render(program, HOSPITAL), f"({query})", levels + 1


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("leaf", ["age", f"24 * ({DAYS})"], ids=["short", "long"])
def test_a_construct_nests_as_deep_as_sqlite_can_read(
    name: str, leaf: str, connection: sqlite3.Connection
) -> None:
    sql, levels = deepest_offered((NESTED[name],), leaf)
    assert levels >= (2 if name == "not exists" else 3)
    assert stack_depth(connection, sql) <= STACK
    verify(sql, HOSPITAL)


@pytest.mark.parametrize(("one", "other"), list(product(["having", "in", "when", "joined"], NESTED)))
def test_two_constructs_in_turn_nest_as_deep_as_sqlite_can_read(
    one: str, other: str, connection: sqlite3.Connection
) -> None:
    sql, _ = deepest_offered((NESTED[one], NESTED[other]), "strftime('%Y', admittime)")
    assert stack_depth(connection, sql) <= STACK
    verify(sql, HOSPITAL)


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", FLAT_QUERIES)
def test_what_has_no_weight_fits_into_what_is_set_aside(name: str, connection: sqlite3.Connection) -> None:
    program = sql_to_program(FLAT_QUERIES[name], HOSPITAL)
    space = space_for(HOSPITAL, "?", literals_as_candidates(program))
    weight = replay(space, trace_program(program, space).actions.tolist()).deepest
    assert stack_depth(connection, render(program, HOSPITAL)) <= FLAT + weight


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("habit", HABITS)
def test_the_weights_cover_the_stack(habit: str, connection: sqlite3.Connection) -> None:
    space = space_for(HOSPITAL, QUESTION, find_candidates(QUESTION, HOSPITAL))
    for seed in range(4):
        result = walk(space, seed, HABITS[habit])
        assert result.deepest <= MAX_NESTING
        assert stack_depth(connection, written(result.decisions, space)) <= FLAT + result.deepest


def test_the_bound_leaves_a_flat_query_its_room() -> None:
    assert MAX_NESTING + FLAT <= STACK
