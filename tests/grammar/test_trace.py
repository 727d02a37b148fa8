"""Between programs and actions: the oracle of training, and its inverse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql.grammar import (
    ActionSpace,
    GroundingError,
    Literal,
    Production,
    TableRef,
    load_grammar,
    read_path,
    read_program,
    sql_to_program,
    trace_program,
)
from fastsql.grammar.actions import CANDIDATE, COLUMN, KINDS, PRODUCTION, SCHEMA_VALUE, START, TABLE
from fastsql.grammar.bounds import MAX_NESTING
from fastsql.grammar.program import SMALL, Terminal
from fastsql.grammar.transitions import fill_in
from fastsql.grammar.tree import ProgramError, read_tree
from fastsql.limits import DEFAULT
from fastsql.linking import Candidate, find_candidates
from fastsql.schema import Schema

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import literals_as_candidates, space_for
from .strategies import habits, spaces
from .walking import Bias, walk


def written_kinds(sql: str, question: str, candidates: tuple[Candidate, ...] | None = None) -> list[str]:
    """What the literals of a query are taken from: kinds of actions, or the productions of the closed set."""
    program = sql_to_program(sql, HOSPITAL)
    found = find_candidates(question, HOSPITAL) if candidates is None else candidates
    space = space_for(HOSPITAL, question, found)
    productions = load_grammar().productions
    kinds = []
    for action in trace_program(program, space).actions:
        kind, index = space.locate(int(action))
        if kind in (CANDIDATE, SCHEMA_VALUE, START):
            kinds.append(KINDS[kind])
        elif kind == PRODUCTION and productions[index] in ("zero", "one", "two"):
            kinds.append(productions[index])
    return kinds


def comparable(item: Terminal) -> Terminal | float | str:
    """A terminal; of a literal its value alone, whatever offered it, and a number in quotes as the number."""
    if isinstance(item, Production) and item.name in SMALL:
        return float(SMALL[item.name])
    if not isinstance(item, Literal):
        return item
    try:
        return float(item.value)
    except ValueError:
        return str(item.value)


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(spaces(), habits(), st.integers(0, 2**32 - 1))
def test_what_was_decoded_can_be_traced_and_read_again(space: ActionSpace, bias: Bias, seed: int) -> None:
    program = read_program(walk(space, seed, bias).decisions, space)
    trace = trace_program(program, space)
    count = len(trace.actions)
    assert trace.legal.shape == (count, space.size)
    assert len(trace.symbols) == len(trace.parents) == count
    assert np.all(trace.legal[np.arange(count), trace.actions])
    assert np.all(trace.legal.sum(axis=1) > 1)
    assert np.all((trace.symbols >= 0) & (trace.symbols < len(space.grammar.symbols)))
    assert np.all((trace.parents >= 0) & (trace.parents <= len(space.grammar.productions)))
    again = read_program(trace.actions.tolist(), space)
    assert [comparable(item) for item in again] == [comparable(item) for item in program]


@pytest.mark.parametrize(
    ("sql", "question", "kinds"),
    [
        ("SELECT name FROM patients WHERE subject_id = 7", "who is number 7?", ["candidate"]),
        ("SELECT name FROM patients WHERE name = 'Smith'", "what is Smith called?", ["start"]),
        ("SELECT name FROM patients WHERE name = 'Smith'", "what is smith called?", ["start"]),
        ("SELECT name FROM patients WHERE name LIKE '%Smith Jr%'", "who is Smith Jr?", ["start"]),
        ("SELECT name FROM patients WHERE gender = 'f'", "how many women?", ["schema_value"]),
        ("SELECT hadm_id FROM admissions WHERE ward = 'ICU'", "who is on ICU?", ["candidate"]),
        (
            "SELECT hadm_id FROM labevents WHERE valuenum < sao2_lower",
            "who has little oxygen?",
            ["schema_value"],
        ),
        ("SELECT name FROM patients ORDER BY dob DESC LIMIT 1", "who is 1 of the youngest?", ["one"]),
        ("SELECT name FROM patients ORDER BY dob DESC LIMIT 5", "who are the 5 youngest?", ["candidate"]),
        ("SELECT hadm_id FROM admissions WHERE age > 2", "older than 2?", ["candidate"]),
        ("SELECT hadm_id FROM admissions WHERE age > 2", "older than that?", ["two"]),
        ("SELECT hadm_id FROM admissions WHERE age > 0", "older than 0?", ["zero"]),
        (
            "SELECT hadm_id FROM admissions WHERE datetime(admittime, 'start of year') = datetime('now', 'start of year')",
            "this year?",
            ["zero"],
        ),
        (
            "SELECT hadm_id FROM admissions WHERE strftime('%Y-%m', admittime) = '2100-12'",
            "in 12/2100 or 11/2100?",
            ["candidate"],
        ),
    ],
)
def test_a_literal_is_taken_from_where_it_says_most(sql: str, question: str, kinds: list[str]) -> None:
    assert written_kinds(sql, question) == kinds


def test_a_span_is_written_by_its_first_and_last_word() -> None:
    space = space_for(HOSPITAL, "is Smith Jr here?")
    program = sql_to_program("SELECT name FROM patients WHERE name = 'smith jr'", HOSPITAL)
    read = read_program(trace_program(program, space).actions.tolist(), space)
    assert Literal("Smith Jr", provenance="span", span=(3, 11)) in read


def test_of_equal_numbers_the_one_with_the_unit_counts_periods() -> None:
    question = "took it 3 times within 3 months"
    pair = (Candidate(3, "number", (8, 9), "number"), Candidate(3, "number", (23, 24), "number"))
    space = space_for(HOSPITAL, question, pair)
    sql = "SELECT hadm_id FROM admissions WHERE datetime(admittime) >= datetime('now', '-3 month')"
    actions = trace_program(sql_to_program(sql, HOSPITAL), space).actions.tolist()
    assert space.flat(CANDIDATE, 1) in actions


@pytest.mark.parametrize(
    ("sql", "literal"),
    [
        ("SELECT name FROM patients WHERE subject_id = 77", Literal(77)),
        ("SELECT name FROM patients WHERE name = 'Miller'", Literal("Miller")),
        ("SELECT name FROM patients LIMIT 9", Literal(9)),
        ("SELECT hadm_id FROM admissions WHERE age > 1.5", Literal(1.5)),
        ("SELECT hadm_id FROM admissions WHERE strftime('%Y', admittime) = '2100'", None),
    ],
)
def test_a_literal_that_nothing_offers_is_named(sql: str, literal: Literal | None) -> None:
    with pytest.raises(GroundingError) as failure:
        trace_program(sql_to_program(sql, HOSPITAL), space_for(HOSPITAL, "who is Smith?"))
    assert failure.value.literal == literal
    assert "Miller" not in str(failure.value)


def test_a_query_beyond_the_budget_cannot_be_traced() -> None:
    program = sql_to_program("SELECT name, gender FROM patients WHERE gender = 'f'", HOSPITAL)
    trace_program(program, space_for(HOSPITAL, "", limits=replace(DEFAULT, actions=8)))
    with pytest.raises(GroundingError, match="does not offer"):
        trace_program(program, space_for(HOSPITAL, "", limits=replace(DEFAULT, actions=5)))


def test_where_the_budget_decides_the_sources_the_first_of_a_name_is_meant() -> None:
    schema = Schema.from_dict({"a": {"x": "INT", "y": "INT"}, "b": {"z": "INT", "u": "INT", "v": "INT"}})
    operand = "SELECT * FROM a CROSS JOIN b CROSS JOIN b AS c"
    first, second = (
        sql_to_program(f"{operand} UNION {operand} WHERE {name}.z IS NULL", schema) for name in "bc"
    )
    roomy = space_for(schema, "a")
    for program in (first, second):
        assert read_program(trace_program(program, roomy).actions.tolist(), roomy) == program
    tight = replace(roomy, limits=replace(DEFAULT, actions=19))
    assert read_program(trace_program(first, tight).actions.tolist(), tight) == first
    with pytest.raises(GroundingError, match="cannot be told"):
        trace_program(second, tight)
    with pytest.raises(GroundingError, match="does not offer"):
        trace_program(first, replace(roomy, limits=replace(DEFAULT, actions=18)))


def test_a_query_nested_too_deep_cannot_be_traced() -> None:
    flat = sql_to_program("SELECT age FROM admissions WHERE age IS NULL", HOSPITAL)
    deep = (flat[0], *[Production("not")] * (MAX_NESTING // 2 + 1), *flat[1:])
    with pytest.raises(GroundingError, match="does not offer"):
        trace_program(deep, space_for(HOSPITAL, ""))


def test_a_program_must_be_complete() -> None:
    space = space_for(HOSPITAL, "")
    program = sql_to_program("SELECT name FROM patients", HOSPITAL)
    with pytest.raises(GroundingError, match="stops before its end"):
        trace_program(program[:-1], space)
    with pytest.raises(GroundingError, match="goes on after its end"):
        trace_program((*program, TableRef(0)), space)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ((), "the end in place of 'query'"),
        ((TableRef(0), Production("count_all")), "the end in place of 'tail_row'"),
        ((TableRef(0), Production("end")), "end in place of 'body'"),
        ((TableRef(0), Production("count_all"), Production("end"), Literal("x")), "Literal after the end"),
    ],
)
def test_a_program_that_the_grammar_does_not_derive_has_no_tree(
    program: tuple[Production, ...], reason: str
) -> None:
    with pytest.raises(ProgramError) as failure:
        read_tree(program, load_grammar())
    assert failure.value.reason == reason


def test_actions_must_be_those_of_a_whole_query() -> None:
    space = space_for(HOSPITAL, "")
    actions = trace_program(sql_to_program("SELECT name FROM patients", HOSPITAL), space).actions.tolist()
    with pytest.raises(GroundingError, match="stop before the query is complete"):
        read_program(actions[:-1], space)
    with pytest.raises(GroundingError, match="left over"):
        read_program([*actions, 0], space)
    with pytest.raises(GroundingError, match="not legal"):
        read_program([space.flat(COLUMN, 0)], space)
    with pytest.raises(GroundingError, match="not legal"):
        read_program([space.flat(TABLE, 0), -1], space)


def test_a_path_must_be_one_of_the_automaton() -> None:
    space = space_for(HOSPITAL, "")
    program = sql_to_program("SELECT name FROM patients", HOSPITAL)
    path = fill_in(trace_program(program, space).actions.tolist(), space)
    assert read_path(path, space) == program
    with pytest.raises(GroundingError, match="stop before the query is complete"):
        read_path(path[:-1], space)
    with pytest.raises(GroundingError, match="left over"):
        read_path([*path, 0], space)
    for wrong in (space.flat(COLUMN, 0), space.size, ~space.size):
        with pytest.raises(GroundingError, match="not legal"):
            read_path([wrong, *path[1:]], space)


def test_forced_actions_are_no_decisions() -> None:
    program = sql_to_program("SELECT t.ward FROM (SELECT ward FROM admissions) AS t", HOSPITAL)
    space = space_for(HOSPITAL, "", literals_as_candidates(program))
    walked = trace_program(program, space)
    assert len(walked.actions) < len(program) + 1
    assert read_program(walked.actions.tolist(), space) == program
