"""A question that goes on from earlier ones is also read as one text with these, where a bundle has learnt such texts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from fastsql.errors import ConversationError
from fastsql.parser import Parser
from fastsql.parser.assess import Assessed, assess
from fastsql.parser.link import link, with_questions, with_turns
from fastsql.parser.turns import pooled, said_together
from fastsql.parser.write import write
from fastsql.reliability.assess import Judge, Reliability
from fastsql.reliability.regression import Regression
from fastsql.session import Turn

from ..worlds.toy_bundle import QUESTIONS, load_toy
from ..worlds.toy_model import SCHEMA
from .conftest import LIMITS

FIRST, SECOND, THIRD = QUESTIONS[0], "only the women", "and in 2101?"


@pytest.fixture(scope="module")
def eager(talking_bundle: Path) -> Parser:
    """A parser that is sure of what it reads in such texts."""
    parser = load_toy(talking_bundle, limits=LIMITS)
    parser._reliability = replace(parser._reliability, together=Judge(Regression(9.0, {})))
    return parser


@pytest.fixture(autouse=True)
def above_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query of such a text counts more than any other."""
    monkeypatch.setattr("fastsql.parser.turns.ONE_TEXT", 1e200)


def asked(parser: Parser, *questions: str) -> list[Turn]:
    """The turns of a conversation; nothing is refused."""
    session = parser.session(SCHEMA)
    return [session.ask(question) for question in questions]


def test_what_was_asked_before_is_read_again_with_a_question(eager: Parser) -> None:
    first, second = asked(eager, FIRST, SECOND)
    text = f"{FIRST.rstrip(' ?.')}; {SECOND}"
    assert (second.question, second.asked) == (text, SECOND)
    assert (second.uses, second.kind, second.referring) == ((1,), ("modifying",), None)
    assert second.best == eager.parse(text, SCHEMA).best
    assert (first.question, first.asked, first.uses) == (FIRST, "", ())


def test_it_stands_on_no_earlier_query(eager: Parser) -> None:
    _, second = asked(eager, FIRST, SECOND)
    assert list(second.standing) == [2]
    assert second.confidence == pytest.approx(1 / (1 + 2.718281828**-9))


def test_a_text_goes_on_with_the_next_question(eager: Parser) -> None:
    _, second, third = asked(eager, FIRST, SECOND, THIRD)
    told = f"{second.question}; {THIRD}"
    assert third.question in (told, f"{FIRST.rstrip(' ?.')}; {told}"), "from whichever turn it goes on from"
    assert third.asked == THIRD


def test_who_goes_on_from_a_turn_by_way_of_another_says_all_since(parser: Parser) -> None:
    session = parser.session(SCHEMA)
    going_on: Turn | None = None
    for question in (FIRST, *[SECOND, THIRD, "their last admission", "sort them by dob"] * 2):
        going_on = session.ask(question)
        before = {turn.number: turn for turn in session.history[:-1]}
        if going_on.uses and any(before[number].uses for number in going_on.uses):
            break
    assert going_on is not None
    assert going_on.uses, "the toy model refers"
    first = going_on.number
    reached = set(going_on.uses)
    while reached:
        first = min(first, *reached)
        reached = {number for turn in reached for number in before[turn].uses}
    written = cast("Assessed", going_on.background).written
    assert [turn.number for turn in said_together(written)] == list(range(first, going_on.number))


def test_a_less_likely_text_is_not_given(
    parser: Parser, eager: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.parser.turns.ONE_TEXT", 0.0)
    doubting = asked(eager, FIRST, SECOND, THIRD)
    assert [turn.best for turn in doubting] == [turn.best for turn in asked(parser, FIRST, SECOND, THIRD)]
    assert not any(turn.asked for turn in doubting)


def test_a_sure_question_is_not_read_again(eager: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.parser.turns.SURE", 0.0)
    assert not any(turn.asked for turn in asked(eager, FIRST, SECOND, THIRD))


def test_a_question_that_calls_a_turn_by_its_number_is_read_with_that(eager: Parser) -> None:
    turns = asked(eager, FIRST, QUESTIONS[1], "only the women of answer 1")
    assert turns[-1].asked == ""


def test_refused_and_forgotten_turns_are_not_said_again(eager: Parser) -> None:
    history = asked(eager, FIRST, QUESTIONS[1])
    without = [history[0], replace(history[1], forgotten=True)]
    turn = cast("Turn", eager.parse(SECOND, SCHEMA, history=without))
    assert turn.uses in ((), (1,))
    assert history[1].asked not in turn.question
    nothing = [replace(one, forgotten=True) for one in history]
    turn = cast("Turn", eager.parse(SECOND, SCHEMA, history=nothing))
    assert (turn.question, turn.asked, turn.uses) == (SECOND, "", ())


def test_what_is_longer_than_a_question_may_be_is_not_read(eager: Parser) -> None:
    first = f"{FIRST} {'and so on ' * 390}"
    assert len(first) < LIMITS.question_characters < len(first) + 120
    long = replace(asked(eager, FIRST)[0], question=first)
    turn = cast("Turn", eager.parse(f"only the women {'please ' * 20}", SCHEMA, history=[long]))
    assert turn.asked == ""


def readings(eager: Parser) -> tuple[Assessed, Assessed]:
    """A question as going on from an earlier one, and as one text with it."""
    (first,) = asked(eager, FIRST)
    state, dictionary = eager._sources.ready(SCHEMA, None)
    linked = link(SECOND, SECOND, state, dictionary, eager.engine, LIMITS, turns=[first], number=2)
    one_text = with_questions(linked, [first], eager.engine, LIMITS)
    assert one_text is not None
    found = []
    for one in (with_turns(linked, eager.engine), one_text):
        decoded = eager.engine.decode(one.prepared, one.schema, one.space, 4)
        found.append(assess(write(one, decoded), eager.reliability))
    return found[0], found[1]


def test_what_either_reading_says_counts(eager: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    going_on, one_text = readings(eager)
    assert going_on.written.program != one_text.written.program
    assert pooled(going_on, one_text, LIMITS, inspected=False) is one_text
    monkeypatch.setattr("fastsql.parser.turns.ONE_TEXT", 0.0)
    assert pooled(going_on, one_text, LIMITS, inspected=False) is going_on


@pytest.mark.parametrize("inspected", [False, True])
def test_a_query_that_both_find_is_given_with_its_references(eager: Parser, inspected: bool) -> None:
    going_on, _ = readings(eager)
    twin = replace(going_on, written=replace(going_on.written))
    assert pooled(going_on, twin, LIMITS, inspected=inspected) is going_on


def test_a_query_that_neither_finds_first_may_be_the_likeliest_together(
    eager: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.parser.turns.ONE_TEXT", 1.0)
    _, reading = readings(eager)
    search = reading.written.decoded.search

    def finding(*scores: float) -> Assessed:
        """A reading that finds these hypotheses, each with another log-probability, and takes the likeliest for right."""
        finished = [
            replace(one, log_probabilities=(score,))
            for one, score in zip(search.finished, scores, strict=False)
        ]
        decoded = replace(reading.written.decoded, search=replace(search, finished=tuple(finished)))
        return assess(write(reading.written.linked, decoded, scores.index(max(scores))), eager.reliability)

    one, other = finding(-0.7, -0.9, -9.0), finding(-9.0, -0.9, -0.7)
    assert pooled(one, other, LIMITS, inspected=False).written.program == one.written.other(1).program
    assert pooled(one, other, LIMITS, inspected=True) in (one, other)


def test_it_survives_an_export(eager: Parser) -> None:
    session = eager.session(SCHEMA)
    for question in (FIRST, SECOND):
        session.ask(question)
    text = session.export()
    again = eager.session(SCHEMA)
    again.load(text)
    for before, after in zip(session.history, again.history, strict=True):
        assert (before.question, before.asked, before.uses, before.kind, before.best) == (
            after.question,
            after.asked,
            after.uses,
            after.kind,
            after.best,
        )


def test_what_says_a_forgotten_question_again_is_forgotten_with_it(eager: Parser) -> None:
    session = eager.session(SCHEMA)
    for question in (FIRST, SECOND, THIRD):
        session.ask(question)
    session.forget(1)
    assert all(turn.forgotten for turn in session)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("uses", [2]),
        ("uses", [True]),
        ("uses", "1"),
        ("kind", []),
        ("kind", ["odd"]),
        ("kind", None),
        ("asked", 5),
        ("asked", "x" * 5000),
    ],
)
def test_a_record_that_says_otherwise_is_refused(eager: Parser, key: str, value: object) -> None:
    session = eager.session(SCHEMA)
    for question in (FIRST, SECOND):
        session.ask(question)
    content = json.loads(session.export())
    content["turns"][1][key] = value
    with pytest.raises(ConversationError, match="turn 2 cannot be read"):
        eager.session(SCHEMA).load(json.dumps(content))


def test_a_bundle_without_their_probabilities_reads_no_such_text(parser: Parser) -> None:
    assert Reliability().together is None
    assert not any(turn.asked for turn in asked(parser, FIRST, SECOND, THIRD))
