"""The automaton's three promises, for any schema, any question and any scores.

(a) Whatever it offers can be completed within the budget; (b) what is completed parses in sqlglot and prepares in
SQLite; (c) every name in it is a schema item or an alias of its own, and every literal has a provenance.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql.execution import verify
from fastsql.grammar import (
    ActionSpace,
    GroundingError,
    Literal,
    load_grammar,
    read_program,
    render,
    sql_to_program,
    trace_program,
)
from fastsql.grammar.walking import open_space
from fastsql.limits import DEFAULT
from fastsql.linking import find_candidates
from fastsql.schema import Schema
from fastsql.verification.verify import parse_query

from ..worlds.grammar_hospitals import SCHEMAS
from ..worlds.wide import numbered_columns
from .checks import check_names, check_provenance, check_written_literals
from .grounding import space_for
from .strategies import habits, spaces
from .walking import HABITS, Bias, walk

SEEDS = st.integers(0, 2**32 - 1)
NOISE = st.sampled_from([0.1, 1.0, 3.0])
LEAST = load_grammar().cost[0]
EXAMPLES = int(os.environ.get("FASTSQL_PROMISES", "40"))
"""How many queries are tried for each promise."""
promise = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
QUESTION = (
    'Which of the top five patients since 08/2100 had "icu ward" or 药物 heparin 12.5 on 12/05/2100 3 times?'
)


def written(decisions: tuple[int, ...], space: ActionSpace) -> str:
    return render(read_program(decisions, space), space.schema)


@promise
@given(spaces(), habits(), SEEDS, NOISE)
def test_no_scores_lead_into_a_dead_end(space: ActionSpace, bias: Bias, seed: int, noise: float) -> None:
    assert walk(space, seed, bias, noise).used <= DEFAULT.actions


@promise
@given(spaces(), habits(), SEEDS, st.integers(LEAST, 60))
def test_no_small_budget_leads_into_a_dead_end(
    space: ActionSpace, bias: Bias, seed: int, budget: int
) -> None:
    tight = replace(space, limits=replace(DEFAULT, actions=budget))
    result = walk(tight, seed, bias)
    assert result.used <= budget
    verify(written(result.decisions, tight), tight.schema)


@promise
@given(spaces(), habits(), SEEDS, NOISE)
def test_any_scores_give_sql_that_parses_and_prepares(
    space: ActionSpace, bias: Bias, seed: int, noise: float
) -> None:
    sql = written(walk(space, seed, bias, noise).decisions, space)
    parse_query(sql)
    connection = sqlite3.connect(":memory:")
    connection.executescript(space.schema.to_ddl())
    connection.execute(f"EXPLAIN {sql}")
    connection.close()
    verify(sql, space.schema)


@promise
@given(spaces(), habits(), SEEDS)
def test_every_name_is_known_and_every_literal_has_a_provenance(
    space: ActionSpace, bias: Bias, seed: int
) -> None:
    program = read_program(walk(space, seed, bias).decisions, space)
    tree = parse_query(render(program, space.schema))
    check_names(tree, space.schema)
    for item in program:
        if isinstance(item, Literal):
            check_provenance(item, space)
    check_written_literals(tree, program)


@pytest.fixture(scope="module")
def room() -> Iterator[None]:
    """Room for sqlglot's parser, which recurses some twenty frames a parenthesis."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(5_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("room")
@promise
@given(spaces(), habits(), SEEDS)
def test_what_is_written_can_be_read_back(space: ActionSpace, bias: Bias, seed: int) -> None:
    program = sql_to_program(written(walk(space, seed, bias).decisions, space), space.schema)
    ours = render(program, space.schema)
    assert sql_to_program(ours, space.schema) == program
    verify(ours, space.schema)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("habit", HABITS)
def test_every_habit_is_survived_on_every_ward(habit: str, schema: Schema) -> None:
    space = space_for(schema, QUESTION, find_candidates(QUESTION, schema))
    for seed in range(3):
        verify(written(walk(space, seed, HABITS[habit]).decisions, space), schema)


@pytest.mark.parametrize(("operands", "offered"), [(3, True), (4, False)])
def test_what_all_columns_write_is_counted_over_all_operands(operands: int, offered: bool) -> None:
    schema = Schema.from_dict({"wide": numbered_columns(300)})
    program = sql_to_program(" UNION ALL ".join(["SELECT * FROM wide"] * operands), schema)
    if offered:
        trace_program(program, open_space(schema))
    else:
        with pytest.raises(GroundingError, match="does not offer"):
            trace_program(program, open_space(schema))
