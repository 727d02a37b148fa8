"""Whether a question of a conversation is read by itself or with those before, and which of them it speaks of."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from fastsql.parser import Parser
from fastsql.parser.assess import Assessed
from fastsql.parser.turns import likelier, refers
from fastsql.parser.write import sensible_first
from fastsql.reliability.judges import Assessment
from fastsql.session import Turn

from ..worlds.toy_bundle import load_toy, make_config, write_bundle
from ..worlds.toy_model import SCHEMA
from .conftest import LIMITS
from .talks import MORE, WIDE, talked


def test_a_question_that_is_sure_by_itself_is_read_once(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = talked(parser, 3).history
    asked: list[int] = []
    link = parser.engine.link

    def count(*arguments: object) -> object:
        asked.append(len(arguments[3]) if len(arguments) > 3 else 0)  # type: ignore[arg-type]
        return link(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(parser.engine, "link", count)
    parser.parse("the women in wards", SCHEMA, history=history)
    assert asked == [0, 3]
    asked.clear()
    monkeypatch.setattr("fastsql.parser.turns.ALONE", 0.0)
    parser.parse("the women in wards", SCHEMA, history=history)
    assert asked == [0]


def test_a_question_that_speaks_of_those_before_is_read_with_them_however_sure(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = talked(parser, 3).history
    monkeypatch.setattr("fastsql.parser.turns.ALONE", 0.0)
    turn = parser.parse("their last admission", SCHEMA, history=history)
    alone = parser.parse("their last admission", SCHEMA)
    if not turn.uses:  # then it is refused, as it cannot be what is meant
        assert parser.parse("their last admission", SCHEMA, history=history, penalty=0.01).sql is None
    assert turn.uses or turn.best == alone.best


@pytest.mark.parametrize("question", ["only the women of answer 2", "sort those by dob", "这些中的女性"])
def test_a_question_that_cannot_stand_by_itself_is_read_once_where_it_refers(
    parser: Parser, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    history = talked(parser, 3).history
    decode, spaces = parser.engine.decode, []

    def count(*arguments: object) -> object:
        spaces.append(len(arguments[2].turns))  # type: ignore[attr-defined]
        return decode(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(parser.engine, "decode", count)
    turn = cast("Turn", parser.parse(question, SCHEMA, history=history))
    assert spaces == ([3] if turn.uses else [3, 0])
    assert turn.uses


@pytest.mark.parametrize(
    ("question", "called"),
    [("and of A2?", True), ("and of A9?", False), ("age over 2", False), ("the second result", False)],
)
def test_a_question_that_calls_a_turn_by_its_number_speaks_of_it(
    parser: Parser, question: str, called: bool
) -> None:
    history = talked(parser, 3).history
    turn = parser.parse(question, SCHEMA, history=history)
    assessed = cast("Assessed", turn.background)
    assert refers(assessed) == called


def test_a_question_that_calls_turns_by_their_numbers_refers_to_none_but_these_and_the_latest(
    parser: Parser,
) -> None:
    history = talked(parser, 6).history
    asked = [f"{words} answer {number}" for words in MORE for number in (1, 2, 3)]
    turns = [cast("Turn", parser.parse(question, SCHEMA, history=history)) for question in asked]
    assert all(set(turn.uses) <= {int(turn.question[-1]), 6} for turn in turns)
    assert any(int(turn.question[-1]) in turn.uses for turn in turns)


def test_a_hypothesis_that_leaves_out_a_called_turn_comes_after_those_that_have_it(parser: Parser) -> None:
    history = talked(parser, 4).history
    mixed = 0
    for number, words in itertools.product((1, 2, 3), MORE):
        turn = parser.parse(f"{words} answer {number}", SCHEMA, history=history, beam=8)
        written = cast("Assessed", turn.background).written
        hypotheses = map(written.other, range(len(written.decoded.search.finished)))
        has = [any(used.number == number for used in one.uses) for one in hypotheses]
        if written.linked.space.turns:
            assert has == sorted(has, reverse=True)
            mixed += len(set(has)) == 2
    assert mixed


@pytest.mark.parametrize("question", ["patients of those", "how many admissions did she have"])
def test_a_hypothesis_that_refers_to_nothing_is_not_the_first_where_a_question_must(
    tmp_path: Path, question: str
) -> None:
    seldom = {"extend": 1.5, "previous": 1.5, "in_previous": 1.5, "end": 5.0}
    bundle = write_bundle(tmp_path / "toy", config=make_config().with_turns(), likely=seldom)
    session = load_toy(bundle, limits=LIMITS).session(SCHEMA)
    for words in ("patients", "admissions", "women"):
        session.ask(words)
    written = cast("Assessed", session.ask(question, beam=WIDE).background).written
    finished = written.decoded.search.finished
    refer = [one for number, one in enumerate(finished) if written.other(number).uses]
    others = tuple(one for one in finished if one not in refer)
    assert others
    turned = replace(written.decoded, search=replace(written.decoded.search, finished=(*others, *refer)))
    assert sensible_first(written.linked, turned).search.finished[0] == refer[0]


def test_a_question_that_calls_a_turn_which_has_no_answer_may_refer_to_any(parser: Parser) -> None:
    session = talked(parser, 4)
    session.forget(2)
    turn = parser.parse("only the women of answer 2", SCHEMA, history=session.history)
    space = cast("Assessed", turn.background).written.linked.space
    assert [one.usable for one in space.turns] == [turn.usable for turn in session.history]


@pytest.fixture
def readings(parser: Parser) -> tuple[Assessed, Assessed]:
    """A question without words that refer, read by itself, at 0.6, and as one that refers to an earlier turn."""
    session = parser.session(SCHEMA)
    while not (turn := session.ask("only the women")).uses:
        assert len(session) < parser.limits.turns
    continued = cast("Assessed", turn.background)
    alone = cast("Assessed", parser.parse(turn.question, SCHEMA).background)
    linked = replace(alone.written.linked, number=turn.number)
    alone = replace(alone, written=replace(alone.written, linked=linked))
    return replace(alone, standing={turn.number: Assessment(0.6, 0.1)}), continued


def found_with(reading: Assessed, log_probability: float) -> Assessed:
    """The same, its query found with another probability."""
    written = reading.written
    finished = list(written.decoded.search.finished)
    finished[written.number] = replace(finished[written.number], log_probabilities=(log_probability,))
    search = replace(written.decoded.search, finished=tuple(finished))
    return replace(reading, written=replace(written, decoded=replace(written.decoded, search=search)))


def test_how_sure_the_turns_below_are_does_not_tell_whether_a_question_refers_to_them(
    readings: tuple[Assessed, Assessed],
) -> None:
    alone, continued = (found_with(reading, -1.0) for reading in readings)
    below = {used.number: Assessment(0.2) for used in continued.written.uses}
    unsure = replace(continued, standing={**below, alone.written.linked.number: Assessment(0.1)})
    assert unsure.confidence < alone.confidence
    assert likelier(alone, unsure) is unsure


def test_a_reading_by_itself_is_doubted_where_the_other_refers(readings: tuple[Assessed, Assessed]) -> None:
    alone, continued = readings
    alone, continued = found_with(alone, -1.0), found_with(continued, -30.0)
    doubted = likelier(alone, continued)
    assert doubted.written is alone.written
    assert (doubted.confidence, doubted.unanswerable) == pytest.approx((0.36, 0.1))
    apart = found_with(
        replace(continued, written=alone.written), -30.0
    )  # it refers to nothing: nothing is open
    assert likelier(alone, apart) is alone


def test_the_shorter_a_question_the_likelier_it_goes_on(
    readings: tuple[Assessed, Assessed], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, continued = readings
    alone, continued = found_with(alone, -1.0), found_with(continued, -1.5)
    tokens = alone.written.linked.prepared.question_tokens
    monkeypatch.setattr("fastsql.parser.turns.LENGTH", tokens)
    assert likelier(alone, continued).written is alone.written
    monkeypatch.setattr(
        "fastsql.parser.turns.LENGTH", 2 * tokens
    )  # as if it were half as long: four times as likely
    assert likelier(alone, continued) is continued
    assert likelier(alone, found_with(continued, -3.0)).written is alone.written
