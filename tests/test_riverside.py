"""Riverside, which models are judged on that were trained on nothing of it: its questions have answers there."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.datasets import Example, read_examples, read_schemas

from .test_benchmarks import BENCHMARKS, module

QUESTIONS = read_examples(BENCHMARKS / "riverside" / "questions.json")


@pytest.fixture(scope="module")
def riverside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = module("riverside.make").make(tmp_path_factory.mktemp("riverside"))
    return made


def test_sixty_questions_have_an_answer_and_fifteen_have_none() -> None:
    assert [question.answerable for question in QUESTIONS] == [True] * 60 + [False] * 15
    assert len({question.question.lower() for question in QUESTIONS}) == 75


@pytest.mark.parametrize("question", [one for one in QUESTIONS if one.sql], ids=lambda one: one.id)
def test_gold_queries_over_riverside_return_something(riverside: Path, question: Example) -> None:
    assert question.sql is not None
    with closing(sqlite3.connect(riverside)) as connection:
        rows = connection.execute(question.sql).fetchall()
    assert any(cell for row in rows for cell in row)


def test_the_schema_of_riverside_is_read_with_keys_and_comments(riverside: Path) -> None:
    schema = read_schemas(riverside.parent / "schemas.json")["riverside"]
    assert len(schema.tables) == 17
    assert len(schema.foreign_keys) == 19
    assert json.dumps(schema.to_dict()).count("NULL: still here") == 1


def test_a_database_is_not_written_over(riverside: Path) -> None:
    with pytest.raises(FileExistsError):
        module("riverside.make").make(riverside.parent)
