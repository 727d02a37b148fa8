"""The inspector: what is run, within what budget, and what is made of the answers."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastsql import Parser
from fastsql.errors import ExecutionError, LimitError
from fastsql.execution import ReadOnlyExecutor, Rows
from fastsql.refusal.texts import TEXTS
from fastsql.reliability import Inspector, Judge
from fastsql.reliability.inspection import Finding, Rule, allies
from fastsql.reliability.kept_answers import KeptAnswers
from fastsql.reliability.regression import Regression

from ..worlds.database import write_database
from ..worlds.toy_bundle import QUESTIONS, load_toy
from ..worlds.toy_model import SCHEMA

SOME = ((1, "x"), (2, "y"))


class Scripted:
    """An executor with answers by heart; a query that it has none for fails."""

    def __init__(self, answers: Mapping[str, tuple[tuple[Any, ...], ...]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def run(self, sql: str) -> Rows:
        self.asked.append(sql)
        if sql not in self.answers:
            raise ExecutionError("failed", where="query")
        return Rows(("a",), self.answers[sql])


# ---------------------------------------------------------------- findings


@pytest.mark.parametrize(
    ("rows", "void"),
    [
        ((), True),
        (((None,),), True),
        (((0,),), True),
        (((0.0,), (None,)), True),
        ((("0",),), True),
        (((False,),), True),
        (((1,),), False),
        ((("",),), False),
        (((0,), (3,)), False),
        ((("无",),), False),
    ],
)
def test_empty_null_and_0_say_nothing(rows: tuple[tuple[Any, ...], ...], void: bool) -> None:
    (finding,) = Inspector(Scripted({"q": rows})).inspect(["q"])
    assert (finding.void, finding.failed) == (void, False)


def test_a_query_that_fails_or_may_not_be_run_is_found_so() -> None:
    executor = Scripted({})
    assert [f.failed for f in Inspector(executor).inspect(["q", None])] == [True, True]
    assert executor.asked == ["q"], "what did not pass verification is never run"


def test_answers_are_the_same_whatever_the_order_of_rows_and_the_type_of_numbers() -> None:
    executor = Scripted({"a": ((1, "x"), (2, "y")), "b": (("2", "y"), (1.0, "x")), "c": ((1, "x"),), "d": ()})
    findings = Inspector(executor).inspect(["a", "b", "c", "fails", "d"])
    assert allies(findings, 0) == (1,)
    assert allies(findings, 2) == allies(findings, 3) == ()


def test_a_void_answer_is_hollow_where_a_query_inside_has_no_row() -> None:
    answers = {
        "none": (),
        "zero": ((0,),),
        "some": SOME,
        "inner none": (),
        "inner null": ((None,),),
        "inner": SOME,
    }
    parts = {0: ["inner", "inner none"], 1: ["inner null"], 2: ["never asked for"], 3: ["inner", "fails"]}
    executor = Scripted(answers)
    findings = Inspector(executor).inspect(["none", "zero", "some", "none"], lambda number: parts[number])
    assert [finding.hollow for finding in findings] == [True, True, False, False]
    assert executor.asked == ["none", "zero", "some", "inner", "inner none", "inner null", "fails"], (
        "each once"
    )


def test_a_void_answer_is_hollow_where_a_look_up_finds_no_row() -> None:
    answers = {"none": (), "some": SOME, "there": ((1,),), "missing": (), "inner": SOME}
    look_ups = {0: ["there", "missing"], 1: ["never asked for"], 2: ["there", "fails"]}
    executor = Scripted(answers)
    findings = Inspector(executor).inspect(
        ["none", "some", "none"], lambda _: ["inner"], lambda number: look_ups[number]
    )
    assert [(finding.hollow, finding.absent) for finding in findings] == [
        (True, ("missing",)),
        (False, ()),
        (False, ()),
    ]
    assert executor.asked == ["none", "some", "there", "missing", "fails", "inner"], "each once"


def test_no_look_up_is_begun_when_the_time_is_over() -> None:
    executor = Scripted({"none": (), "missing": ()})
    (finding,) = Inspector(executor, seconds=1e-9).inspect(["none"], look_ups=lambda _: ["missing"])
    assert (finding.absent, finding.hollow, executor.asked) == ((), False, [])


def test_queries_inside_are_remembered_while_the_database_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE bed (number INT)")
    with ReadOnlyExecutor(path) as executor:
        asked: list[str] = []

        class Noting:
            def state(self) -> object:
                return executor.state()

            def run(self, sql: str | None) -> Rows:
                asked.append(str(sql))
                return executor.run(sql)

        whole, inner, timed = (
            "SELECT SUM(number) FROM bed",
            "SELECT number FROM bed",
            "SELECT number FROM bed WHERE number > 'now'",
        )
        inspector = Inspector(Noting())
        for _ in range(2):
            (finding,) = inspector.inspect([whole], lambda _: [inner])
            assert finding.hollow
        assert asked == [whole, inner, whole], "the whole query is run for each question"
        copied = pickle.loads(pickle.dumps(inspector.kept))
        assert copied.of(executor.state()) == {}
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("INSERT INTO bed VALUES (0)")
        (finding,) = inspector.inspect([whole], lambda _: [inner])
        assert finding.void
        assert not finding.hollow
        asked.clear()
        for _ in range(2):
            inspector.inspect([whole], lambda _: [timed])
        assert asked == [whole, timed] * 2, "what hangs on the clock is asked again"


def test_where_the_state_of_a_database_is_not_known_nothing_is_remembered() -> None:
    executor = Scripted({"q": (), "inner": ()})
    inspector = Inspector(executor)
    for _ in range(2):
        assert inspector.inspect(["q"], lambda _: ["inner"])[0].hollow
    assert executor.asked == ["q", "inner"] * 2


def test_what_is_remembered_is_bounded() -> None:
    kept = KeptAnswers()
    for number in range(5_000):
        kept.of("state")[str(number)] = True
    assert 0 < len(kept.of("state")) <= 1_024


def test_queries_inside_are_run_within_the_same_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("fastsql.reliability.inspection.time.monotonic", lambda: next(clock))
    executor = Scripted({"q": (), "inner": ()})
    (finding,) = Inspector(executor, seconds=2).inspect(["q"], lambda _: ["inner"])
    assert (executor.asked, finding.hollow) == (["q"], False)


def test_budgets_bound_what_is_run() -> None:
    executor = Scripted(dict.fromkeys("abcdef", SOME))
    findings = Inspector(executor, hypotheses=2).inspect(list("abcdef"))
    assert executor.asked == ["a", "b"]
    assert findings[2:] == (Finding(),) * 4
    assert Inspector(executor, seconds=1e-9).inspect(["a"]) == (Finding(),)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1", None])
@pytest.mark.parametrize("name", ["seconds", "hypotheses", "rows"])
def test_a_budget_that_bounds_nothing_is_refused(name: str, value: Any) -> None:
    with pytest.raises(LimitError, match=f"Inspector.{name}"):
        Inspector(Scripted({}), **{name: value})


# ---------------------------------------------------------------- in a parse


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    return write_database(tmp_path / "toy.sqlite", SCHEMA.to_ddl())


@pytest.fixture
def parser(toy_bundle: Path) -> Parser:
    """A parser that holds an empty answer against a query."""
    made = load_toy(toy_bundle, penalty=0)
    judge = Judge(Regression(0.0, {"margin": 1.0, "void": -50.0}))
    made._reliability = replace(made._reliability, inspected=judge)
    return made


def hypotheses(parser: Parser, question: str) -> list[str]:
    result = parser.parse(question, SCHEMA)
    return [str(result.best), *(alternative.sql for alternative in result.alternatives)]


def test_the_next_hypothesis_takes_over_from_one_that_fails(parser: Parser) -> None:
    first, second, *_ = hypotheses(parser, QUESTIONS[0])
    result = parser.parse(QUESTIONS[0], SCHEMA, inspector=Inspector(Scripted({second: SOME})))
    assert result.sql == second
    assert first in [alternative.sql for alternative in result.alternatives]
    assert "inspect" in result.timings
    assert result.explain().result is result


def test_the_next_hypothesis_takes_over_from_one_without_an_answer(parser: Parser) -> None:
    first, second, *rest = hypotheses(parser, QUESTIONS[0])
    answers: dict[str, tuple[tuple[Any, ...], ...]] = {first: (), second: SOME}
    answers |= {sql: ((number,),) for number, sql in enumerate(rest, 7)}
    result = parser.parse(QUESTIONS[0], SCHEMA, inspector=Inspector(Scripted(answers)))
    assert result.best != first
    same = parser.parse(QUESTIONS[0], SCHEMA, inspector=Inspector(Scripted({**answers, first: ((3,),)})))
    assert same.best == first


def test_queries_with_one_answer_support_each_other(parser: Parser) -> None:
    queries = hypotheses(parser, QUESTIONS[0])
    agreed, apart = (
        parser.parse(QUESTIONS[0], SCHEMA, inspector=Inspector(Scripted(answers))).confidence
        for answers in (
            dict.fromkeys(queries, SOME),
            {sql: ((number + 1,),) for number, sql in enumerate(queries)},
        )
    )
    assert agreed > apart


def test_where_no_query_can_be_run_the_plain_choice_is_given_with_a_word_that_it_was(parser: Parser) -> None:
    plain = parser.parse(QUESTIONS[0], SCHEMA)
    result = parser.parse(QUESTIONS[0], SCHEMA, inspector=Inspector(Scripted({})))
    assert (result.sql, result.confidence, result.unanswerable) == (
        plain.sql,
        plain.confidence,
        plain.unanswerable,
    )
    assert plain.note is None
    assert result.note == "None of the queries could be run, so that no answer was looked at."
    assert result.to_dict()["note"] == result.note
    late = parser.parse(
        QUESTIONS[0], SCHEMA, inspector=Inspector(Scripted({str(plain.best): SOME}), seconds=1e-9)
    )
    assert (late.sql, late.note) == (plain.sql, result.note), "nor where there was no time for any"


def test_the_preset_refuses_what_fails_or_says_nothing(parser: Parser, hospital: Path) -> None:
    first, *_ = hypotheses(parser, QUESTIONS[0])
    for answers, reason in (
        ({}, "The query could not be run."),
        ({first: ((None,),)}, "The query's answer is empty, NULL or 0."),
        ({first: SOME}, None),
    ):
        result = parser.parse(QUESTIONS[0], SCHEMA, inspector=Inspector(Scripted(answers), rule=Rule.REFUSE))
        assert (result.best, result.reason, result.abstained) == (first, reason, bool(reason))


@pytest.mark.parametrize("rule", list(Rule))
def test_a_real_executor_serves(toy: Parser, hospital: Path, rule: Rule) -> None:
    with ReadOnlyExecutor(hospital) as executor:
        for question in QUESTIONS:
            result = toy.parse(question, SCHEMA, inspector=Inspector(executor, rule=rule))
            assert result.best
            assert result.reason in (None, *(texts["void"] for texts in TEXTS.values()))


def test_sql_that_fails_verification_is_never_run(toy: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.parser.write.render", lambda *a, **k: "SELECT nothing FROM nowhere")
    executor = Scripted({})
    result = toy.parse(QUESTIONS[0], SCHEMA, inspector=Inspector(executor))
    assert (result.best, result.abstained, executor.asked) == (None, True, [])
