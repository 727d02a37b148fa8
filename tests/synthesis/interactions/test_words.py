"""Turns are asked for what they do, and for nothing else; what they refer to is named."""

from __future__ import annotations

import random
import re

import pytest

from fastsql.grammar import sql_to_program
from fastsql.synthesis.interactions.words import Conversation
from fastsql.synthesis.schema.words import UnsayableError

from .clinic import (
    ANY,
    BUSY_REASONS,
    CLINIC,
    DIFFERENCE,
    FIRST_VALUE,
    MEN_ONLY,
    NEVER,
    QUERIES,
    TOP_REASONS,
    TOTAL,
    taken_apart,
)


def asked(sql: str, seed: int = 0, *, clauses: bool = True) -> list[str]:
    conversation = Conversation(CLINIC, random.Random(seed))
    return [conversation.ask(step) for step in taken_apart(sql, clauses=clauses)]


def ways(sql: str, turn: int, *, clauses: bool = True) -> set[str]:
    """How a turn is asked, by many seeds."""
    return {asked(sql, seed, clauses=clauses)[turn] for seed in range(25)}


def test_a_turn_can_be_asked_in_many_ways() -> None:
    assert len(ways(TOTAL, 1)) > 10


def test_a_condition_is_said_with_its_column_and_its_value_or_by_its_value_alone() -> None:
    short = {question for question in ways(TOTAL, 2) if "reason" not in question}
    assert short
    for question in ways(TOTAL, 2) - short:
        assert re.search(r"reason (is )?['\"]?cough", question)
    for question in short:
        assert re.fullmatch(
            r"((only|just) ['\"]?cough['\"]?|['\"]?cough['\"]? only)\.?", question, re.IGNORECASE
        )


def test_a_turn_s_result_is_named_by_its_number_or_by_what_it_returned() -> None:
    for question in ways(NEVER, -1):
        assert re.search(
            r"A2|answer 2|result 2|th[oe]se patient ids|one of (those|these)|among (those|them)", question
        )
        assert "not" in question


def test_two_results_are_not_both_said_of_one_column() -> None:
    seek = "visits.{0} IN (SELECT visits.{0} FROM visits WHERE visits.cost > {1})".format
    sql = f"SELECT visits.cost FROM visits WHERE {seek('patient_id', 3)} AND {seek('reason', 9)}"
    questions = ways(sql, -1, clauses=False)
    assert any(re.search(r"visits (of|that belong to) ", question) for question in questions)
    assert not any(re.search(r"whose .* and (of|that belong to) ", question) for question in questions)


def test_a_turn_that_is_not_the_last_is_named_by_its_number() -> None:
    for question in ways(DIFFERENCE, 3):  # asks something of the second turn after the third
        assert re.search(r"\b(A|answer |result )2\b", question)


def test_what_comes_first_is_told_from_what_comes_last() -> None:
    assert all(re.search(r"latest|last", question) for question in ways(DIFFERENCE, 2))
    assert all(re.search(r"earliest|first", question) for question in ways(DIFFERENCE, 3))


def test_values_are_subtracted_in_order() -> None:
    for question in ways(DIFFERENCE, 4):
        later = re.search(r"(A|answer |result )3", question)
        earlier = re.search(r"(A|answer |result )4|that cost", question)
        assert later is not None
        assert earlier is not None
        assert (earlier.start() < later.start()) == question.startswith("Subtract")


def test_groups_are_named_and_what_passes() -> None:
    assert any("groups" in question for question in ways(BUSY_REASONS, 3))
    assert all(re.search(r"number of visits .*2", question) for question in ways(BUSY_REASONS, 3))


def test_a_column_that_was_computed_is_called_what_it_was_asked_for() -> None:
    assert all("rank" in question for question in ways(TOP_REASONS, -1))
    assert all("2" in question for question in ways(TOP_REASONS, -1))


def test_results_are_put_together() -> None:
    assert all(
        re.search(r"(A|answer |result )\d.*(A|answer |result )\d", one)
        for one in ways(MEN_ONLY, -1, clauses=False)
    )


def test_a_turn_about_whether_rows_exist_asks_for_any() -> None:
    assert all("any" in question for question in ways(ANY, -1))


def test_an_inner_query_is_described_where_it_is_no_turn_of_its_own() -> None:
    question = Conversation(CLINIC, random.Random(3)).ask(sql_to_program(FIRST_VALUE, CLINIC))
    assert "earliest day" in question or "first day" in question
    assert "aspirin" in question
    assert "4" in question


def test_values_that_look_like_patterns_are_said_as_they_are() -> None:
    sql = "SELECT patients.name FROM patients WHERE patients.name = 'a|b [c] {whose} @ %'"
    for seed in range(20):
        assert "a|b [c] {whose} @ %" in " ".join(asked(sql, seed))


def test_a_construct_without_words_is_refused_and_no_turn_is_added() -> None:
    conversation = Conversation(CLINIC, random.Random(0))
    strange = sql_to_program("SELECT SUM(visits.cost) OVER (ORDER BY visits.day) FROM visits", CLINIC)
    with pytest.raises(UnsayableError):
        conversation.ask(strange)
    assert conversation.ask(taken_apart(TOTAL)[0])


@pytest.mark.parametrize("clauses", [False, True])
@pytest.mark.parametrize("sql", QUERIES)
def test_the_same_seed_asks_the_same_questions(sql: str, clauses: bool) -> None:
    assert asked(sql, 5, clauses=clauses) == asked(sql, 5, clauses=clauses)
