"""Which questions a bundle is calibrated on."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.datasets import Example
from fastsql.grammar import sql_to_program
from fastsql.synthesis.carried import held_out_names
from fastsql.synthesis.hospital.everyday import HOSPITAL
from fastsql.training.calibration import questions as module
from fastsql.training.calibration.questions import (
    AS_WRITTEN,
    EVERYDAY,
    FOREIGN,
    FOREIGN_MADE,
    MADE,
    PLAIN,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
    held_out,
)
from fastsql.training.config import SourceSettings, TrainConfig, WrittenSettings
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.sources import Domain
from fastsql.training.corpus.split import Pair, letters_only

from ...worlds.shop import shop_schema


def test_nothing_that_was_trained_on_is_calibrated_on(config: TrainConfig, corpus: Corpus) -> None:
    questions = held_out(config, corpus, made=0)
    trained = {letters_only(sample.pair.question) for sample in corpus.train}
    assert not trained & {letters_only(question.pair.question) for question in questions}
    assert Counter(question.part for question in questions) == {
        SEEN: len(corpus.dev_examples),
        UNSEEN: len(corpus.dev_templates),
        UNANSWERABLE: 1,
    }


def test_questions_over_the_demo_hospital_are_a_part_of_their_own(
    config: TrainConfig, corpus: Corpus
) -> None:
    first, *rest = (replace(one, pair=replace(one.pair, db_id=HOSPITAL)) for one in corpus.dev_templates[:2])
    known = (first, *corpus.dev_examples)
    asked = held_out(config, replace(corpus, dev_examples=known, dev_templates=tuple(rest)), made=0)
    everyday = [one for one in asked if one.part == EVERYDAY]
    assert [one.pair for one in everyday] == [one.pair for one in (first, *rest)]
    assert [one for one in asked if one.pair.db_id == HOSPITAL] == everyday


def test_unanswerable_questions_have_no_right_sql(config: TrainConfig, corpus: Corpus) -> None:
    questions = held_out(config, corpus)
    assert [(q.pair.question, q.sql) for q in questions if q.part == UNANSWERABLE] == [
        ("What is love?", None)
    ]
    assert all((q.sql is None) == (q.part in (UNANSWERABLE, MADE)) for q in questions)


def test_questions_without_an_answer_are_made_for_sources_that_have_such(
    config: TrainConfig, corpus: Corpus
) -> None:
    made = [question for question in held_out(config, corpus, made=12) if question.part == MADE]
    assert sum(question.kind == "unheard" for question in made) == 3
    made = [question for question in made if question.kind != "unheard"]
    assert 6 <= len(made) <= 12
    kinds = Counter(question.group.partition(" ")[0] for question in made)
    assert kinds["removed"] == 6
    assert all(bool(question.removed) == question.group.startswith("removed ") for question in made)


def test_numbers_are_made_like_those_of_answerable_questions(
    config: TrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    (source,) = config.data.sources
    rows = json.loads(Path(source.examples).read_text(encoding="utf-8"))
    rows += [{"id": "n", "db_id": "ward", "question": "Who called patient 14035?", "sql": None}]
    file = tmp_path / "train.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    more = replace(config, data=replace(config.data, sources=(replace(source, examples=str(file)),)))
    asked = {q.part: q for q in held_out(more, corpus, made=0) if q.pair.id == "n"}
    assert asked[AS_WRITTEN].pair.question == "Who called patient 14035?"
    number = asked[UNANSWERABLE].pair.question.removeprefix("Who called patient ").removesuffix("?")
    assert any(number in sample.pair.question for sample in corpus.train)
    assert asked[UNANSWERABLE].group == asked[AS_WRITTEN].group


def test_unanswerable_questions_that_are_reported_on_are_left_out(
    config: TrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    reported = tmp_path / "reported.json"
    reported.write_text(
        '[{"id": "v", "db_id": "ward", "question": "what is Love", "sql": null}]', encoding="utf-8"
    )
    (source,) = config.data.sources
    stricter = replace(config, data=replace(config.data, sources=(replace(source, report=(str(reported),)),)))
    assert all(question.part in (SEEN, UNSEEN) for question in held_out(stricter, corpus, made=0))


@pytest.fixture(scope="module")
def answerable(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    """The ward's questions but for the one without an answer."""
    (source,) = config.data.sources
    rows = [row for row in json.loads(Path(source.examples).read_text(encoding="utf-8")) if row["sql"]]
    file = tmp_path_factory.mktemp("answerable") / "train.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    return replace(config, data=replace(config.data, sources=(replace(source, examples=str(file)),)))


def test_unanswerable_questions_are_made_where_the_data_have_none(
    answerable: TrainConfig, corpus: Corpus
) -> None:
    questions = held_out(answerable, corpus, made=40)
    assert not any(question.part == UNANSWERABLE for question in questions)
    made = [question for question in questions if question.part == MADE]
    assert 30 <= len(made) <= 40
    assert {question.kind for question in made} == {"removed", "vague", "outside", "writing"}
    assert all(question.sql is None and question.pair.db_id == "ward" for question in made)
    assert held_out(answerable, corpus, made=40) == questions
    assert not any(question.sql is None for question in held_out(answerable, corpus, made=0))


def test_questions_are_made_over_every_database_that_is_asked_about(
    answerable: TrainConfig, wider: Corpus
) -> None:
    shop = tuple(sample for sample in wider.dev_databases if sample.pair.db_id == "shop")
    both = replace(
        wider, train=(*wider.train, *shop), dev_templates=(*wider.dev_templates, *shop), dev_databases=()
    )
    counts = Counter(q.pair.db_id for q in held_out(answerable, both, made=40) if q.part == MADE)
    assert set(counts) == {"ward", "shop"}
    assert counts["shop"] >= 15
    assert sum(counts.values()) <= 40


def test_a_limit_holds_for_each_part(config: TrainConfig, corpus: Corpus) -> None:
    parts = Counter(q.part for q in held_out(config, corpus, 1))
    assert parts == {SEEN: 1, UNSEEN: 1, UNANSWERABLE: 1, MADE: 1}


def test_questions_of_one_template_are_one_group(config: TrainConfig, corpus: Corpus) -> None:
    unseen = [question for question in held_out(config, corpus) if question.part == UNSEEN]
    assert len({question.group for question in unseen}) < len(unseen)


# ---------------------------------------------------------------- databases that were held out


SHOP = shop_schema()


@pytest.fixture(scope="module")
def wider(corpus: Corpus) -> Corpus:
    """With two databases held out: a shop, and the ward itself."""
    asked = [
        ("What is the home town of each customer?", "SELECT customer.home_town FROM customer"),
        ("What is the highest age of a customer?", "SELECT MAX(customer.age) FROM customer"),
    ]
    shop = [
        Sample(Pair(f"shop-{place}", question, sql, "shop"), sql_to_program(sql, SHOP))
        for place, (question, sql) in enumerate(asked)
    ]
    return replace(
        corpus,
        domains=corpus.domains | {"shop": Domain(SHOP)},
        dev_databases=(*shop, *corpus.dev_templates),
    )


def test_databases_held_out_are_asked_with_and_without_values(config: TrainConfig, wider: Corpus) -> None:
    asked = [question for question in held_out(config, wider) if question.part == FOREIGN]
    assert Counter((q.pair.key, q.values) for q in asked) == {
        (sample.pair.key, values): 1 for sample in wider.dev_databases for values in (True, False)
    }
    assert {q.group for q in asked} == {"database shop", "database ward"}, "a database is in one fold"
    assert all(q.sql for q in asked)


def test_variants_of_a_design_are_one_group(config: TrainConfig, wider: Corpus) -> None:
    names = sorted(held_out_names(["dental"], 2))
    variants = [
        replace(sample, pair=replace(sample.pair, db_id=name))
        for sample, name in zip(wider.dev_databases[:2], names, strict=True)
    ]
    domains = {name: Domain(SHOP) for name in names}
    wider = replace(
        wider, domains=wider.domains | domains, dev_databases=(*variants, *wider.dev_databases[2:])
    )
    written = WrittenSettings(held_out=("dental",), variants=2)
    config = replace(config, data=replace(config.data, written=written))
    group_of = {q.pair.db_id: q.group for q in held_out(config, wider) if q.part in (FOREIGN, FOREIGN_MADE)}
    assert [group_of[name] for name in names] == ["database dental"] * 2
    assert group_of["ward"] == "database ward"


def test_unanswerable_questions_are_made_for_held_out_databases(config: TrainConfig, wider: Corpus) -> None:
    made = [question for question in held_out(config, wider) if question.part == FOREIGN_MADE]
    kinds = Counter((q.pair.db_id, q.kind) for q in made)
    assert kinds["ward", "elsewhere"], "the shop's questions, asked on a ward"
    assert kinds["shop", "removed"]
    assert kinds["shop", "lacking"]
    assert {kind for _, kind in kinds} == {"removed", "elsewhere", "lacking", "vague", "outside", "writing"}
    assert all(q.sql is None and q.group == f"database {q.pair.db_id}" for q in made)
    assert all(bool(q.removed) == (q.kind == "removed") for q in made)
    assert {q.values for q in made} == {True, False}
    assert held_out(config, wider) == held_out(config, wider)


def test_what_other_published_sets_are_asked_is_asked_of_the_wrong_database(
    config: TrainConfig, wider: Corpus, tmp_path: Path
) -> None:
    (ward,) = config.data.sources
    schemas = tmp_path / "shop.json"
    schemas.write_text(json.dumps([SHOP.to_dict()]), encoding="utf-8")
    shop = replace(ward, schemas=str(schemas), report=(ward.examples,), dev=False)
    taught = replace(
        wider,
        train=(*wider.train, *wider.dev_databases[:2]),
        dev_databases=(),
        dev_templates=(),
        dev_examples=(),
    )

    def kinds(source: SourceSettings) -> Counter[str]:
        both = replace(config, data=replace(config.data, sources=(ward, source)))
        made = [one for one in held_out(both, taught, made=12) if one.part == MADE]
        assert {one.pair.db_id for one in made} == {"ward"}
        return Counter(one.kind for one in made)

    found = kinds(shop)
    assert found["elsewhere"] == 2
    assert 0 < found["another"] <= 3
    assert not {"elsewhere", "lacking", "another"} & set(kinds(replace(shop, report=()))), (
        "nobody published it"
    )


def test_plain_questions_are_made_where_synthetic_ones_were_trained_on(
    config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [
        Example(
            "1", "mimic_iv", "How many patients are there?", "SELECT COUNT(*) FROM patients", template="all"
        ),
        Example(
            "2",
            "mimic_iv",
            "Count the women.",
            "SELECT COUNT(*) FROM patients WHERE gender = 'f'",
            template="of",
        ),
        Example("3", "mimic_iv", "How old is patient 71021258?", "SELECT 1", template="age"),
        Example("4", "mimic_iv", " ".join(["very"] * 20), "SELECT 1", template="long"),
        Example("5", "mimic_iv", f"{corpus.train[0].pair.question}!", "SELECT 1", template="trained"),
    ]
    seeds = []

    def make(source: SourceSettings, number: int, seed: int) -> list[Example]:
        seeds.append(seed)
        return made

    monkeypatch.setattr(module, "make_examples", make)
    (source,) = config.data.sources
    more = replace(
        config, data=replace(config.data, sources=(source, replace(source, generate=9, dev=False)))
    )
    plain = [one for one in held_out(more, corpus, seed=7) if one.part == PLAIN]
    assert [(one.pair.question, one.group) for one in plain] == [
        ("How many patients are there?", "plain all"),
        ("Count the women.", "plain of"),
    ]
    assert all(one.sql == one.pair.sql for one in plain)
    assert seeds == [8], "with another seed than those that were trained on"
    assert not any(one.part == PLAIN for one in held_out(config, corpus, seed=7))
    assert not any(one.part == PLAIN for one in held_out(more, corpus, seed=7, made=0))
