"""A question is asked, parsed, run and answered with rows in one call, or refused and nothing is run."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

import fastsql
from fastsql import Parser
from fastsql.answer import Answer
from fastsql.errors import ExecutionError, VerificationError
from fastsql.execution import Executor, QueryTimeoutError, Rows, open_executor

from .databases import PostgresServer
from .worlds.database import write_database
from .worlds.shop import shop_schema
from .worlds.toy_bundle import QUESTIONS, load_toy
from .worlds.toy_model import SCHEMA

SECRET = "plughcorge"


class Scripted:
    """An executor that remembers what it is given, and answers or raises what it was told to."""

    dialect = "sqlite"

    def __init__(self, outcome: Rows | Exception, dialect: str = "sqlite") -> None:
        self.dialect = dialect
        self.outcome = outcome
        self.asked: list[str] = []

    def run(self, sql: str) -> Rows:
        self.asked.append(sql)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def cursor(self, sql: str) -> Any:
        raise NotImplementedError

    def close(self) -> None: ...


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write_database(tmp_path / "hospital.sqlite", SCHEMA.to_ddl())


@pytest.fixture
def executor(database: Path) -> Iterator[Executor]:
    executor = open_executor(database, schema=SCHEMA)
    yield executor
    executor.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_has_the_rows_of_its_sql_with_their_columns(
    toy: Parser, executor: Executor, question: str
) -> None:
    answer = toy.ask(question, SCHEMA, executor=executor)
    parsed = toy.parse(question, SCHEMA)
    assert parsed.sql is not None
    expected = executor.run(parsed.sql)
    assert answer.rows == expected
    assert answer
    assert (answer.sql, answer.columns, answer.refused, answer.reason) == (
        parsed.sql,
        expected.columns,
        False,
        None,
    )
    assert answer.result.confidence == parsed.confidence
    assert answer.milliseconds > 0


def test_no_row_is_an_answer(toy: Parser) -> None:
    answer = toy.ask(QUESTIONS[0], SCHEMA, executor=Scripted(Rows(("count",), ())))
    assert answer
    assert not answer.refused


def test_a_refusal_comes_back_without_rows_and_nothing_is_run(toy_bundle: Path) -> None:
    executor = Scripted(Rows(("x",), ((1,),)))
    parser = load_toy(toy_bundle, penalty=0)
    for question, options in (("?!", {}), (QUESTIONS[0], {"penalty": 1e9})):
        answer = parser.ask(question, SCHEMA, executor=executor, **options)
        assert not answer
        assert (answer.rows, answer.columns, answer.sql, answer.refused) == (None, (), None, True)
        assert answer.reason == answer.result.reason is not None
        assert answer.suggestions == answer.result.suggestions
        assert answer.milliseconds == 0
    assert executor.asked == []


@pytest.mark.parametrize(
    "error",
    [
        QueryTimeoutError("took too long"),
        ExecutionError("failed (1)", where="query"),
        VerificationError("is not on the list"),
    ],
)
def test_errors_of_the_executor_stay_what_they_are(toy: Parser, error: Exception) -> None:
    with pytest.raises(type(error)) as found:
        toy.ask(QUESTIONS[0], SCHEMA, executor=Scripted(error))
    assert found.value is error


def test_an_executor_of_another_schema_refuses_the_sql_by_a_typed_error(toy: Parser, database: Path) -> None:
    with closing(open_executor(database, schema=shop_schema())) as executor, pytest.raises(VerificationError):
        toy.ask(QUESTIONS[0], SCHEMA, executor=executor)


def test_the_dialect_is_that_of_the_executor_unless_given(toy: Parser) -> None:
    for dialect in ("sqlite", "postgres", "duckdb"):
        executor = Scripted(Rows((), ()), dialect)
        answer = toy.ask(QUESTIONS[0], SCHEMA, executor=executor)
        assert answer.result.dialect == dialect
        assert executor.asked == [toy.parse(QUESTIONS[0], SCHEMA, dialect=dialect).sql]
    answer = toy.ask(QUESTIONS[0], SCHEMA, executor=Scripted(Rows((), ()), "postgres"), dialect="duckdb")
    assert answer.result.dialect == "duckdb"


def test_postgresql_and_duckdb_are_asked_in_their_own_words(
    reference: Parser, postgres: PostgresServer, duckdb_driver: None, tmp_path: Path
) -> None:
    import duckdb
    import psycopg

    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as connection:
        connection.execute(SCHEMA.to_ddl("duckdb"))
    postgres.create_database("asked")
    with psycopg.connect(postgres.conninfo("asked"), autocommit=True) as connection:
        connection.execute(SCHEMA.to_ddl("postgres"))
    for target, dialect in ((tmp_path / "hospital.duckdb", "duckdb"), (postgres.url("asked"), "postgres")):
        with closing(open_executor(target, schema=SCHEMA)) as executor:
            answer = reference.ask(QUESTIONS[0], SCHEMA, executor=executor)
        assert answer.result.dialect == executor.dialect == dialect
        assert answer.columns
    with pytest.raises(ExecutionError), closing(open_executor(postgres.url("asked"))) as executor:
        reference.ask(QUESTIONS[0], {"elsewhere": {"id": "INTEGER"}}, executor=executor)


@pytest.mark.parametrize("nothing", [None, "hospital.sqlite", sqlite3])
def test_what_is_no_executor_is_a_type_error_before_anything_is_parsed(toy: Parser, nothing: Any) -> None:
    with pytest.raises(TypeError, match=r"executor is one of fastsql\.open_executor, not "):
        toy.ask("?!", SCHEMA, executor=nothing)


def test_an_answer_is_frozen_and_its_repr_shows_no_cell(toy: Parser, toy_bundle: Path) -> None:
    rows = Rows(("name", "n"), ((SECRET, 1), (SECRET, 2)), truncated=True)
    answer = toy.ask(QUESTIONS[0], SCHEMA, executor=Scripted(rows))
    assert repr(answer) == f"Answer(2 rows, truncated, confidence={answer.result.confidence:.2f})"
    assert SECRET not in repr([answer]) + str(answer)
    with pytest.raises(FrozenInstanceError):
        answer.rows = None  # type: ignore[misc]
    refused = load_toy(toy_bundle).ask("?!", SCHEMA, executor=Scripted(rows))
    assert repr(refused) == "Answer(refused, confidence=0.00)"


def test_a_notebook_shows_the_rows_of_an_answer_below_its_explanation(toy: Parser) -> None:
    rows = Rows(("<name>", "n"), (("<script>alert(1)</script>", 1),))
    answer = toy.ask(QUESTIONS[0], SCHEMA, executor=Scripted(rows))
    assert answer._repr_html_() == answer.result._repr_html_() + rows._repr_html_()
    assert "<script" not in answer._repr_html_()
    refused = toy.ask("?!", SCHEMA, executor=Scripted(rows))
    assert refused._repr_html_() == refused.result._repr_html_()


def test_an_answer_can_be_pickled(toy: Parser) -> None:
    answer = toy.ask(QUESTIONS[0], SCHEMA, executor=Scripted(Rows(("n",), ((3,),))))
    copy = pickle.loads(pickle.dumps(answer))
    assert (copy.rows, copy.sql, repr(copy)) == (answer.rows, answer.sql, repr(answer))


def test_the_package_asks_with_the_bundled_model(toy: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.parser.default_parser", lambda: toy)
    answer = fastsql.ask(QUESTIONS[0], SCHEMA, executor=Scripted(Rows(("n",), ((3,),))), beam=2)
    assert isinstance(answer, Answer)
    assert answer.result.best == toy.parse(QUESTIONS[0], SCHEMA, beam=2).best
    assert (fastsql.Answer, fastsql.Rows, fastsql.open_executor) == (Answer, Rows, open_executor)
