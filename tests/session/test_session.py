"""A session asks each question with those before it, and keeps what later ones need."""

from __future__ import annotations

import itertools
import pickle
import random
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cache
from math import prod
from pathlib import Path
from typing import cast

import pytest

import fastsql
from fastsql import ExecutionError, ModelError, SchemaError
from fastsql.execution import RefusedError
from fastsql.parser import Parser
from fastsql.parser.assess import Assessed
from fastsql.parser.confirm import CERTAIN
from fastsql.parser.turns import likelier, refers
from fastsql.parser.write import sensible_first
from fastsql.refusal.describe import describe
from fastsql.refusal.suggestions import BestGuess, SeveralReadings, Suggestion, UnknownWords
from fastsql.reliability.assess import Assessment
from fastsql.schema import Schema
from fastsql.session import Session, Turn

from ..worlds.toy_bundle import QUESTIONS, load_toy, make_config, write_bundle
from ..worlds.toy_model import SCHEMA
from .conftest import DDL, LIMITS

MORE = (*QUESTIONS, "only the women", "and in 2101?", "their last admission", "只要女性", "sort them by dob")
WIDE = 12
"""Hypotheses enough for several of the toy's to have words."""


def talked(parser: Parser, count: int = 6, **options: str) -> Session:
    """A session after so many questions, one of its own for who asks; the answers are found once."""
    return _talked(parser, count, **options).branch()


@cache
def _talked(parser: Parser, count: int, **options: str) -> Session:
    if not count:
        return parser.session(SCHEMA, **options)  # type: ignore[arg-type]
    session = talked(parser, count - 1, **options)
    session.ask(MORE[(count - 1) % len(MORE)])
    return session


@cache
def rambling(parser: Parser) -> tuple[tuple[Turn, ...], ...]:
    """Twelve conversations of words in any order; not to be changed."""
    generator = random.Random(5)
    words = " ".join(MORE).split()
    sessions = [parser.session(SCHEMA) for _ in range(12)]
    return tuple(
        tuple(session.ask(" ".join(generator.sample(words, 6))) for _ in range(8)) for session in sessions
    )


def test_turns_are_numbered_and_some_refer_to_earlier_ones(parser: Parser) -> None:
    session = talked(parser, 8)
    assert [turn.number for turn in session] == list(range(1, 9))
    assert any(turn.uses for turn in session)
    for turn in session:
        assert all(1 <= number < turn.number for number in turn.uses)
        assert (turn.kind == ("independent",)) == (not turn.uses)


def test_every_query_stands_alone(parser: Parser) -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(DDL)
        for turn in itertools.chain.from_iterable(rambling(parser)):
            assert turn.sql is not None
            connection.execute(f"EXPLAIN {turn.sql}")
    connection.close()


def test_a_session_is_parse_with_its_history(parser: Parser) -> None:
    session = talked(parser, 5)
    again: list[Turn] = []
    for turn in session:
        found = parser.parse(turn.question, SCHEMA, history=again)
        assert isinstance(found, Turn)
        assert (found.sql, found.uses, found.kind, found.number) == (
            turn.sql,
            turn.uses,
            turn.kind,
            turn.number,
        )
        assert found.confidence == pytest.approx(turn.confidence)
        again.append(found)


def test_without_a_history_a_parse_is_no_turn(parser: Parser) -> None:
    alone = parser.parse(QUESTIONS[0], SCHEMA)
    first = parser.parse(QUESTIONS[0], SCHEMA, history=())
    assert type(alone) is fastsql.Result
    assert isinstance(first, Turn)
    assert (first.sql, first.confidence) == (alone.sql, alone.confidence)


def test_a_turn_is_no_surer_than_those_it_stands_on(parser: Parser) -> None:
    by_number = {}
    for turn in talked(parser, 8):
        by_number[turn.number] = turn
        assert turn.confidence == pytest.approx(prod(one.confidence for one in turn.standing.values()))
        assert set(turn.standing) == {turn.number}.union(*(by_number[n].standing for n in turn.uses))
        assert turn.confidence + turn.unanswerable <= 1 + 1e-9
        for number in turn.uses:
            assert turn.confidence <= by_number[number].confidence


def test_refused_and_forgotten_turns_are_not_referred_to(parser: Parser) -> None:
    session = parser.session(SCHEMA)
    for number in range(6):
        turn = session.ask(MORE[number], penalty=1e6)
        assert turn.abstained
        assert turn.uses == ()
    session = talked(parser, 5)
    for number in range(1, 6):
        session.forget(number)
    assert session.ask("only the women").uses == ()


def test_what_stands_on_a_forgotten_turn_is_forgotten_with_it(parser: Parser) -> None:
    session = talked(parser, 8)
    used = next(turn.uses[0] for turn in session if turn.uses)
    session.forget(used)
    for turn in session:
        assert turn.forgotten == (used in turn.standing)
        assert turn.usable != turn.forgotten
    with pytest.raises(KeyError, match="turn 99"):
        session.forget(99)


def test_turns_can_be_undone_and_a_session_branched(parser: Parser) -> None:
    session = talked(parser, 3)
    other = session.branch()
    last = session.undo()
    assert last.number == 3
    assert (len(session), len(other)) == (2, 3)
    assert session.ask(last.question).sql == last.sql
    other.ask("only the women")
    assert (len(session), len(other)) == (3, 4)
    with pytest.raises(IndexError, match="no turn"):
        parser.session(SCHEMA).undo()


def test_a_session_keeps_the_latest_turns_and_goes_on_counting(parser: Parser) -> None:
    most = parser.limits.turns
    session = parser.session(SCHEMA)
    for number in range(2 * most):
        session.ask(MORE[number % len(MORE)])
    assert [turn.number for turn in session] == list(range(most + 1, 2 * most + 1))
    assert all(turn.background is None for turn in session.history[:-1])
    for turn in session.history[:-1]:
        assert len(pickle.dumps(turn)) < 20_000


def test_threads_take_turns(parser: Parser) -> None:
    session = parser.session(SCHEMA)
    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(session.ask, MORE[:8]))
    assert sorted(turn.number for turn in turns) == list(range(1, 9))
    assert [turn.number for turn in session] == list(range(1, 9))


@pytest.mark.parametrize("question", ["", "   ", "???"])
def test_an_empty_turn_is_refused_and_the_conversation_goes_on(parser: Parser, question: str) -> None:
    session = talked(parser, 2)
    turn = session.ask(question)
    assert turn.abstained
    assert (turn.number, turn.usable) == (3, False)
    assert session.ask("only the women").number == 4


def test_rows_come_with_the_last_turn_alone(parser: Parser, database: Path) -> None:
    session = parser.session(SCHEMA, executor=fastsql.open_executor(str(database)))
    first = session.ask(QUESTIONS[0])
    assert first.rows is not None
    second = session.ask("only the women")
    assert [turn.rows is None for turn in session] == [True, False]
    assert "<li value='2'>" in session._repr_html_()
    assert second.milliseconds > 0
    assert "败血症" not in session.export()


def test_a_turn_that_ends_in_an_error_is_none(parser: Parser) -> None:
    class Gone:
        dialect = "sqlite"

        def run(self, sql: str) -> object:
            raise ExecutionError("the database is gone", where="ward", remedy="Bring it back.")

    session = talked(parser, 2)
    session.executor = Gone()  # type: ignore[assignment]
    with pytest.raises(ExecutionError, match="gone"):
        session.ask("only the women")
    assert len(session) == 2
    session.executor = None
    assert session.ask("only the women").number == 3


def test_questions_alone_link_to_no_query(parser: Parser) -> None:
    session = talked(parser, 3, history="qq")
    assert all(turn.state is not None and not turn.state.earlier.shown for turn in session)
    linked = parser.engine.link(
        "only the women",
        parser._sources.ready(SCHEMA, None)[0],
        None,
        [turn.state.earlier for turn in session if turn.state is not None],
    )
    nodes = slice(len(linked.offsets), len(linked.offsets) + 3)
    assert len(set(linked.relations[nodes, nodes.stop :].ravel().tolist())) == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"history": "q"}, ValueError),
        ({"executor": "ward.sqlite"}, TypeError),
        ({"penalty": -1}, ValueError),
    ],
)
def test_arguments_of_a_session_are_checked(
    parser: Parser, options: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        parser.session(SCHEMA, **options).ask("women")  # type: ignore[arg-type]


def test_turns_of_another_schema_or_model_are_refused(parser: Parser, toy_bundle: Path) -> None:
    history = talked(parser, 2).history
    other = Schema.from_dict({"patients": {"subject_id": "INT"}})
    with pytest.raises(SchemaError, match="turn 1"):
        parser.parse("only the women", other, history=history)
    with pytest.raises(TypeError, match="turns of a conversation"):
        parser.parse("only the women", SCHEMA, history=["women"])  # type: ignore[list-item]
    silent = load_toy(toy_bundle)
    with pytest.raises(ModelError, match="earlier turns"):
        silent.parse("only the women", SCHEMA, history=history)


def test_a_session_and_its_turns_show_what_they_are(parser: Parser) -> None:
    session = talked(parser, 3)
    assert repr(session) == f"Session({SCHEMA.name!r}, 3 turns, 3 answered)"
    assert bool(parser.session(SCHEMA))
    used = next((turn for turn in talked(parser, 8) if turn.uses), None)
    assert used is not None
    assert repr(used).startswith(f"Turn({used.number}, uses={list(used.uses)}, ")
    assert used.to_dict()["uses"] == list(used.uses)


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


def test_what_is_taken_from_earlier_turns_is_shown_by_tokens(parser: Parser) -> None:
    seen: set[str] = set()
    for turn in itertools.chain.from_iterable(rambling(parser)):
        tokens = {int(number) for number in re.findall(r"PREV_(?:QUERY|RESULT)(\d+)", turn.referring or "")}
        # A condition of one turn that another has, too, adds nothing to be shown.
        assert tokens <= set(turn.uses)
        assert bool(tokens) == bool(turn.uses)
        seen |= set(re.findall(r"PREV_[A-Z]+", turn.referring or ""))
        if not turn.uses:
            assert turn.referring is None
            assert turn.sql_with_references == turn.sql
    assert seen == {"PREV_QUERY", "PREV_RESULT"}


def test_tokens_survive_an_export(parser: Parser) -> None:
    session = talked(parser, 8)
    other = parser.session(SCHEMA)
    other.load(session.export())
    assert any(turn.referring for turn in session)
    assert [turn.sql_with_references for turn in other] == [turn.sql_with_references for turn in session]


def test_a_turn_is_run_again(parser: Parser, database: Path) -> None:
    with fastsql.open_executor(database) as executor:
        session = parser.session(SCHEMA, executor=executor)
        first = session.ask(QUESTIONS[0])
        assert first.rows is not None
        assert first.at is not None
        with closing(sqlite3.connect(database)) as connection, connection:
            for table in ("patients", "admissions"):
                connection.execute(f"DELETE FROM {table}")
        again = session.refresh()
        assert again.rows is not None
        assert again.rows.rows != first.rows.rows
        assert again.at is not None
        assert again.at > first.at
        assert session.history == (again,)
        assert (again.sql, again.confidence) == (first.sql, first.confidence)
        session.ask(QUESTIONS[1])
        assert session.turn(1).rows is None
        assert session.refresh(1).rows == again.rows
        assert session.turn(1).rows is None


def test_only_an_answer_can_be_run_again(parser: Parser, database: Path) -> None:
    with pytest.raises(ValueError, match="no executor"):
        parser.session(SCHEMA).refresh()
    with fastsql.open_executor(database) as executor:
        session = parser.session(SCHEMA, executor=executor)
        with pytest.raises(KeyError, match="no turn yet"):
            session.refresh()
        session.ask(QUESTIONS[0])
        with pytest.raises(KeyError, match="no turn 7"):
            session.refresh(7)
        session.ask(QUESTIONS[0], penalty=1e9)
        if session.turn().sql is None:
            with pytest.raises(RefusedError):
                session.refresh()


def test_a_thousand_turns_take_no_more_than_a_few(talking_bundle: Path) -> None:
    # Of short queries, by the native core where there is one: what a session keeps is the same.
    parser = load_toy(talking_bundle, device="auto", limits=replace(LIMITS, actions=24))
    session = parser.session(SCHEMA)
    for number in range(1000):
        session.ask(MORE[number % len(MORE)])
    assert len(session) == LIMITS.turns
    assert session.turn().number == 1000
    assert len(session.export()) < 5_000 * LIMITS.turns
    assert any(0 in turn.standing for turn in session)
    for turn in session:
        assert all(
            number in (0, *range(turn.number - LIMITS.turns, turn.number + 1)) for number in turn.standing
        )
        assert turn.confidence == pytest.approx(prod(one.confidence for one in turn.standing.values()))
    other = parser.session(SCHEMA)
    other.load(session.export())
    assert [(turn.number, turn.standing) for turn in other] == [
        (turn.number, turn.standing) for turn in session
    ]


def refused(question: str, words: str) -> Turn:
    """A turn that was refused because nothing is called `words`."""
    start = question.index(words)
    unknown = UnknownWords("", (words,), ((start, start + len(words)),))
    return Turn(question, None, 0.1, abstained=True, reason="?", suggestions=(unknown,))


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
