"""The dialogues that conversations are judged on: five turns each, whose gold runs, has an answer, and can be written."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.adapt.seeds import read_seeds
from fastsql.datasets import read_examples, read_schemas
from fastsql.datasets.interactions import as_interactions
from fastsql.execution import open_executor
from fastsql.grammar import sql_to_program

from .test_benchmarks import BENCHMARKS, module

DIALOGUES = as_interactions(read_examples(BENCHMARKS / "dialogues" / "dialogues.json"), "dialogues.json")
QUESTIONS = read_examples(BENCHMARKS / "dialogues" / "clinic_questions.json")
TURNS = [turn for one in DIALOGUES for turn in one.turns]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dialogues") / "made"
    module("dialogues.make").make(made)
    return made


def test_dialogues_are_thirty_of_five_turns_and_half_of_them_over_the_demo_hospital() -> None:
    assert [len(one.turns) for one in DIALOGUES] == [5] * 30
    assert Counter(one.db_id for one in DIALOGUES) == {"demo_hospital": 15, "clinic": 15}


def test_the_dialogues_hold_what_people_do_in_conversations() -> None:
    tags = Counter(tag for turn in TURNS for tag in turn.extra["tags"])
    assert tags["start"] == 30
    assert tags["ellipsis"] > 50
    assert tags["pronoun"] > 35
    assert tags["topic"] > 12
    assert tags["correction"] >= 6
    assert tags["period"] > 12


def test_every_gold_query_has_an_answer(folder: Path) -> None:
    for db_id in ("demo_hospital", "clinic"):
        with closing(sqlite3.connect(folder / "databases" / f"{db_id}.sqlite")) as connection:
            for turn in TURNS:
                if turn.db_id == db_id:
                    rows = connection.execute(str(turn.sql)).fetchall()
                    assert rows not in ([], [(0,)], [(None,)]), turn.id


def test_every_gold_query_can_be_written(folder: Path) -> None:
    schemas = read_schemas(folder / "schemas.json")
    for turn in TURNS:
        assert sql_to_program(str(turn.sql), schemas[turn.db_id])


def test_the_databases_are_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    module("dialogues.make").make(tmp_path / "again")
    dumps = []
    for one in (folder, tmp_path / "again"):
        with closing(sqlite3.connect(one / "databases" / "clinic.sqlite")) as connection:
            dumps.append(list(connection.iterdump()))
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) > 2000


def test_the_clinic_s_questions_have_answers_and_can_be_written(folder: Path) -> None:
    assert len({one.question for one in QUESTIONS}) == 60
    schema = read_schemas(folder / "schemas.json")["clinic"]
    with closing(sqlite3.connect(folder / "databases" / "clinic.sqlite")) as connection:
        for one in QUESTIONS:
            assert connection.execute(str(one.sql)).fetchall() not in ([], [(0,)], [(None,)]), one.id
            assert sql_to_program(str(one.sql), schema)


def test_the_clinic_s_seeds_can_all_be_used_and_are_none_of_the_questions(folder: Path) -> None:
    schema = read_schemas(folder / "schemas.json")["clinic"]
    with open_executor(folder / "databases" / "clinic.sqlite", schema=schema) as executor:
        seeds = read_seeds(BENCHMARKS / "dialogues" / "clinic_seeds.json", schema, executor)
    assert len(seeds.usable) == 10
    assert not {one.question for one in seeds.usable} & {one.question for one in QUESTIONS}
