"""What was refused, said better or confirmed in the next turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.parser import Parser
from fastsql.parser.confirm import CERTAIN
from fastsql.refusal.describe import describe
from fastsql.refusal.suggestions import BestGuess, SeveralReadings, Suggestion
from fastsql.session import Turn

from ..worlds.toy_bundle import QUESTIONS
from ..worlds.toy_model import SCHEMA
from .talks import WIDE, refused


def test_a_correction_asks_the_refused_question_again(parser: Parser) -> None:
    before = refused("how many zyxes are there", "zyxes")
    turn = parser.parse("No, I meant patients.", SCHEMA, history=[before])
    assert isinstance(turn, Turn)
    assert (turn.question, turn.asked, turn.number) == (
        "how many patients are there",
        "No, I meant patients.",
        2,
    )
    again = parser.parse("how many patients are there", SCHEMA, history=[before])
    assert isinstance(again, Turn)
    assert (turn.sql, turn.confidence, again.asked) == (again.sql, again.confidence, "")


def test_only_the_question_just_before_is_put_right(parser: Parser) -> None:
    before = refused("how many zyxes are there", "zyxes")
    session = parser.session(SCHEMA)
    answered = session.ask(QUESTIONS[0])
    for history in ([before, replace(answered, number=2)], [answered]):
        turn = parser.parse("I meant patients", SCHEMA, history=history)
        assert isinstance(turn, Turn)
        assert (turn.question, turn.asked) == ("I meant patients", "")


def described(parser: Parser, question: str) -> dict[str, str]:
    """The readings of a question in words, likeliest first, and their SQL."""
    parsed = parser.parse(question, SCHEMA, penalty=0, beam=WIDE)
    assert parsed.background is not None
    written = parsed.background.written
    found: dict[str, str] = {}
    for one in (written, *map(written.other, written.others)):
        description = describe(one.program, SCHEMA, "en")
        if description is not None:
            found.setdefault(description, one.sql)
    return found


def in_doubt(question: str, suggestion: Suggestion) -> Turn:
    """A turn that was refused although this could be meant."""
    return Turn(question, None, 0.4, abstained=True, reason="?", suggestions=(suggestion,))


@pytest.mark.parametrize("said", ["yes", "Yes, that's right.", "ok", "是的"])
def test_a_guess_that_is_confirmed_is_given(said: str, parser: Parser) -> None:
    description, sql = next(iter(described(parser, QUESTIONS[0]).items()))
    before = in_doubt(QUESTIONS[0], BestGuess("", description))
    turn = parser.parse(said, SCHEMA, history=[before], penalty=1e6, beam=WIDE)
    assert isinstance(turn, Turn)
    assert (turn.sql, turn.confidence, turn.question, turn.asked) == (sql, 1.0, QUESTIONS[0], said)
    assert turn.usable
    assert (turn.number, turn.standing) == (2, {2: CERTAIN})


def test_one_of_several_readings_is_given_by_its_place(parser: Parser) -> None:
    question = next(one for one in QUESTIONS if len(described(parser, one)) > 1)
    known = described(parser, question)
    before = in_doubt(question, SeveralReadings("", tuple(known)[:3]))
    for said, sql in zip(("the first one", "2", "third"), known.values(), strict=False):
        turn = parser.parse(said, SCHEMA, history=[before], beam=WIDE)
        assert (turn.sql, turn.confidence) == (sql, 1.0)
    assert parser.parse("yes", SCHEMA, history=[before]).question == "yes"  # which of them?


def test_what_is_not_found_again_stays_refused(parser: Parser) -> None:
    before = in_doubt(QUESTIONS[0], BestGuess("", "how many whales"))
    turn = parser.parse("yes", SCHEMA, history=[before], penalty=1e6)
    assert isinstance(turn, Turn)
    assert (turn.sql, turn.asked) == (None, "yes")


def test_an_answered_turn_is_confirmed_by_nothing(parser: Parser) -> None:
    session = parser.session(SCHEMA)
    session.ask(QUESTIONS[0])
    turn = session.ask("yes", penalty=0)
    assert (turn.question, turn.asked) == ("yes", "")
