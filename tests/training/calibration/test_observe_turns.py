"""What becomes of turns that are held out: as going on from those before, and as one text with their questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Production, Program, TurnRef
from fastsql.model import Bundle, open_bundle
from fastsql.parser.link import Linked
from fastsql.session.turn import Turn
from fastsql.training import load_config
from fastsql.training.calibration import conversations as module
from fastsql.training.calibration.conversations import observe_turns
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.split import HeldOut, Pair

from ...worlds.toy_bundle import make_config, write_bundle
from ...worlds.toy_model import SCHEMA

WOMEN = sql_to_program("SELECT subject_id FROM patients WHERE gender = 'f'", SCHEMA)
URGENT = sql_to_program("SELECT hadm_id FROM admissions WHERE admission_type = 'urgent'", SCHEMA)
NOW = "2100-12-31 23:59:00"


def count(turn: int) -> Program:
    return (Production("extend"), TurnRef(turn), Production("count_all"), Production("end"))


TALK = (
    ("Which patients are women?", WOMEN, "SELECT subject_id FROM patients WHERE gender = 'f'"),
    (
        "Which admissions were urgent?",
        URGENT,
        "SELECT hadm_id FROM admissions WHERE admission_type = 'urgent'",
    ),
    ("how many?", count(1), "SELECT COUNT(*) FROM admissions WHERE admission_type = 'urgent'"),
    ("and now?", count(2), "SELECT COUNT(*) FROM admissions WHERE admission_type = 'urgent'"),
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    likely = {"extend": 9.0, "previous": 9.0, "in_previous": 9.0, "eq": 2.0, "end": 5.0}
    folder = tmp_path_factory.mktemp("observed") / "toy"
    return open_bundle(write_bundle(folder, config=make_config().with_turns(), likely=likely))


def config(folder: Path, together: float) -> TrainConfig:
    (folder / "schemas.json").write_text(json.dumps([{**SCHEMA.to_dict(), "db_id": "ward"}]), "utf-8")
    (folder / "talks.json").write_text("[]", "utf-8")
    file = folder / "ward.toml"
    file.write_text(
        f'name = "ward-en"\nseed = 3\n[data]\ntogether = {together}\n[[data.sources]]\nconversations = "given"\n'
        f'examples = "{folder / "talks.json"}"\nschemas = "{folder / "schemas.json"}"\nvalues = "gold"\n',
        "utf-8",
    )
    return load_config(file)


def corpus() -> Corpus:
    samples = [
        Sample(
            Pair(f"talk/{place}", question, sql, "ward", "talk"),
            program,
            (),
            1.0,
            tuple((asked, said) for asked, said, _ in TALK[:place]),
        )
        for place, (question, program, sql) in enumerate(TALK)
    ]
    held_out = HeldOut(databases=frozenset({"ward"}))
    return Corpus({}, (), (), (), (), {}, {}, held_out, tuple(samples))


def test_what_has_learnt_no_such_texts_is_not_asked_to_read_them(bundle: Bundle, tmp_path: Path) -> None:
    observed = observe_turns(bundle, config(tmp_path, 0.0), corpus(), now=NOW, threads=1)
    assert observed
    assert not any(one.together for one in observed)


def test_a_text_stands_beside_the_query_that_refers(bundle: Bundle, tmp_path: Path) -> None:
    observed = observe_turns(bundle, config(tmp_path, 0.5), corpus(), now=NOW, threads=1)
    referring = [one.evidence for one in observed if not one.together]
    texts = [one for one in observed if one.together]
    assert referring
    assert texts
    assert {id(one.beside) for one in texts if one.beside is not None} <= set(map(id, referring))


def test_a_text_says_all_since_the_first_turn_that_is_gone_on_from(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []

    def watched(linked: Linked, turns: Sequence[Turn], *others: Any) -> None:
        said.append([turn.number for turn in turns])

    monkeypatch.setattr(module, "with_turns", lambda linked, _: linked)  # then the latest turn is meant
    monkeypatch.setattr(module, "with_questions", watched)
    observe_turns(bundle, config(tmp_path, 0.5), corpus(), now=NOW, threads=1)
    assert said == [[1], [2], [2, 3]]
