"""Written questions that a configuration asks for are carried over once, and some designs are held out whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.datasets import read_examples, read_schemas
from fastsql.synthesis.hospital.everyday import everyday_set
from fastsql.synthesis.pool import SchemaPool
from fastsql.synthesis.source import SynthesisError
from fastsql.training.calibration.questions import FOREIGN, FOREIGN_MADE, UNANSWERABLE, WRITTEN, held_out
from fastsql.training.config import TrainConfig, WrittenSettings
from fastsql.training.corpus.corpus import Corpus, load_corpus
from fastsql.training.corpus.split import HeldOut
from fastsql.training.corpus.written import with_written

SETTINGS = WrittenSettings(pairs=30, weight=0.5, conversations_weight=0.2, held_out=("surgery",), variants=2)
ROOT = Path(__file__).parents[3]
HELD = ["surgery_held_0", "surgery_held_1"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def asked(config: TrainConfig, cache: Path) -> TrainConfig:
    data = replace(config.data, written=SETTINGS)
    return with_written(replace(config, data=data), cache, lambda _: None)


@pytest.fixture(scope="module")
def corpus(asked: TrainConfig, cache: Path) -> Corpus:
    single = tuple(one for one in asked.data.sources if not one.conversations)
    return load_corpus(replace(asked.data, sources=single), 7, cache)


def test_a_configuration_that_asks_for_no_written_questions_stays_as_it_is(
    config: TrainConfig, cache: Path
) -> None:
    assert with_written(config, cache, lambda _: None) is config


def test_written_questions_are_carried_over_once(
    config: TrainConfig, asked: TrainConfig, cache: Path
) -> None:
    told: list[str] = []
    again = with_written(replace(config, data=replace(config.data, written=SETTINGS)), cache, told.append)
    assert told == []
    assert again.data.sources == asked.data.sources
    plain, talks, held, held_talks = asked.data.sources[len(config.data.sources) :]
    assert (plain.weight, talks.weight, talks.conversations) == (0.5, 0.2, "given")
    assert (plain.dev, held.dev, held_talks.conversations) == (False, True, "given")
    assert len(read_examples(plain.examples)) >= 30


def test_questions_over_the_demo_hospital_come_with_a_weight_of_their_own(
    config: TrainConfig, cache: Path
) -> None:
    settings = replace(SETTINGS, weight=0.7, hospital_weight=3.0)
    told: list[str] = []
    asked = with_written(replace(config, data=replace(config.data, written=settings)), cache, told.append)
    assert told == [], "what is carried over does not depend on weights"
    _, _, plain, talks, *_ = asked.data.sources[len(config.data.sources) :]
    assert (plain.weight, talks.weight, talks.conversations) == (3.0, 3.0, "given")
    (hospital,) = read_schemas(plain.schemas)
    assert {one.db_id for one in read_examples(plain.examples)} == {hospital}
    assert plain.database == talks.database
    assert (Path(plain.database) / f"{hospital}.sqlite").is_file(), "answers are judged on the demo hospital"
    assert (plain.dev, talks.dev) == (True, True), "what is held out of them tells how sure a query is"


def test_a_quarter_of_what_was_written_over_the_demo_hospital_is_held_out_of_the_bundled_model() -> None:
    written = everyday_set()
    groups = {one.id for one in written.pairs} | {str(one.extra["interaction"]) for one in written.turns}
    listed = HeldOut.load(ROOT / "configs/ehr-en.held_out.json").examples
    held = {group for db_id, group in listed if db_id == written.schemas[0].name}
    assert held <= groups
    assert 0.2 < len(held) / len(groups) < 0.3


def test_questions_over_the_demo_hospital_are_in_one_language(config: TrainConfig, cache: Path) -> None:
    written = WrittenSettings(hospital_weight=1.0)
    data = replace(config.data, written=written, made=replace(config.data.made, language="zh"))
    with pytest.raises(SynthesisError, match="'zh': nobody wrote questions over the demo hospital"):
        with_written(replace(config, data=data), cache, lambda _: None)


def test_designs_that_are_held_out_are_asked_and_not_trained_on(corpus: Corpus) -> None:
    assert {sample.pair.db_id for sample in corpus.dev_databases} == set(HELD) <= corpus.held_out.databases
    assert not any(sample.pair.db_id.startswith("surgery") for sample in corpus.train)


def test_unanswerable_questions_over_held_out_designs_are_calibrated_on(
    asked: TrainConfig, corpus: Corpus
) -> None:
    questions = held_out(asked, corpus)
    refused = [one for one in questions if one.kind == WRITTEN]
    assert refused
    assert {one.part for one in refused} == {FOREIGN_MADE}
    assert {one.pair.db_id for one in refused} == set(HELD)
    assert {one.pair.db_id for one in questions if one.part == FOREIGN} == set(HELD)
    assert not any(one.pair.db_id in HELD for one in questions if one.part == UNANSWERABLE)


def test_no_schemas_are_made_of_designs_that_are_held_out() -> None:
    with SchemaPool(60, kinds=["designs"], held_out=["surgery"]) as pool:
        assert not any(one.db_id.startswith("surgery") for one in pool.schemas)
