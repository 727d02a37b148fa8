"""A run learns from conversations that its configuration names: recorded ones, or such as are made of single questions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.datasets import DatasetError
from fastsql.grammar.program import Production, TurnRef
from fastsql.model import open_bundle
from fastsql.training import ConfigError, train
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus, load_corpus
from fastsql.training.runs.ready import check_ready

from ...worlds.training_ward import DRUGS


def quiet(_line: str) -> None:
    pass


def talking(config: TrainConfig, conversations: str = "made", **changes: Any) -> TrainConfig:
    """The ward's run, on conversations."""
    source = replace(config.data.sources[0], report=(), conversations=conversations, **changes)
    data = replace(config.data, sources=(source,))
    return replace(config, data=data, model=replace(config.model, turns=True))


@pytest.fixture(scope="module")
def corpus(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(talking(config).data, 7, tmp_path_factory.mktemp("cache"), quiet)


def test_a_source_of_conversations_and_weights_for_turns_need_each_other(config: TrainConfig) -> None:
    check_ready(talking(config))
    with pytest.raises(ConfigError, match="could not point at"):
        check_ready(replace(talking(config), model=config.model))
    with pytest.raises(ConfigError, match="'given' or 'made'"):
        check_ready(talking(config, "recorded"))
    with pytest.raises(ConfigError, match="longer interactions"):
        check_ready(talking(config, "given", longer=5))


def test_turns_come_with_those_before_them(corpus: Corpus) -> None:
    later = [sample for sample in corpus.train if sample.earlier]
    assert later
    for sample in later:
        pointed = {terminal.turn for terminal in sample.program if isinstance(terminal, TurnRef)}
        assert all(turn < len(sample.earlier) for turn in pointed)
    assert any(isinstance(terminal, TurnRef) for sample in later for terminal in sample.program)


def test_a_conversation_is_held_out_whole(corpus: Corpus) -> None:
    parts = [corpus.train, *corpus.dev.values()]
    names = [{sample.pair.interaction for sample in part} for part in parts]
    assert any(names[1:])
    assert sum(map(len, names)) == len(set().union(*names))


def test_an_earlier_run_s_held_out_questions_teach_no_conversation(
    config: TrainConfig, tmp_path: Path
) -> None:
    single = load_corpus(config.data, 7, tmp_path, quiet)
    single.held_out.save(tmp_path / "held_out.json")
    settings = replace(talking(config).data, held_out=str(tmp_path / "held_out.json"))
    learned = {sample.pair.group for sample in load_corpus(settings, 7, tmp_path, quiet).train}
    assert learned
    assert learned.isdisjoint(single.held_out.templates | single.held_out.examples)


def test_longer_interactions_are_put_together_of_what_is_learnt_from(
    corpus: Corpus, config: TrainConfig, tmp_path: Path
) -> None:
    settings = talking(config, longer=5).data
    longer = load_corpus(settings, 7, tmp_path, quiet)
    assert longer.held_out == corpus.held_out
    assert longer.dev == corpus.dev
    known = {sample.pair.interaction for sample in corpus.train}
    more = [sample for sample in longer.train if sample.pair.interaction not in known]
    assert 0 < len({sample.pair.interaction for sample in more}) <= 5
    assert max(len(sample.earlier) for sample in more) >= 9
    learnt = {sample.pair.sql for sample in corpus.train}
    assert {sample.pair.sql for sample in more} <= learnt
    again = load_corpus(settings, 7, tmp_path, quiet)
    assert [sample.pair for sample in again.train] == [sample.pair for sample in longer.train]


@pytest.mark.usefixtures("few_searches")
def test_a_small_model_trains_on_conversations_and_its_bundle_knows_turns(
    config: TrainConfig, tmp_path: Path
) -> None:
    talks = [
        [
            (
                f"Doses of {drug}?",
                f"SELECT prescriptions.dose FROM prescriptions WHERE prescriptions.drug = '{drug}'",
            ),
            ("How many?", f"SELECT COUNT(*) FROM prescriptions WHERE prescriptions.drug = '{drug}'"),
        ]
        for drug in DRUGS
    ]
    config = talking(config, "given", examples=write(tmp_path, *talks))
    config = replace(config, schedule=replace(config.schedule, epochs=1.0))
    result = train(config, tmp_path / "run", threads=1, device="cpu", loaders=0, quiet=True)
    assert result.finished
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in lines if line["kind"] == "dev"]
    assert losses
    assert all(map(math.isfinite, losses))
    assert open_bundle(tmp_path / "run" / "bundle").config.model.turns


def test_recorded_conversations_are_said_by_references(config: TrainConfig, tmp_path: Path) -> None:
    turns = [
        (
            "Doses of aspirin?",
            "SELECT prescriptions.dose FROM prescriptions WHERE prescriptions.drug = 'aspirin'",
        ),
        (
            "The highest?",
            "SELECT MAX(prescriptions.dose) FROM prescriptions WHERE prescriptions.drug = 'aspirin'",
        ),
    ]
    settings = replace(
        talking(config, "given", examples=write(tmp_path, turns)).data, dev_templates=0.0, dev_examples=0.0
    )
    (last,) = (sample for sample in load_corpus(settings, 7, tmp_path, quiet).train if sample.earlier)
    assert last.program[:2] == (Production("extend"), TurnRef(0))
    assert last.earlier[0][0] == "Doses of aspirin?"


def test_conversations_of_which_nothing_can_be_learned_are_named(config: TrainConfig, tmp_path: Path) -> None:
    path = write(tmp_path, [("?", "SELECT nobody FROM nowhere")])
    with pytest.raises(DatasetError, match="none of its turns can be learned"):
        load_corpus(talking(config, "given", examples=path).data, 7, tmp_path, quiet)


def test_a_program_that_does_not_fit_the_schema_is_named(config: TrainConfig, tmp_path: Path) -> None:
    path = write(tmp_path, [("?", "SELECT 1")], program=[["table", "nowhere"]])
    with pytest.raises(
        DatasetError, match=r"interaction 'talk-0', turn 0: has a program .* not in the schema"
    ):
        load_corpus(talking(config, "given", examples=path).data, 7, tmp_path, quiet)


def write(folder: Path, *talks: list[tuple[str, str]], **more: object) -> str:
    """Conversations as a file in the uniform form."""
    records = [
        {
            "id": f"{n}/{m}",
            "db_id": "ward",
            "question": question,
            "sql": sql,
            "interaction": f"talk-{n}",
            "turn": m,
            **more,
        }
        for n, talk in enumerate(talks)
        for m, (question, sql) in enumerate(talk)
    ]
    path = folder / "talks.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return str(path)
