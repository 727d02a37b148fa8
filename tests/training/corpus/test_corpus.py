from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.model.config import EncoderConfig, ModelConfig
from fastsql.model.tokenizer import Tokenizer
from fastsql.training.batches.maker import ExampleMaker
from fastsql.training.config import ConfigError, SourceSettings, TrainConfig
from fastsql.training.corpus.corpus import Corpus, load_corpus
from fastsql.training.corpus.split import letters_only


@pytest.fixture(scope="module")
def corpus(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(config.data, 7, tmp_path_factory.mktemp("cache"))


def make_maker(corpus: Corpus, config: TrainConfig, augment: bool) -> ExampleMaker:
    tokenizer = Tokenizer.from_file(Path(config.model.encoder) / "tokenizer.json", 126)
    grammar = load_grammar()
    sizes = ModelConfig(
        n_productions=len(grammar.productions),
        n_symbols=len(grammar.symbols),
        d=16,
        heads=2,
        encoder=EncoderConfig(vocabulary=tokenizer.vocabulary, positions=128),
    )
    return ExampleMaker(
        corpus,
        corpus.train,
        tokenizer,
        sizes,
        candidates=24,
        augment=config.augment if augment else None,
        seed=config.seed,
    )


def test_train_and_dev_have_no_question_in_common(corpus: Corpus) -> None:
    train = {letters_only(sample.pair.question) for sample in corpus.train}
    dev = {letters_only(sample.pair.question) for sample in (*corpus.dev_templates, *corpus.dev_examples)}
    assert train
    assert dev
    assert not train & dev


def test_what_is_reported_on_is_not_trained_on(corpus: Corpus) -> None:
    everything = (*corpus.train, *corpus.dev_templates, *corpus.dev_examples)
    assert not any("insulin were there" in sample.pair.question for sample in everything)


def test_the_schema_carries_small_domains_and_the_lexicon(corpus: Corpus) -> None:
    schema = corpus.domains["ward"].schema
    assert "vital" in schema.columns[schema.column_index("items", "kind")].values
    assert "daily weight" in schema.columns[schema.column_index("items", "label")].values


def test_a_second_run_reads_the_cache(config: TrainConfig, tmp_path: Path) -> None:
    first = load_corpus(config.data, 7, tmp_path)
    (cache,) = tmp_path.iterdir()
    cache.write_text(cache.read_text(encoding="utf-8").replace("aspirin", "aspirin"), encoding="utf-8")
    notes: list[str] = []
    assert load_corpus(config.data, 7, tmp_path, notes.append).train == first.train
    assert len(notes) == 2


@pytest.mark.parametrize("augment", [False, True])
def test_every_example_can_be_traced(corpus: Corpus, config: TrainConfig, augment: bool) -> None:
    maker = make_maker(corpus, config, augment)
    for number in range(len(corpus.train)):
        for epoch in range(5):
            assert maker.instance(number, random.Random(f"{epoch}/{number}")) is not None


def test_a_batch_is_the_same_whenever_it_is_made(corpus: Corpus, config: TrainConfig) -> None:
    one, other = (make_maker(corpus, config, augment=True).make([0, 1, 2], epoch=4)[0] for _ in range(2))
    assert one is not None
    assert other is not None
    assert (one.token_ids == other.token_ids).all()
    assert (one.actions == other.actions).all()


def test_an_example_is_varied_anew_in_every_epoch(corpus: Corpus, config: TrainConfig) -> None:
    maker = make_maker(corpus, config, augment=True)
    assert maker.augmenter is not None
    seen = {maker.augmenter.draw(corpus.train[0], random.Random(seed)).question for seed in range(10)}
    assert len(seen) > 3


def without_database(config: TrainConfig, values: str) -> SourceSettings:
    return replace(config.data.sources[0], database="", values=values)


def test_gold_literals_stand_in_for_a_missing_database(config: TrainConfig, tmp_path: Path) -> None:
    settings = replace(config.data, sources=(without_database(config, "gold"),))
    domain = load_corpus(settings, 7, tmp_path).domains["ward"]
    assert domain.dictionary is not None
    assert [match.values[0][0] for match in domain.dictionary.match("Aspirin, please")] == ["aspirin"]
    assert load_corpus(replace(settings, dictionary=False), 7, tmp_path).domains["ward"].dictionary is None


def test_the_first_source_with_values_says_what_a_database_holds(
    config: TrainConfig, ward: Path, tmp_path: Path
) -> None:
    examples = json.loads((ward / "train.json").read_text(encoding="utf-8"))
    more = tmp_path / "more.json"
    renamed = [{**example, "id": f"more {example['id']}"} for example in examples]
    more.write_text(json.dumps(renamed), encoding="utf-8")
    own, bare = config.data.sources[0], replace(without_database(config, ""), examples=str(more))
    for sources in ((own, bare), (bare, own)):
        settings = replace(config.data, sources=sources)
        assert load_corpus(settings, 7, tmp_path / "cache").domains["ward"].dictionary is not None


def test_sources_of_one_database_keep_each_others_programs(
    config: TrainConfig, ward: Path, tmp_path: Path
) -> None:
    examples = json.loads((ward / "train.json").read_text(encoding="utf-8"))
    parts = []
    for name, some in (("one", examples[::2]), ("other", examples[1::2])):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(some), encoding="utf-8")
        parts.append(replace(config.data.sources[0], examples=str(path), report=()))
    load_corpus(replace(config.data, sources=tuple(parts)), 7, tmp_path / "cache")
    (file,) = (tmp_path / "cache").glob("programs-*.jsonl")
    kept = {json.loads(line)[0].partition("\n")[2] for line in file.read_text(encoding="utf-8").splitlines()}
    assert kept == {example["sql"] for example in examples if example["sql"]}


def test_one_id_with_two_schemas_is_an_error(config: TrainConfig, ward: Path, tmp_path: Path) -> None:
    schemas = json.loads((ward / "schemas.json").read_text(encoding="utf-8"))
    schemas[0]["tables"][0]["columns"].append({"name": "further", "type": "text"})
    other = tmp_path / "schemas.json"
    other.write_text(json.dumps(schemas), encoding="utf-8")
    sources = (config.data.sources[0], replace(without_database(config, ""), schemas=str(other)))
    with pytest.raises(ConfigError, match="ward"):
        load_corpus(replace(config.data, sources=sources), 7, tmp_path / "cache")


def test_a_value_that_only_an_earlier_turn_says_can_be_learnt_where_it_is_read(
    corpus: Corpus, config: TrainConfig
) -> None:
    maker = make_maker(corpus, config, augment=False)
    sample = corpus.train[0]
    schema = corpus.domains[sample.pair.db_id].schema
    first, then = (
        sql_to_program(f"SELECT {asked} FROM prescriptions WHERE drug = 'cefoxitin'", schema)
        for asked in ("MAX(dose)", "COUNT(*)")
    )
    pair = replace(sample.pair, question="and how many orders?", interaction="talk")
    maker.samples = [
        replace(sample, pair=pair, program=then, earlier=(("highest dose of cefoxitin", first),))
    ]
    maker.config = maker.config.with_turns()
    assert maker.instance(0, random.Random(0)) is None
    maker.config = replace(maker.config, turn_values=True)
    made = maker.instance(0, random.Random(0))
    assert made is not None
    assert (made.prepared.text, made.prepared.question) == ("and how many orders? | cefoxitin", pair.question)
