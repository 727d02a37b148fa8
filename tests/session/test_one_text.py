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
from fastsql.refusal.suggestions import UnknownWords
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
    assert (third.question, third.asked) == (f"{second.question}; {THIRD}", THIRD), "nothing is said twice"


def test_a_refused_text_is_put_right_where_it_was_typed(eager: Parser) -> None:
    first, second = asked(eager, FIRST, "only the zyxes")
    end = len(second.question)
    unknown = UnknownWords("", ("zyxes",), ((end - len("zyxes"), end),))
    refused = replace(second, abstained=True, suggestions=(unknown,))
    again = cast("Turn", eager.parse("I meant women", SCHEMA, history=[first, refused]))
    assert (again.question, again.asked) == (f"{FIRST.rstrip(' ?.')}; only the women", "I meant women")
    assert again.uses == (1,)


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
    for last, typed in (("only the women", "only the women"), ("only the women of answer 1", "")):
        assert asked(eager, FIRST, QUESTIONS[1], last)[-1].asked == typed


def test_those_of_nobody_knows_what_is_not_read_as_one_text(
    eager: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = asked(eager, FIRST)
    monkeypatch.setattr("fastsql.parser.parser.with_turns", lambda linked, _: linked)  # it refers to nothing
    for question, typed in (("sort by dob", "sort by dob"), ("sort those by dob", "")):
        assert cast("Turn", eager.parse(question, SCHEMA, history=history)).asked == typed


def test_no_remembered_pair_speaks_for_one_text(talking_bundle: Path) -> None:
    parser = load_toy(talking_bundle, limits=LIMITS)
    parser._reliability = replace(parser._reliability, together=Judge(Regression(9.0, {})))
    parser.remember(FIRST, "SELECT COUNT(*) FROM patients WHERE gender = 'f'", SCHEMA)
    first, second = asked(parser, FIRST, SECOND)
    assert first.remembered is not None
    assert second.asked == SECOND
    assert second.remembered is None


def test_refused_and_forgotten_turns_are_not_said_again(eager: Parser) -> None:
    first, second = asked(eager, FIRST, QUESTIONS[1])
    for gone in (replace(second, forgotten=True), replace(second, abstained=True)):
        turn = cast("Turn", eager.parse(SECOND, SCHEMA, history=[first, gone]))
        assert (turn.question, turn.uses) == (f"{FIRST.rstrip(' ?.')}; {SECOND}", (1,))
    nothing = [replace(one, forgotten=True) for one in (first, second)]
    turn = cast("Turn", eager.parse(SECOND, SCHEMA, history=nothing))
    assert (turn.question, turn.asked, turn.uses) == (SECOND, "", ())


def test_what_is_longer_than_a_question_may_be_is_not_read(eager: Parser) -> None:
    (turn,) = asked(eager, FIRST)
    for more, typed in (("and so on " * 10, SECOND), ("and so on " * 399, "")):
        long = replace(turn, question=f"{FIRST[:4]} {more}")
        assert len(long.question) < LIMITS.question_characters
        assert cast("Turn", eager.parse(SECOND, SCHEMA, history=[long])).asked == typed


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
    going_on, one_text = readings(eager)
    twin = replace(going_on, written=replace(going_on.written))
    assert pooled(going_on, twin, LIMITS, inspected=inspected) is going_on
    invalid = replace(going_on, written=replace(going_on.written, fault="?"))
    assert (
        pooled(going_on, replace(one_text, written=invalid.written), LIMITS, inspected=inspected) is going_on
    )
    assert pooled(invalid, one_text, LIMITS, inspected=inspected) is one_text


def test_what_a_reading_passed_over_is_not_taken_up_again(eager: Parser) -> None:
    going_on, _ = readings(eager)
    second = assess(going_on.written.other(1), eager.reliability)
    assert pooled(second, second, LIMITS, inspected=False) is second


def test_a_query_that_neither_finds_first_may_be_the_likeliest_together(
    eager: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.parser.turns.ONE_TEXT", 1.0)
    _, reading = readings(eager)
    search = reading.written.decoded.search

    def finding(*numbers: int) -> Assessed:
        """A reading that finds these hypotheses, the first two nearly as likely as each other."""
        finished = tuple(
            replace(search.finished[number], log_probabilities=(score,))
            for number, score in zip(numbers, (-0.7, -0.9, -9.0), strict=True)
        )
        decoded = replace(reading.written.decoded, search=replace(search, finished=finished))
        return assess(write(reading.written.linked, decoded), eager.reliability)

    one, other = finding(0, 1, 2), finding(2, 1, 0)
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
