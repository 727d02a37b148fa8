"""The Chinese clinic that models are judged on: its questions have answers there, and all of them can be written."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.datasets import read_examples, read_schemas
from fastsql.grammar import sql_to_program

from .test_benchmarks import BENCHMARKS, module

QUESTIONS = read_examples(BENCHMARKS / "clinic_zh" / "questions.json")


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = module("clinic_zh.make").make(tmp_path_factory.mktemp("clinic_zh"))
    return made


def test_the_clinic_has_forty_questions_of_three_levels() -> None:
    assert Counter(str(one.extra["difficulty"]) for one in QUESTIONS) == {
        "easy": 12,
        "medium": 18,
        "hard": 10,
    }
    assert len({one.question for one in QUESTIONS}) == 40


def test_every_query_has_an_answer(clinic: Path) -> None:
    with closing(sqlite3.connect(clinic)) as connection:
        for one in QUESTIONS:
            assert connection.execute(str(one.sql)).fetchall() not in ([], [(0,)], [(None,)]), one.id


def test_every_query_can_be_written(clinic: Path) -> None:
    schema = read_schemas(clinic.parent / "schemas.json")["clinic_zh"]
    for one in QUESTIONS:
        assert sql_to_program(str(one.sql), schema)


def test_a_database_is_not_written_over(clinic: Path) -> None:
    with pytest.raises(FileExistsError):
        module("clinic_zh.make").make(clinic.parent)
