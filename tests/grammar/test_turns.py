"""Conversations: a query may point at earlier ones. Whatever it takes of them, what is written is one query alone."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from fastsql.errors import LimitError
from fastsql.execution import verify
from fastsql.grammar import (
    ActionSpace,
    DerivedRef,
    GroundingError,
    Literal,
    State,
    Turn,
    TurnRef,
    read_program,
    read_turn,
    render,
    sql_to_program,
    trace_program,
)
from fastsql.grammar.actions import STEP
from fastsql.grammar.bounds import MAX_NESTING
from fastsql.grammar.inlining import inline, program_of
from fastsql.grammar.tree import read_tree
from fastsql.limits import DEFAULT
from fastsql.training.corpus.programs import dump_program, parse_program

from ..worlds.grammar_hospitals import HOSPITAL
from .conversations import FOND, POINTING
from .earlier_turns import (
    END,
    EVERYTHING,
    FIRST,
    OLDEST,
    PATIENTS,
    TIMES,
    WARDS,
    P,
    asked,
    column,
    offered,
    said,
    table,
    turn,
)
from .grounding import space_for
from .parser_stack import STACK, is_bounded, stack_depth
from .test_promises import QUESTION
from .walking import walk

# ---------------------------------------------------------------- what a query may take of earlier ones


def test_a_result_is_a_derived_table() -> None:
    program = (FIRST, TurnRef(0), DerivedRef(0, 0), END)
    assert said(program, WARDS) == (
        "SELECT T1.ward FROM (SELECT admissions.ward, COUNT(*) AS C2 FROM admissions GROUP BY admissions.ward) AS T1"
    )


def test_two_results_are_joined() -> None:
    program = (
        *(FIRST, TurnRef(0), P("join"), FIRST, TurnRef(1), DerivedRef(0, 0), DerivedRef(1, 0)),
        *(DerivedRef(1, 0), END),
    )
    sql = said(program, PATIENTS, turn("SELECT admissions.subject_id FROM admissions"))
    assert (
        "AS T1 JOIN (SELECT admissions.subject_id FROM admissions) AS T2 ON T1.subject_id = T2.subject_id"
        in sql
    )


def test_the_columns_of_star_can_be_pointed_at() -> None:
    sql = said((FIRST, TurnRef(0), DerivedRef(0, 1), END), EVERYTHING)
    assert sql == (
        "SELECT T1.label FROM (SELECT d_items.itemid, d_items.label, d_items.unit FROM d_items) AS T1"
    )


def test_conditions_behind_a_result_are_kept() -> None:
    program = (
        *(table("admissions"), P("in_previous"), TurnRef(0), column("admissions", "subject_id")),
        *(P("is_null"), column("admissions", "dischtime"), column("admissions", "hadm_id"), END),
    )
    assert said(program, PATIENTS).endswith("'f') AND admissions.dischtime IS NULL")


def test_a_result_is_a_set() -> None:
    program = (
        *(table("admissions"), P("in_previous"), TurnRef(0), column("admissions", "subject_id")),
        *(column("admissions", "hadm_id"), END),
    )
    assert said(program, PATIENTS).endswith(
        "admissions.subject_id IN (SELECT patients.subject_id FROM patients WHERE patients.gender = 'f')"
    )
    outside = (*program[:1], P("not_in_previous"), *program[2:])
    assert "subject_id NOT IN (SELECT" in said(outside, PATIENTS)


def test_a_result_is_a_value() -> None:
    program = (
        *(table("admissions"), P("eq"), column("admissions", "age"), P("previous_value"), TurnRef(0)),
        *(column("admissions", "hadm_id"), END),
    )
    assert "age = (SELECT MAX(admissions.age) FROM admissions)" in said(program, OLDEST)


def test_results_are_compared_without_a_table() -> None:
    youngest = turn("SELECT MIN(admissions.age) FROM admissions")
    program = (P("bare"), P("minus"), P("previous_value"), TurnRef(0), P("previous_value"), TurnRef(1), END)
    assert said(program, OLDEST, youngest) == (
        "SELECT (SELECT MAX(admissions.age) FROM admissions) - (SELECT MIN(admissions.age) FROM admissions)"
    )


# ---------------------------------------------------------------- what it may not


def test_without_earlier_turns_nothing_points_at_one() -> None:
    space = space_for(HOSPITAL, QUESTION)
    assert space.sizes[-1] == 0
    assert offered(State.start(space)).isdisjoint(POINTING)
    with pytest.raises(GroundingError):
        trace_program((FIRST, TurnRef(0), DerivedRef(0, 0), END), space)


def test_what_was_refused_cannot_be_pointed_at() -> None:
    state = State.start(asked((), [WARDS.unusable, PATIENTS.unusable]))
    assert offered(state).isdisjoint(POINTING)
    assert not WARDS.unusable.usable


@pytest.mark.parametrize("unfit", [WARDS, EVERYTHING])
def test_a_set_has_one_column(unfit: Turn) -> None:
    program = (table("admissions"), P("in_previous"), TurnRef(0), column("admissions", "hadm_id"))
    with pytest.raises(GroundingError):
        said((*program, column("admissions", "hadm_id"), END), unfit)


def test_a_result_stands_once_in_a_from() -> None:
    program = (FIRST, TurnRef(0), P("cross_join"), FIRST, TurnRef(0), DerivedRef(0, 0), END)
    with pytest.raises(GroundingError):
        said(program, WARDS)
    assert "CROSS JOIN" in said((*program[:4], TurnRef(1), *program[5:]), WARDS, OLDEST)


def test_a_time_is_not_sought_among_numbers() -> None:
    space = asked((), [OLDEST, TIMES])
    state = State.start(space)
    for action in (
        space.flat(1, table("admissions").table),
        space.grammar.production("in_previous"),
        space.flat(8, 1),
    ):
        state = state.advance(action)
    taken = {space.locate(a)[1] for a, kept in zip(state.legal(), state.takable(), strict=True) if kept}
    assert column("admissions", "dischtime").column in taken
    assert column("admissions", "age").column not in taken


def test_a_number_is_not_compared_with_a_time_that_a_turn_returned() -> None:
    space = asked((), [OLDEST, TIMES])
    state = State.start(space)
    for action in (
        space.flat(1, table("admissions").table),
        space.grammar.production("eq"),
        space.flat(2, column("admissions", "age").column),
        space.grammar.production("previous_value"),
    ):
        state = state.advance(action)
    assert state.legal().tolist() == [space.flat(8, 0), space.flat(8, 1)]
    assert state.takable().tolist() == [True, False]


def test_what_is_taken_counts_against_the_budget() -> None:
    space = asked((), [WARDS])
    least = WARDS.spelled + 1 + len((FIRST, TurnRef(0), DerivedRef(0, 0), END))
    for budget in range(4, least + 3):
        tight = replace(space, limits=replace(DEFAULT, actions=budget))
        assert ("previous" in offered(State.start(tight))) == (budget >= least)
        for seed in range(20):
            assert walk(tight, seed, FOND[3]).used <= budget


def test_turns_nest_as_deep_as_sqlite_can_read() -> None:
    connection = sqlite3.connect(":memory:")
    if not is_bounded(connection):
        pytest.skip("a SQLite before 3.46, whose parser's stack cannot grow, runs this")
    connection.executescript(HOSPITAL.to_ddl())
    turns = [turn("SELECT admissions.hadm_id FROM admissions")]
    while True:
        program = (
            *(
                table("admissions"),
                P("in_previous"),
                TurnRef(len(turns) - 1),
                column("admissions", "hadm_id"),
            ),
            *(column("admissions", "hadm_id"), END),
        )
        try:
            sql = said(program, *turns)
        except GroundingError:
            break
        turns.append(turn(program, *turns))
    assert len(turns) > 4
    assert turns[-1].nesting <= MAX_NESTING < turns[-1].nesting + 11
    assert stack_depth(connection, sql) <= STACK


# ---------------------------------------------------------------- programs


def test_a_tree_with_turns_becomes_a_program_and_back() -> None:
    program = (
        *(P("extend"), TurnRef(0), P("eq"), column("patients", "dob"), P("previous_value"), TurnRef(1), P("keep")),
    )  # fmt: skip
    space = asked(program, [PATIENTS, TIMES])
    tree = read_tree(program, space.grammar)
    assert program_of(tree) == program
    trace = trace_program(program_of(tree), space)
    assert read_program(trace.actions.tolist(), space) == program
    assert parse_program(dump_program(program)) == program


def test_what_was_said_before_has_no_words_in_this_question() -> None:
    plain = inline((P("extend"), TurnRef(0), P("keep")), [PATIENTS], HOSPITAL, asked(()).grammar)
    (literal,) = (one for one in plain if isinstance(one, Literal))
    assert (literal.value, literal.provenance, literal.span) == ("f", "turn", None)


def test_entries_stand_behind_the_steps_of_the_query() -> None:
    space = asked((), [WARDS, PATIENTS])
    assert space.sizes[STEP] == DEFAULT.actions + WARDS.entries + PATIENTS.entries
    steps = [item.step for one in space.offered_by for item in one.items]
    steps += [source.step for one in space.offered_by for source in one.sources]
    assert sorted(steps) == list(range(DEFAULT.actions, space.sizes[STEP]))
    assert [item.typed.type for item in space.offered_by[0].items] == ["text", "number"]


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "tsql"])
def test_every_dialect_writes_turns_out(dialect: str) -> None:
    program = (
        *(
            FIRST,
            TurnRef(0),
            P("join"),
            table("admissions"),
            DerivedRef(0, 0),
            column("admissions", "ward", 1),
        ),
        *(P("in_previous"), TurnRef(1), column("admissions", "subject_id", 1), DerivedRef(0, 1), END),
    )
    turns = (WARDS, PATIENTS)
    plain = inline(program, turns, HOSPITAL, asked(program).grammar)
    sql = render(program, HOSPITAL, dialect=dialect, turns=turns)
    assert sql == render(plain, HOSPITAL, dialect=dialect)
    verify(sql, HOSPITAL, dialect=dialect)


def test_a_turn_is_read_from_any_program() -> None:
    """Gold queries of training say literals that their question does not offer."""
    program = sql_to_program("SELECT name FROM patients WHERE gender = 'somebody else'", HOSPITAL)
    found = read_turn(program, space_for(HOSPITAL, "?"))
    assert found.program == program
    assert [item.typed.column for item in found.offered.items] == [HOSPITAL.column_index("patients", "name")]
    assert found.actions == found.spelled == len(program) + 1  # a span would be two actions
    assert np.all([source.table == table("patients").table for source in found.offered.sources])


@pytest.mark.parametrize("bound", ["turns", "turn_entries"])
def test_a_question_points_at_so_many_turns_and_no_more(bound: str) -> None:
    turn = read_turn(
        sql_to_program("SELECT subject_id, gender FROM patients", HOSPITAL), space_for(HOSPITAL, "?")
    )
    most = 3 if bound == "turns" else 3 * turn.entries
    limits = replace(DEFAULT, **{bound: most})
    tokens = np.asarray([[0, 1]], dtype=np.int32)
    ActionSpace.for_question(HOSPITAL, "?", tokens, limits=limits, turns=(turn,) * 3)
    with pytest.raises(LimitError, match=bound):
        ActionSpace.for_question(HOSPITAL, "?", tokens, limits=limits, turns=(turn,) * 4)
