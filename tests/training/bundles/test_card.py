from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.cli.main import main
from fastsql.model.bundle import Bundle, open_bundle
from fastsql.training.bundles.card import model_card, write_card
from fastsql.training.config import MadeSettings, ModelSettings, SourceSettings, TrainConfig

from ..untrained import write_untrained

TRAINING = {"seed": 7, "epochs": 41.3, "steps": 7600, "minutes": 90.1, "dev": None}
FIGURES = {"questions": {"seen": 87, "unseen": 158, "unanswerable": 450}, "ece": 0.041, "auc": 0.936}
SCORES: dict[str, Any] = {
    "n": 1163,
    "ex": 91.25,
    "em": None,
    "rs": {"0": 84.0, "5": 71.5, "10": 66.123, "N": -1000.0},
    "wrong": 31,
    "abstained": 300,
    "details": {"penalty": 10.0, "seen": {"ex": 96.0}},
}


@pytest.fixture(scope="module")
def published(config: TrainConfig) -> TrainConfig:
    """As the bundled model's: EHRSQL 2024, from MiniLM."""
    source = SourceSettings(
        examples="${FASTSQL_DATA}/ehrsql2024/train.json",
        schemas="${FASTSQL_DATA}/ehrsql2024/schemas.json",
        database="${FASTSQL_DATA}/ehrsql2024/mimic_iv.sqlite.gz",
    )
    return replace(config, data=replace(config.data, sources=(source,)), model=ModelSettings())


@pytest.fixture
def bundle(config: TrainConfig, tmp_path: Path) -> Bundle:
    settings = {"training": TRAINING, "confidence": {"intercept": 0.0, "weights": {}, "figures": FIGURES}}
    return open_bundle(write_untrained(config, tmp_path / "untrained", **settings))


def test_a_card_credits_what_the_model_came_from(bundle: Bundle, published: TrainConfig) -> None:
    card = model_card(bundle, published)
    for words in (
        "CC BY-SA 4.0",
        "CC BY 4.0",
        "G. Lee, S. Kweon, S. Bae, E. Choi",
        "Clinical NLP 2024",
        "MIMIC-IV Clinical Database Demo 2.2",
        "ODbL 1.0",
        "all-MiniLM-L6-v2",
        "Apache-2.0",
    ):
        assert words in card


def test_a_card_states_the_limits(bundle: Bundle, published: TrainConfig) -> None:
    limits = model_card(bundle, published).partition("## Limits")[2]
    for words in ("English questions only", "few schemas", "were generated", "untested", "SQLite"):
        assert words in limits


def test_a_card_knows_whether_many_schemas_were_met(bundle: Bundle, published: TrainConfig) -> None:
    (hospital,) = published.data.sources
    spider = replace(hospital, examples="${FASTSQL_DATA}/spider/train.json")
    many = replace(published, data=replace(published.data, sources=(hospital, spider)))
    limits = model_card(bundle, many).partition("## Limits")[2]
    assert "not seen" in limits
    assert "few schemas" not in limits
    assert "T. Yu et al." in model_card(bundle, many)


def test_synthetic_questions_are_said_to_be_so(bundle: Bundle, published: TrainConfig) -> None:
    (source,) = published.data.sources
    more = replace(published, data=replace(published.data, sources=(source, replace(source, generate=8000))))
    for words in ("Synthetic questions", "fastsql augment", "met in synthetic questions"):
        assert words in model_card(bundle, more)
        assert words not in model_card(bundle, published)


def test_what_was_made_of_other_sets_is_credited_to_them(bundle: Bundle, published: TrainConfig) -> None:
    made = replace(published, data=replace(published.data, made=MadeSettings(schemas=10)))
    designs = replace(
        published, data=replace(published.data, made=MadeSettings(schemas=10, kinds=("designs",)))
    )
    for words in ("T. Yu et al.", "BIRD", "Seq2SQL", "fastsql corpus"):
        assert words in model_card(bundle, made)
        assert words not in model_card(bundle, published)
    assert "Seq2SQL" not in model_card(bundle, designs)
    assert "fastsql corpus" in model_card(bundle, designs)


def test_conversations_are_credited(bundle: Bundle, published: TrainConfig) -> None:
    (source,) = published.data.sources
    talks = (source, replace(source, conversations="made"))
    more = replace(published, data=replace(published.data, sources=talks))
    assert "EHR-SeqSQL" in model_card(bundle, more)
    assert "EHR-SeqSQL" not in model_card(bundle, published)


def test_a_note_tells_what_the_commands_do_not(bundle: Bundle, published: TrainConfig) -> None:
    assert model_card(bundle, published, note="It went on from another.").endswith("went on from another.\n")


def test_scores_that_are_given_are_shown(bundle: Bundle, published: TrainConfig) -> None:
    card = model_card(bundle, published, SCORES, command="fastsql eval valid.json --penalty 10")
    for row in ("| questions | 1,163 |", "| RS(10) | 66.1 |", "| - SQL skeleton in train | 96.0 % |"):
        assert row in card
    assert "fastsql eval valid.json --penalty 10" in card
    assert "area under the ROC curve 0.936" in card


def test_scores_that_are_absent_are_left_out(bundle: Bundle, published: TrainConfig) -> None:
    card = model_card(bundle, published, SCORES)
    assert "EM" not in card
    assert "SQL skeleton not in train" not in card
    assert "| None" not in card
    bare = replace(bundle, config=replace(bundle.config, settings={}))
    assert "## Scores" not in model_card(bare, published)
    assert "This bundle:" not in model_card(bare, published)


@pytest.mark.parametrize(
    ("second", "doubted", "told"),
    [
        (
            {"reverse": "a" * 64},
            None,
            "There it asks the reverse model aaaaaaaaaaaa, which comes with fastsql,",
        ),
        (
            {"reverse": "a" * 64, "reranker": "b" * 64},
            {"right": {"intercept": 0.0}},
            "There, and in doubt over others, it asks the reverse model aaaaaaaaaaaa and the reranker bbbbbbbbbbbb,",
        ),
    ],
)
def test_a_card_tells_who_is_asked_for_a_second_opinion(
    bundle: Bundle, published: TrainConfig, second: Any, doubted: Any, told: str
) -> None:
    settings = {"reliability": {"elsewhere": {"second": second}, "doubted": doubted, "figures": FIGURES}}
    asking = replace(bundle, config=replace(bundle.config, settings={**bundle.config.settings, **settings}))
    assert told in model_card(asking, published)


def test_a_card_tells_how_the_bundle_was_made(bundle: Bundle, published: TrainConfig) -> None:
    made = model_card(bundle, published).partition("## How to reproduce")[2]
    assert "--seed 7" in made
    assert "seed 7, epochs 41.3, steps 7,600, minutes 90.1" in made


def test_data_that_are_not_known_are_named_by_their_folder(bundle: Bundle, published: TrainConfig) -> None:
    source = SourceSettings(examples="/data/ward/train.json", schemas="/data/ward/schemas.json")
    own = replace(published, data=replace(published.data, sources=(source, source)))
    card = model_card(bundle, own, licence="")
    assert "Also trained on: ward, under the licences of those data." in card
    assert "EHRSQL" not in card
    assert "CC BY-SA" not in card


def test_the_command_line_writes_the_card_into_the_bundle(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, report = tmp_path / "ward.toml", tmp_path / "report.json"
    file.write_text(
        'name = "ward-en"\n[[data.sources]]\nexamples = "${FASTSQL_DATA}/ehrsql2024/train.json"\nschemas = "s.json"\n',
        encoding="utf-8",
    )
    report.write_text(json.dumps(SCORES), encoding="utf-8")
    assert main(["card", str(bundle.path), "--config", str(file), "--scores", str(report)]) == 0
    assert "README.md" in capsys.readouterr().out
    card = (open_bundle(bundle.path).path / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# ward-en\n")
    assert "RS(10)" in card
    assert (
        main(["card", str(bundle.path), "--config", str(file), "--scores", str(tmp_path / "none.json")]) == 2
    )
    assert "none.json" in capsys.readouterr().err


def test_a_bundle_stays_whole_with_another_card(bundle: Bundle) -> None:
    write_card(bundle.path, "# other\n")
    assert open_bundle(bundle.path).config == bundle.config
