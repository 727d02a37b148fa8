"""A session binds what earlier turns returned where that gives the same answer, says so, and lets go of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from fastsql import ExecutionError
from fastsql.execution import ReadOnlyExecutor
from fastsql.limits import Limits
from fastsql.parser import Parser
from fastsql.parser.audit import Audit
from fastsql.reliability.judges import Assessment
from fastsql.schema import Schema
from fastsql.session import Session, Turn
from fastsql.session.turn import TurnState

from ..worlds.database import inserted, write_database
from ..worlds.toy_bundle import QUESTIONS
from ..worlds.toy_model import SCHEMA as TOY

DDL = "CREATE TABLE p (id INTEGER, name TEXT, sex TEXT); CREATE TABLE v (pid INTEGER, cost REAL)"
SCHEMA = Schema.from_ddl(DDL)
WOMEN = "SELECT p.id FROM p WHERE p.sex = 'f'"
COSTS = f"SELECT v.cost FROM v WHERE v.pid IN ({WOMEN})"
DEAREST = f"SELECT COUNT(*) FROM v WHERE v.cost IN ({COSTS})"
LISTED = f"SELECT COUNT(*) FROM ({WOMEN}) AS t1"
SEALED = "Zoe Sealed-4711"
SCRIPT: dict[str, tuple[str | None, tuple[int, ...]]] = {
    "the women": (WOMEN, ()),
    "their costs": (COSTS, (1,)),
    "how many": (LISTED, (1,)),
    "alone": (COSTS, ()),
    "stays as dear": (DEAREST, (2,)),
    "names": (f"SELECT p.name FROM p WHERE p.id IN ({WOMEN})", (1,)),
    "same names": (
        f"SELECT COUNT(*) FROM p WHERE p.name IN (SELECT p.name FROM p WHERE p.id IN ({WOMEN}))",
        (2,),
    ),
    "???": (None, ()),
}


class Scripted(Parser):
    """A parser that answers these questions, and no others."""

    def __init__(self, limits: Limits | None = None, audit: Audit | None = None) -> None:
        self.limits = limits or Limits()
        self._audit = audit

    def parse(
        self, question: str, schema: Any, *, history: Any = (), dialect: str = "sqlite", **_: Any
    ) -> Turn:  # type: ignore[override]
        sql, uses = SCRIPT[question]
        number = history[-1].number + 1 if history else 1
        below = {one for turn in history if turn.number in uses for one in turn.standing}
        return Turn(
            question,
            sql,
            0.9,
            abstained=sql is None,
            dialect=dialect,
            number=number,
            uses=uses,
            standing={one: Assessment(0.9, 0.0) for one in (*below, number)},
            state=None if sql is None else cast("TurnState", object()),
        )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three women, whose stays cost 1.0 to 3.0, and a man."""
    people = inserted("p", [(1, SEALED, "f"), (2, "b", "f"), (3, "c", "f"), (4, "d", "m")])
    stays = inserted("v", [(n, float(n)) for n in (1, 2, 3, 4)])
    return write_database(tmp_path / "ward.sqlite", f"{DDL};{people}{stays}")


@pytest.fixture
def talk(path: Path) -> Callable[..., Session]:
    """Begins a session on the ward."""

    def begin(
        *, limits: Limits | None = None, audit: Audit | None = None, reuse: str = "parameters", **options: Any
    ) -> Session:
        executor = ReadOnlyExecutor(path, schema=SCHEMA, **options)
        return Session(Scripted(limits, audit), SCHEMA, None, executor, "qs", reuse)

    return begin


def ways(turn: Turn) -> list[tuple[int, str]]:
    return [(one.turn, one.way) for one in turn.reused]


def cells(turn: Turn) -> list[Any]:
    assert turn.rows is not None
    return sorted(cell for (cell,) in turn.rows)


def kept(session: Session) -> list[int]:
    """The numbers of the turns whose rows are kept."""
    return [number for number, one in session._kept._answers.items() if one.earlier.rows is not None]


@pytest.mark.parametrize("reuse", ["parameters", "table", "subquery"])
def test_the_answer_is_the_same_in_every_way(talk: Callable[..., Session], reuse: str) -> None:
    session = talk(reuse=reuse)
    first, second, third = session.ask("the women"), session.ask("their costs"), session.ask("stays as dear")
    assert (cells(first), cells(second), cells(third)) == ([1, 2, 3], [1.0, 2.0, 3.0], [3])
    if reuse == "subquery":
        assert (first.reused, second.reused, third.reused) == ((), (), ())
    else:
        assert (ways(first), ways(second), ways(third)) == ([], [(1, reuse)], [(2, reuse)])
        assert second.reused[0].at == first.at
    assert second.sql == COSTS


def test_an_answer_is_as_of_the_time_at_which_it_was_shown(talk: Callable[..., Session], path: Path) -> None:
    bound, anew = talk(), talk(reuse="subquery")
    for session in (bound, anew):
        session.ask("the women")
    write_database(path, "UPDATE p SET sex = 'f' WHERE id = 4; UPDATE v SET cost = 20.0 WHERE pid = 2")
    assert cells(bound.ask("their costs")) == [1.0, 3.0, 20.0]
    assert cells(anew.ask("their costs")) == [1.0, 3.0, 4.0, 20.0]
    again = bound.refresh()
    assert (cells(again), again.reused) == ([1.0, 3.0, 4.0, 20.0], ())
    bound.undo()
    assert cells(bound.refresh(1)) == [1, 2, 3, 4]
    turn = bound.ask("their costs")
    assert (cells(turn), ways(turn)) == ([1.0, 3.0, 4.0, 20.0], [(1, "parameters")])


def reason(turn: Turn) -> str:
    (found,) = turn.reused
    assert found.way == "subquery"
    assert found.at is None
    return found.reason


@pytest.mark.parametrize("reuse", ["parameters", "table"])
def test_a_database_whose_tables_have_changed_is_asked_anew(
    talk: Callable[..., Session], path: Path, reuse: str
) -> None:
    session = talk(reuse=reuse)
    session.ask("the women")
    write_database(path, "ALTER TABLE p ADD COLUMN born TEXT; UPDATE p SET sex = 'f'")
    turn = session.ask("their costs")
    assert reason(turn) == "the database has other tables or columns since"
    assert cells(turn) == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("reuse", ["parameters", "table"])
def test_a_truncated_answer_is_asked_anew(talk: Callable[..., Session], reuse: str) -> None:
    session = talk(reuse=reuse, row_limit=2)
    first = session.ask("the women")
    assert first.rows is not None
    assert first.rows.truncated
    turn = session.ask("how many")
    assert reason(turn) == "it was cut at a limit"
    assert cells(turn) == [3]


def test_answers_beyond_the_bounds_are_asked_anew(talk: Callable[..., Session]) -> None:
    session = talk(limits=Limits(reused_values=2))
    session.ask("the women")
    assert reason(session.ask("their costs")) == "it has more than 2 different values"
    session = talk(limits=Limits(reused_values=3))
    session.ask("the women")
    assert ways(session.ask("their costs")) == [(1, "parameters")]
    session = talk(limits=Limits(kept_bytes=10))
    session.ask("the women")
    assert reason(session.ask("their costs")) == "its rows are not kept any more"
    assert kept(session) == []


def test_rows_in_from_are_a_table_or_asked_anew(talk: Callable[..., Session]) -> None:
    for reuse, expected in (("parameters", "subquery"), ("table", "table")):
        session = talk(reuse=reuse)
        session.ask("the women")
        turn = session.ask("how many")
        assert (cells(turn), ways(turn)) == ([3], [(1, expected)])


def test_only_turns_that_a_turn_stands_on_take_part(talk: Callable[..., Session], path: Path) -> None:
    session = talk()
    session.ask("the women")
    write_database(path, "UPDATE p SET sex = 'f'")
    turn = session.ask("alone")
    assert (cells(turn), turn.reused) == ([1.0, 2.0, 3.0, 4.0], ())


def test_rows_are_let_go_of(talk: Callable[..., Session]) -> None:
    session = talk()
    session.ask("the women")
    session.ask("their costs")
    session.ask("???")
    branch = session.branch()
    assert kept(session) == kept(branch) == [1, 2]
    session.undo()
    session.undo()
    assert kept(session) == [1]
    branch.forget(1)
    assert kept(branch) == []
    assert ways(session.ask("their costs")) == [(1, "parameters")]
    session.close()
    assert kept(session) == []
    assert all(turn.rows is None for turn in session)
    assert session.ask("stays as dear").reused == ()
    session = talk(limits=Limits(turns=2))
    for _ in range(4):
        session.ask("the women")
    assert kept(session) == [3, 4]


def test_rows_are_in_no_text(talk: Callable[..., Session], caplog: pytest.LogCaptureFixture) -> None:
    records: list[object] = []
    audit = Audit(records.append, question=True, sql=True, literals=True, identifiers=True)
    caplog.set_level(logging.DEBUG)
    for reuse in ("parameters", "table"):
        session = talk(reuse=reuse, audit=audit)
        session.ask("the women")
        session.ask("names")
        turn = session.ask("same names")
        assert ways(turn) == [(2, reuse)]
        shown = (turn.sql, turn.to_dict(), session, turn.reused, vars(session._kept))
        assert "Sealed" not in " ".join(map(str, shown))
    assert len(records) == 6
    assert "Sealed" not in str(records) + caplog.text


def test_a_database_that_is_gone_leaves_the_session_as_it_was(
    talk: Callable[..., Session], path: Path, tmp_path: Path
) -> None:
    session = talk()
    session.ask("the women")
    path.rename(tmp_path / "away.sqlite")
    with pytest.raises(ExecutionError):
        session.ask("their costs")
    assert (len(session), kept(session)) == (1, [1])
    (tmp_path / "away.sqlite").rename(path)
    assert ways(session.ask("their costs")) == [(1, "parameters")]


def test_another_database_is_asked_anew(talk: Callable[..., Session], path: Path, tmp_path: Path) -> None:
    session = talk()
    session.ask("the women")
    other = tmp_path / "other.sqlite"
    other.write_bytes(path.read_bytes())
    write_database(other, "UPDATE p SET sex = 'f'")
    session.executor = ReadOnlyExecutor(other, schema=SCHEMA)
    turn = session.ask("their costs")
    assert (cells(turn), turn.reused) == ([1.0, 2.0, 3.0, 4.0], ())
    assert ways(session.ask("stays as dear")) == [(2, "parameters")]


def test_threads_ask_one_after_the_other(talk: Callable[..., Session]) -> None:
    session = talk(reuse="table")
    session.ask("the women")
    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(session.ask, ["their costs"] * 8))
    assert {tuple(ways(turn)) for turn in turns} == {((1, "table"),)}
    assert {tuple(cells(turn)) for turn in turns} == {(1.0, 2.0, 3.0)}


def test_an_executor_of_ones_own_runs_what_stands_alone(path: Path) -> None:
    class Own:
        dialect = "sqlite"

        def __init__(self) -> None:
            self.inner = ReadOnlyExecutor(path)
            self.seen: list[str | None] = []

        def run(self, sql: str | None) -> Any:
            self.seen.append(sql)
            return self.inner.run(sql)

    own = Own()
    session = Session(Scripted(), SCHEMA, None, cast("Any", own))
    session.ask("the women")
    turn = session.ask("their costs")
    assert (own.seen, turn.reused) == ([WOMEN, COSTS], ())


def test_a_way_that_is_none_is_refused(parser: Parser) -> None:
    with pytest.raises(ValueError, match="'parameters', 'table', 'subquery', not 'splice'"):
        parser.session(TOY, reuse="splice")


@pytest.mark.parametrize("reuse", ["parameters", "table"])
def test_a_record_brings_no_rows(parser: Parser, database: Path, reuse: str) -> None:
    session = parser.session(TOY, executor=ReadOnlyExecutor(database), reuse=reuse)
    for question in (*QUESTIONS, "only the women"):
        session.ask(question)
    other = parser.session(TOY, executor=ReadOnlyExecutor(database), reuse=reuse)
    other.ask(QUESTIONS[0])
    other.load(session.export())
    assert kept(other) == []
    assert all(turn.rows is None and turn.reused == () for turn in other)
    assert other.ask("only the women").reused == ()
