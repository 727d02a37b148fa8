"""What becomes of turns that are held out, read as going on from those before, which were answered rightly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Production, Program, TurnRef
from fastsql.model import Bundle, open_bundle
from fastsql.training import load_config
from fastsql.training.calibration.conversations import observe_turns
from fastsql.training.calibration.questions import FOREIGN
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.split import HeldOut, Pair

from ...worlds.toy_bundle import make_config, write_bundle
from ...worlds.toy_model import SCHEMA

WOMEN = "SELECT subject_id FROM patients WHERE gender = 'f'"
URGENT = "SELECT hadm_id FROM admissions WHERE admission_type = 'urgent'"
COUNT = "SELECT COUNT(*) FROM admissions WHERE admission_type = 'urgent'"


def count(turn: int) -> Program:
    return (Production("extend"), TurnRef(turn), Production("count_all"), Production("end"))


TALK = (
    ("Which patients are women?", sql_to_program(WOMEN, SCHEMA), WOMEN),
    ("Which admissions were urgent?", sql_to_program(URGENT, SCHEMA), URGENT),
    ("how many?", count(1), COUNT),
    ("and how many are that?", count(2), COUNT),
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    likely = {"extend": 9.0, "previous": 9.0, "in_previous": 9.0, "eq": 2.0, "end": 5.0}
    folder = tmp_path_factory.mktemp("observed") / "toy"
    return open_bundle(write_bundle(folder, config=make_config().with_turns(), likely=likely))


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    (tmp_path / "schemas.json").write_text(json.dumps([{**SCHEMA.to_dict(), "db_id": "ward"}]), "utf-8")
    (tmp_path / "talks.json").write_text("[]", "utf-8")
    file = tmp_path / "ward.toml"
    file.write_text(
        'name = "ward-en"\nseed = 3\n[[data.sources]]\nconversations = "given"\nvalues = "gold"\n'
        f'examples = "{tmp_path / "talks.json"}"\nschemas = "{tmp_path / "schemas.json"}"\n',
        "utf-8",
    )
    return load_config(file)


def corpus(*places: int) -> Corpus:
    """Turns of the conversation, held out with its schema."""
    samples = [
        Sample(
            Pair(f"talk/{place}", TALK[place][0], TALK[place][2], "ward", "talk"),
            TALK[place][1],
            (),
            1.0,
            tuple((question, program) for question, program, _ in TALK[:place]),
        )
        for place in places
    ]
    held_out = HeldOut(databases=frozenset({"ward"}))
    return Corpus({}, (), (), (), (), {}, {}, held_out, tuple(samples))


def test_turns_that_refer_are_observed(bundle: Bundle, config: TrainConfig) -> None:
    observed = observe_turns(bundle, config, corpus(0, 1, 2, 3), now="2100-12-31 23:59:00", threads=1)
    assert 0 < len(observed) <= 3
    assert {one.part for one in observed} == {FOREIGN}


def test_first_turns_are_judged_as_questions_are_that_stand_alone(
    bundle: Bundle, config: TrainConfig
) -> None:
    assert observe_turns(bundle, config, corpus(0), now="2100-12-31 23:59:00", threads=1) == ()
