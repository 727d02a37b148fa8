"""What a question does not say itself can be read from the queries of the turns before it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from fastsql.grammar.inlining import turns_of
from fastsql.parser import Parser
from fastsql.parser.assess import Assessed
from fastsql.session import Session, Turn

from ..worlds.toy_bundle import load_toy, make_config, write_bundle
from ..worlds.toy_model import SCHEMA
from .conftest import LIMITS

COMPARING = {"eq": 9.0, "contains": 5.0, "end": 5.0}
FIRST = "patients of type 'elective' or type 'urgent' of subject 71021258"
MORE = ("the women", "their dob", "and in 2101?", "how many?", "type again", "只要女性", "sort them", "dob?")


@pytest.fixture(scope="module")
def reading_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy bundle that reads values of earlier turns, and likes to compare."""
    config = replace(make_config().with_turns(), turn_values=True)
    return write_bundle(tmp_path_factory.mktemp("reading") / "toy", config=config, likely=COMPARING)


@pytest.fixture(scope="module")
def reading(reading_bundle: Path) -> Parser:
    return load_toy(reading_bundle, limits=LIMITS)


@cache
def conversation(parser: Parser) -> tuple[Session, tuple[Turn, ...]]:
    """One about patients, and all of its turns as they were given; not to be changed."""
    session = parser.session(SCHEMA)
    return session, tuple(session.ask(question) for question in (FIRST, *MORE))


def talked(parser: Parser) -> tuple[Turn, ...]:
    return conversation(parser)[1]


def read_text(turn: Turn) -> str:
    assert isinstance(turn.background, Assessed)
    return turn.background.written.linked.prepared.text


def takes_values(turn: Turn) -> bool:
    """Whether its query has a value of an earlier turn without pointing at that."""
    assert isinstance(turn.background, Assessed)
    pointing = turns_of(turn.background.written.own)
    return not pointing and any(one.source == "turn" for one in turn.values)


def test_a_query_can_take_a_value_that_only_an_earlier_one_has(reading: Parser) -> None:
    turns = talked(reading)
    taking = [turn for turn in turns if takes_values(turn)]
    assert taking
    for turn in taking:
        assert turn.uses
        assert turn.kind == ("referential",)
        assert set(turn.standing) == {turn.number}.union(*(turns[n - 1].standing for n in turn.uses))
        said = {str(one.value) for number in turn.uses for one in turns[number - 1].values}
        assert said & {str(one.value) for one in turn.values if one.source == "turn"}


def test_nothing_shown_of_a_turn_stands_behind_its_question(reading: Parser) -> None:
    turns = talked(reading)
    assert any(len(read_text(turn)) > len(turn.question) for turn in turns)
    for turn in turns:
        shown = turn.to_dict(explain=True)
        spans = [one["span"] for one in (*shown["links"], *shown["values"], *shown["reasons"]) if one["span"]]
        assert all(0 <= start < end <= len(turn.question) for start, end in spans)
        for literal in turn.values:
            assert (literal.span is None) or literal.source != "turn"


def test_refused_and_forgotten_turns_and_queries_that_are_not_shown_give_no_values(reading: Parser) -> None:
    refused = reading.session(SCHEMA)
    assert refused.ask(FIRST, penalty=1e6).abstained
    forgotten = reading.session(SCHEMA)
    forgotten.ask(FIRST)
    forgotten.forget(1)
    alone = reading.session(SCHEMA, history="qq")
    alone.ask(FIRST)
    for session in (refused, forgotten, alone):
        turn = session.ask("their dob")
        assert read_text(turn) == "their dob"
        assert not takes_values(turn)


def test_engines_read_the_same(reading_bundle: Path, reading: Parser) -> None:
    pytest.importorskip("fastsql._core")
    native = load_toy(reading_bundle, device="cpu", limits=LIMITS)
    for one, other in zip(talked(reading), talked(native), strict=True):
        assert (read_text(one), one.sql, one.uses) == (read_text(other), other.sql, other.uses)
        assert one.confidence == pytest.approx(other.confidence, abs=1e-4)


def test_a_model_that_reads_no_values_reads_the_question_alone(parser: Parser) -> None:
    assert all(read_text(turn) == turn.question for turn in talked(parser))


def test_turns_that_a_value_was_taken_from_survive_an_export(reading: Parser) -> None:
    session, turns = conversation(reading)
    other = reading.session(SCHEMA)
    other.load(session.export())
    loaded = {turn.number: turn for turn in other}
    taking = [turn for turn in turns if takes_values(turn) and turn.number in loaded]
    assert taking
    for turn in taking:
        assert (loaded[turn.number].uses, loaded[turn.number].kind) == (turn.uses, ("referential",))
