"""Pairs over many schemas that a configuration asks for are made once, and trained on beside the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.datasets import read_examples, read_values
from fastsql.training.config import DataSettings, MadeSettings, TrainConfig
from fastsql.training.corpus.corpus import load_corpus
from fastsql.training.corpus.made import made_sources

SETTINGS = MadeSettings(schemas=2, pairs=4, kinds=("designs",), weight=0.5)
DATA = DataSettings(sources=(), made=SETTINGS)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def test_pairs_over_made_schemas_are_made_once(cache: Path) -> None:
    told: list[str] = []
    (source,) = made_sources(DATA, cache, told.append)
    assert "making 4 pairs over 2 schemas" in told[0]
    assert len(read_examples(source.examples)) == 4
    assert (source.weight, source.carve, source.dev, source.lexicon) == (0.5, False, False, False)
    told.clear()
    assert made_sources(DATA, cache, told.append) == [source]
    assert told == []


def test_the_demo_hospital_is_asked_beside_the_made_schemas(cache: Path) -> None:
    (source,) = made_sources(replace(DATA, made=replace(SETTINGS, demo=3)), cache, lambda _: None)
    asked = [item.db_id for item in read_examples(source.examples)]
    assert (len(asked), asked.count("demo_hospital")) == (7, 3)
    assert read_values(source.values)["demo_hospital"].values["patients", "gender"] == ("f", "m")


def test_some_made_pairs_are_asked_step_by_step(cache: Path) -> None:
    settings = replace(DATA, made=replace(SETTINGS, pairs=20, conversations=12, conversations_weight=0.2))
    told: list[str] = []
    pairs, talks = made_sources(settings, cache, told.append)
    assert (talks.conversations, talks.weight, talks.schemas) == ("given", 0.2, pairs.schemas)
    turns = read_examples(talks.examples)
    known = {item.id for item in read_examples(pairs.examples)}
    assert {str(turn.extra["interaction"]) for turn in turns} <= known
    assert all(turn.extra["turn"] or len(turn.question) > 5 for turn in turns)
    assert any("1 of 2 schemas" in line for line in told)
    told.clear()
    assert made_sources(settings, cache, told.append) == [pairs, talks]
    assert told == []
    corpus = load_corpus(settings, 7, cache)
    assert any(sample.earlier for sample in corpus.train)
    assert {sample.weight for sample in corpus.train if sample.pair.interaction} == {0.2}


def test_a_corpus_has_made_pairs_beside_its_sources(config: TrainConfig, cache: Path) -> None:
    plain = load_corpus(config.data, 7, cache)
    corpus = load_corpus(replace(config.data, made=SETTINGS), 7, cache)
    added = [sample for sample in corpus.train if sample.pair.db_id not in plain.domains]
    assert len({sample.pair.db_id for sample in added}) == 2
    assert {sample.weight for sample in added} == {0.5}
    assert corpus.dev == plain.dev
    domain = corpus.domains[added[0].pair.db_id]
    assert domain.dictionary is not None
    assert any(column.values for column in domain.schema.columns)


def test_databases_to_do_without_are_in_nothing(config: TrainConfig, cache: Path) -> None:
    whole = load_corpus(config.data, 7, cache)
    assert {sample.pair.db_id for sample in whole.train} == set(whole.domains)
    assert not load_corpus(replace(config.data, without=tuple(whole.domains)), 7, cache).train
    some = load_corpus(replace(config.data, made=SETTINGS, without=tuple(whole.domains)), 7, cache)
    assert len(some.domains) == 2
    assert not set(some.domains) & set(whole.domains)
