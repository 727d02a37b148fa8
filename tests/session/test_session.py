"""A session asks each question with those before it, and keeps what later ones need."""

from __future__ import annotations

import itertools
import pickle
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

import fastsql
from fastsql import ExecutionError, ModelError, SchemaError
from fastsql.execution import RefusedError
from fastsql.parser import Parser
from fastsql.schema import Schema
from fastsql.session import Turn

from ..worlds.toy_bundle import QUESTIONS, load_toy
from ..worlds.toy_model import SCHEMA
from .conftest import DDL, LIMITS
from .talks import MORE, rambling, talked


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
