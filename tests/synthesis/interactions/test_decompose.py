"""Queries are taken apart to steps that refer to each other, and put together again they are what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.grammar import load_grammar, render, sql_to_program
from fastsql.synthesis.interactions.canonical import canonical
from fastsql.synthesis.interactions.merging import LEAST, merge_at, merge_frequent

from .clinic import (
    ANY,
    BUSY_REASONS,
    CLINIC,
    DIFFERENCE,
    FIRST_VALUE,
    MEN_ONLY,
    QUERIES,
    TOP_REASONS,
    TOTAL,
    database,
    put_together,
    shape,
    taken_apart,
)

GRAMMAR = load_grammar()


def test_nested_queries_are_asked_first() -> None:
    assert [shape(step) for step in taken_apart(FIRST_VALUE, clauses=False)] == [
        "table eq . 4 not_null . . asc . limit 1 end",
        "table in_previous @0 . eq . 'aspirin' . end",
    ]


def test_clauses_follow_in_the_order_of_execution() -> None:
    assert [shape(step) for step in taken_apart(FIRST_VALUE)] == [
        "table not_null . . end",  # no turn of its own: it cleans data
        "extend @0 eq . 4 keep",
        "extend @1 sort_rows asc . limit 1 end",
        "table . end",
        "extend @3 in_previous @2 . keep",
        "extend @4 eq . 'aspirin' keep",
    ]


def test_groups_come_with_what_is_selected_of_them() -> None:
    assert [shape(step) for step in taken_apart(BUSY_REASONS)] == [
        "table . end",
        "extend @0 gt . 3 keep",
        "extend @1 group . . end",
        "extend @2 and_having gt count_all 2 keep",
        "extend @3 sort_groups desc count_all end",
    ]


def test_what_stands_over_a_derived_table_is_not_parted() -> None:
    assert [shape(step) for step in taken_apart(TOP_REASONS)][-1] == "previous @2 le * 2 * end"


def test_aggregates_are_asked_of_rows_that_were_shown() -> None:
    assert [shape(step) for step in taken_apart(TOTAL)] == [
        "table . end",
        "extend @0 eq . 4 keep",
        "extend @1 eq . 'cough' keep",
        "extend @2 sum . end",
    ]
    assert shape(taken_apart(ANY)[0]) == "table all_columns end"


def test_a_step_that_is_known_is_not_asked_again() -> None:
    steps = [shape(step) for step in taken_apart(DIFFERENCE)]
    assert steps[2:] == [
        "extend @1 sort_rows desc . limit 1 end",
        "extend @1 sort_rows asc . limit 1 end",
        "bare minus previous_value @2 previous_value @3 end",
    ]


@pytest.mark.parametrize("clauses", [False, True])
@pytest.mark.parametrize("sql", QUERIES)
def test_put_together_a_query_is_what_it_was(sql: str, clauses: bool, tmp_path: Path) -> None:
    program = sql_to_program(sql, CLINIC)
    again = put_together(taken_apart(sql, clauses=clauses))
    assert canonical(again, GRAMMAR) == canonical(program, GRAMMAR)
    with database(tmp_path) as executor:
        assert sorted(executor.run(render(again, CLINIC)).rows) == sorted(executor.run(sql).rows)


def test_conditions_behind_a_turn_s_result_are_kept_when_it_is_written_out() -> None:
    assert "drugs.drug = 'aspirin'" in render(put_together(taken_apart(FIRST_VALUE, clauses=False)), CLINIC)


@pytest.mark.parametrize("sql", QUERIES)
def test_steps_may_be_merged_wherever_one_was_parted_from_the_other(sql: str) -> None:
    steps = taken_apart(sql)
    merged = merge_frequent([steps] * (LEAST + 1), 0.0, CLINIC, GRAMMAR)[0]
    assert len(merged) < len(steps) or sql == MEN_ONLY  # whose steps are each referred to by two
    assert canonical(put_together(merged), GRAMMAR) == canonical(put_together(steps), GRAMMAR)


def test_only_frequent_neighbours_are_merged() -> None:
    interactions = [taken_apart(TOTAL)] * (LEAST + 5) + [taken_apart(MEN_ONLY)]
    merged = merge_frequent(interactions, 0.0, CLINIC, GRAMMAR)
    assert len(merged[0]) == 1
    assert merged[-1] == interactions[-1]
    assert merge_frequent(interactions, 1.0, CLINIC, GRAMMAR) == interactions


def test_references_are_renumbered_when_steps_are_merged() -> None:
    steps = merge_at(taken_apart(DIFFERENCE), 0, CLINIC, GRAMMAR)
    assert shape(steps[-1]) == "bare minus previous_value @1 previous_value @2 end"
