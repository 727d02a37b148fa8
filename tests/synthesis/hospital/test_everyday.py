"""Questions written by hand over the demo hospital run there, and the grammar says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql import Schema
from fastsql.demo import NOW
from fastsql.execution import Executor, open_executor
from fastsql.grammar.convert import sql_to_program
from fastsql.synthesis.designs.written import Asked, Written
from fastsql.synthesis.hospital.everyday import everyday_questions, everyday_set


@pytest.fixture(scope="module")
def written() -> Written:
    return everyday_questions()


def queries(written: Written) -> list[Asked]:
    return [*written.single, *(turn for talk in written.talks for turn in talk)]


def test_every_query_runs_and_the_grammar_says_it(demo_hospital: Path, written: Written) -> None:
    schema = Schema.from_sqlite(demo_hospital)
    empty = []
    with open_executor(demo_hospital) as executor:
        for one in queries(written):
            sql_to_program(one.sql, schema)
            if not rows_of(executor, one.sql):
                empty.append(one.question)
    assert len(empty) <= len(queries(written)) // 10


def test_no_question_stands_twice_on_its_own(written: Written) -> None:
    asked = [one.question.casefold() for one in written.single]
    assert len(set(asked)) == len(asked)


def test_the_set_has_every_question_once_and_the_turns_in_their_order(written: Written) -> None:
    found = everyday_set()
    assert [one.question for one in found.pairs if one.sql] == [one.question for one in written.single]
    assert [one.question for one in found.pairs if not one.sql] == list(written.unanswerable)
    assert [one.question for one in found.turns] == [turn.question for talk in written.talks for turn in talk]
    assert [one.extra["turn"] for one in found.turns[: len(written.talks[0])]] == list(
        range(len(written.talks[0]))
    )
    assert found.values[found.schemas[0].name]["prescriptions"]["drug"]


def rows_of(executor: Executor, sql: str) -> list[tuple[object, ...]]:
    return list(executor.run(sql.replace("'now'", f"'{NOW}'")).rows)
