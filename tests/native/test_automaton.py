"""The native automaton is in the same state as the reference, and offers the same actions, wherever scores lead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql.datasets import read_examples, read_schemas
from fastsql.errors import ModelError
from fastsql.grammar import (
    ActionSpace,
    ConversionError,
    GroundingError,
    State,
    load_grammar,
    sql_to_program,
    trace_program,
)
from fastsql.grammar.automaton import IllegalActionError
from fastsql.grammar.tables import grammar_table, question_table, schema_table
from fastsql.grammar.transitions import fill_in
from fastsql.limits import DEFAULT
from fastsql.linking import find_candidates
from fastsql.schema import Schema

from ..grammar.conversations import POINTING, converse, count_pointing
from ..grammar.grounding import literals_as_candidates, space_for
from ..grammar.strategies import habits, spaces
from ..grammar.walking import HABITS, Bias, Walk
from ..worlds.grammar_hospitals import CLINIC, HOSPITAL, SCHEMAS
from .automata import expect_same, follow_both, native_automaton, native_space, unpacked, walk_both

QUESTION = 'Which of the top five patients since 08/2100 had "icu ward" or 药物 heparin 12.5 on 12/05/2100 m 3 times?'
LEAST = load_grammar().cost[0]
EVERY = {"ehrsql2024": ("valid.json", 20), "spider": ("dev.json", 25), "bird": ("dev.json", 40)}
"""How many of a data set's gold queries are looked at: one in so many."""
differential = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize("strict", [False, True], ids=["any grouping", "strict grouping"])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("habit", HABITS)
def test_every_habit_leads_to_the_same_states(
    core: ModuleType, habit: str, schema: Schema, strict: bool
) -> None:
    space = space_for(schema, QUESTION, find_candidates(QUESTION, schema))
    for seed in range(2):
        walk_both(core, replace(space, strict_grouping=strict), seed, HABITS[habit])


@differential
@given(
    spaces(), habits(), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 3.0]), st.booleans(), st.data()
)
def test_any_scores_on_any_schema_lead_to_the_states_of_the_reference(
    core: ModuleType,
    space: ActionSpace,
    bias: Bias,
    seed: int,
    noise: float,
    strict: bool,
    data: st.DataObject,
) -> None:
    budget = data.draw(st.one_of(st.integers(LEAST, 40), st.just(DEFAULT.actions)))
    space = replace(space, strict_grouping=strict, limits=replace(DEFAULT, actions=budget))
    decisions = walk_both(core, space, seed, bias, noise)
    *_, used, finished = native_automaton(core, space).replay(np.asarray(decisions, dtype=np.int32))
    assert finished
    assert used <= budget


@pytest.mark.parametrize("strict", [False, True], ids=["any grouping", "strict grouping"])
def test_conversations_lead_to_the_states_of_the_reference(core: ModuleType, strict: bool) -> None:
    def decode(space: ActionSpace, seed: int, bias: Bias) -> Walk:
        decisions = walk_both(core, space, seed, bias)
        return Walk(tuple(decisions), used=0, deepest=0)

    pointing: set[str] = set()
    for seed, schema in enumerate((CLINIC, SCHEMAS["chinese"], *[HOSPITAL] * 5), 21):
        space = space_for(schema, QUESTION, find_candidates(QUESTION, schema))
        budget = (40, 80, DEFAULT.actions)[seed % 3]
        space = replace(space, strict_grouping=strict, limits=replace(DEFAULT, actions=budget))
        for one in converse(space, seed, decode=decode):
            pointing |= count_pointing(one.space, one.walk.decisions)
    assert len(pointing) >= len(POINTING) - 3


@pytest.mark.parametrize("folder", EVERY)
def test_gold_queries_pass_the_same_masks(core: ModuleType, fastsql_data: Path, folder: str) -> None:
    file, every = EVERY[folder]
    if not (fastsql_data / folder / file).is_file():
        pytest.skip(f"put {folder} into the folder that FASTSQL_DATA names to run this")
    schemas = read_schemas(fastsql_data / folder / "schemas.json")
    compared = 0
    for example in list(read_examples(fastsql_data / folder / file))[::every]:
        if example.sql is None:
            continue
        schema = schemas[example.db_id]
        try:
            program = sql_to_program(example.sql, schema)
            space = space_for(schema, "?", literals_as_candidates(program))
            trace = trace_program(program, space)
        except (ConversionError, GroundingError):
            continue  # beyond the grammar; tests/grammar and benchmarks/coverage.py count these
        symbols, parents, legal, _, finished = native_automaton(core, space).replay(trace.actions)
        assert finished, example.id
        np.testing.assert_array_equal(symbols, trace.symbols, err_msg=example.id)
        np.testing.assert_array_equal(parents, trace.parents, err_msg=example.id)
        np.testing.assert_array_equal(unpacked(legal, space.size), trace.legal, err_msg=example.id)
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("strict", [False, True], ids=["any grouping", "strict grouping"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM d_items CROSS JOIN cost UNION SELECT * FROM cost CROSS JOIN d_items",
        "SELECT * FROM cost UNION SELECT * FROM d_items EXCEPT SELECT * FROM cost",
        "SELECT a.ward, b.age FROM admissions AS a JOIN admissions AS b ON a.hadm_id = b.subject_id GROUP BY a.ward, b.age",
        "SELECT ward, RANK() OVER (PARTITION BY ward ORDER BY COUNT(*)) FROM admissions GROUP BY ward ORDER BY COUNT(*)",
        "SELECT d.n FROM (SELECT ward AS w, COUNT(*) AS n FROM admissions GROUP BY ward) AS d GROUP BY d.n",
        "SELECT label FROM d_items WHERE label LIKE '%a%' AND NOT itemid LIKE '%b%'",
        "SELECT COUNT(*) FROM admissions",
        "SELECT ward FROM admissions GROUP BY ward HAVING COUNT(*) > 1",
        "SELECT ward FROM admissions WHERE age IN (SELECT (SELECT MAX(age) FROM admissions))",
        f"SELECT COUNT(*) FROM {' CROSS JOIN '.join(f'cost AS c{k}' for k in range(8))}",
    ],
)
def test_rules_that_random_scores_seldom_meet_are_those_of_the_reference(
    core: ModuleType, sql: str, strict: bool
) -> None:
    program = sql_to_program(sql, HOSPITAL)
    space = replace(
        space_for(HOSPITAL, "a or b", literals_as_candidates(program)),
        strict_grouping=strict,
    )
    follow_both(core, space, trace_program(program, space).actions.tolist())


def test_a_table_forced_before_any_decision_can_be_told_from_the_next(core: ModuleType) -> None:
    """On the least budget that allows a join, one table joined to itself: the first source has no decision of its own."""
    schema = Schema.from_dict({"t": {"x": "TEXT"}})
    for budget in range(LEAST, LEAST + 6):
        space = space_for(schema, "a b", limits=replace(DEFAULT, actions=budget))
        for seed in range(20):
            walk_both(core, space, seed, {"cross_join": 5.0, "@1": 5.0, "@2": 5.0})


def test_masks_and_ids_say_the_same(core: ModuleType) -> None:
    space = space_for(HOSPITAL, QUESTION, find_candidates(QUESTION, HOSPITAL))
    state = native_automaton(core, space).start()
    mask = state.mask()
    assert mask.dtype == np.bool_
    assert mask.shape == (space.size,)
    np.testing.assert_array_equal(np.flatnonzero(mask), state.legal())


def test_a_fork_leaves_the_state_it_came_from(core: ModuleType) -> None:
    space = space_for(HOSPITAL, QUESTION, find_candidates(QUESTION, HOSPITAL))
    states = [(native_automaton(core, space).start(), State.start(space))]
    random = np.random.default_rng(0)
    for _ in range(300):  # every new state comes from any of those before
        native, reference = states[random.integers(len(states))]
        if reference.finished:
            continue
        action = int(random.choice(reference.legal()))
        states.append((native.advance(action), reference.advance(action)))
    for native, reference in states:
        expect_same(native, reference)


def test_what_is_not_offered_is_refused(core: ModuleType) -> None:
    space = space_for(HOSPITAL, "how many?")
    automaton = native_automaton(core, space)
    state = automaton.start()
    end = space.grammar.production("end")
    for action in (end, -1, space.size, 2**31 - 1):
        with pytest.raises(IllegalActionError, match=str(action)):
            state.advance(action)
        with pytest.raises(IllegalActionError, match=str(action)):
            automaton.replay(np.asarray([action], dtype=np.int32))
    expect_same(state, State.start(space))


def test_decisions_after_the_end_are_refused(core: ModuleType) -> None:
    space = space_for(HOSPITAL, "how many?")
    decisions = walk_both(core, space, 0, {})
    with pytest.raises(IllegalActionError):
        native_automaton(core, space).replay(np.asarray([*decisions, 0], dtype=np.int32))


def test_the_start_of_a_query_is_not_a_finished_one(core: ModuleType) -> None:
    space = space_for(HOSPITAL, "how many?")
    decisions = np.asarray(walk_both(core, space, 0, {}), dtype=np.int32)
    for count in range(len(decisions)):
        symbols, parents, legal, _, finished = native_automaton(core, space).replay(decisions[:count])
        assert not finished
        assert len(symbols) == len(parents) == len(legal) == count


# ---------------------------------------------------------------- tables that are not in order


@pytest.mark.parametrize("which", ["grammar", "schema", "question"])
def test_a_table_that_is_cut_off_is_refused(core: ModuleType, which: str) -> None:
    space = space_for(HOSPITAL, QUESTION, find_candidates(QUESTION, HOSPITAL))
    tables = {
        "grammar": grammar_table(space.grammar),
        "schema": schema_table(space.schema),
        "question": question_table(space),
    }
    whole = tables[which]
    for length in {0, 1, 2, 5, *range(6, len(whole), 1 + len(whole) // 60), len(whole) - 1}:
        with pytest.raises(ModelError, match=which):
            _assemble(core, tables | {which: whole[:length]})
    with pytest.raises(ModelError, match=which):
        _assemble(core, tables | {which: np.append(whole, np.int32(0))})
    other = whole.copy()
    other[0] += 1
    with pytest.raises(ModelError, match=f"version {other[0]}; this build reads version {whole[0]}"):
        _assemble(core, tables | {which: other})


@pytest.mark.parametrize("which", ["grammar", "schema", "question"])
def test_a_table_of_wrong_numbers_is_refused_or_harmless(core: ModuleType, which: str) -> None:
    """What is read can be walked: nothing out of range gets past the reading of tables."""
    space = space_for(HOSPITAL, QUESTION, find_candidates(QUESTION, HOSPITAL))
    tables = {
        "grammar": grammar_table(space.grammar),
        "schema": schema_table(space.schema),
        "question": question_table(space),
    }
    random = np.random.default_rng(0)
    read = refused = 0
    for _ in range(400):
        wrong = tables[which].copy()
        wrong[random.integers(len(wrong))] = random.choice(
            [-(2**31), -100, -2, -1, 0, 1, 2, 7, 200, 2**31 - 1]
        )
        try:
            native = _assemble(core, tables | {which: wrong})
        except ModelError:
            refused += 1
            continue
        read += 1
        state = core.Automaton(native).start()
        while not state.finished and (legal := state.legal()).size and state.used < 60:
            state = state.advance(int(random.choice(legal)))
    assert read
    assert refused


def test_tables_are_of_one_axis_and_of_integers(core: ModuleType) -> None:
    table = grammar_table(load_grammar())
    with pytest.raises(ModelError, match="axes"):
        core.Grammar(table.reshape(1, -1))
    with pytest.raises(TypeError):
        core.Grammar(table.astype(np.float64))


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_samples_are_complete_queries_of_the_reference(core: ModuleType, schema: Schema) -> None:
    space = space_for(schema, QUESTION, find_candidates(QUESTION, schema))
    automaton = native_automaton(core, space)
    preference = np.random.default_rng(7).normal(0, 2, space.size).astype(np.float32)
    paths = set()
    for seed in range(20):
        path, finished = automaton.sample(preference, seed)
        assert finished
        path = tuple(path.tolist())
        assert path == fill_in([action for action in path if action >= 0], space)
        assert path == tuple(automaton.sample(preference, seed)[0].tolist()), (
            "the same seed gives the same query"
        )
        paths.add(path)
    assert len(paths) > 10


def test_a_sample_needs_a_preference_for_every_action(core: ModuleType) -> None:
    automaton = native_automaton(core, space_for(HOSPITAL, QUESTION))
    with pytest.raises(ModelError, match="one number for each"):
        automaton.sample(np.zeros(3, np.float32), 0)


def test_a_space_keeps_what_it_needs_alive(core: ModuleType) -> None:
    space = space_for(HOSPITAL, "how many?")
    state = core.Automaton(
        native_space(core, space)
    ).start()  # nothing else holds grammar, schema or automaton
    expect_same(state, State.start(space))


def _assemble(core: ModuleType, tables: Mapping[str, np.ndarray]) -> object:
    schema = core.SchemaItems(core.Grammar(tables["grammar"]), tables["schema"])
    return core.ActionSpace(schema, tables["question"])
