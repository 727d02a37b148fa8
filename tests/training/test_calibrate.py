from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install 'fastsql[train]' runs this")
pytest.importorskip("onnx", reason="pip install 'fastsql[train]' runs this")

from fastsql.model.bundle import open_bundle
from fastsql.reliability import FEATURES, Confidence
from fastsql.reliability.familiarity import Familiarity
from fastsql.training import calibrate as module
from fastsql.training.calibrate import (
    PRIOR,
    CalibrationError,
    calibrate,
    describe,
    fit,
    main,
)
from fastsql.training.config import TrainConfig
from fastsql.training.data import Corpus, load_corpus
from fastsql.training.observe import SEEN, UNANSWERABLE, UNSEEN, Observation, Question, held_out, observe
from fastsql.training.split import Pair, letters_only

from .untrained import write_untrained

NAMES = {name: place for place, name in enumerate(FEATURES)}


@pytest.fixture(scope="module")
def corpus(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(config.data, config.seed, tmp_path_factory.mktemp("cache"))


@pytest.fixture
def bundle(config: TrainConfig, tmp_path: Path) -> Path:
    """A bundle that has learned nothing."""
    return write_untrained(config, tmp_path / "untrained", training={"seed": 7})


def observation(part: str, sequence: float, margin: float, right: bool, group: str) -> Observation:
    features = [0.0] * len(FEATURES)
    features[NAMES["sequence"]], features[NAMES["margin"]] = sequence, margin
    return Observation(Question(Pair("", "", "", "ward"), part, group, None), tuple(features), right)


def observations() -> list[Observation]:
    """The surer the model, the oftener it is right; unanswerable questions have near rivals."""
    rng = random.Random(0)
    made = []
    for number in range(300):
        part = rng.choice((SEEN, UNSEEN, UNANSWERABLE))
        sequence = rng.gauss(3 if part == SEEN else 1, 2)
        right = part != UNANSWERABLE and rng.random() < 1 / (1 + 2.718 ** (-sequence - 1))
        margin = rng.gauss(1 if part == UNANSWERABLE else 5, 1)
        made.append(observation(part, sequence, margin, right, f"{part} {number // 2}"))
    return made


# ---------------------------------------------------------------- which questions


def test_nothing_that_was_trained_on_is_calibrated_on(config: TrainConfig, corpus: Corpus) -> None:
    questions = held_out(config, corpus)
    trained = {letters_only(sample.pair.question) for sample in corpus.train}
    assert not trained & {letters_only(question.pair.question) for question in questions}
    assert Counter(question.part for question in questions) == {
        SEEN: len(corpus.dev_examples),
        UNSEEN: len(corpus.dev_templates),
        UNANSWERABLE: 1,
    }


def test_unanswerable_questions_have_no_right_sql(config: TrainConfig, corpus: Corpus) -> None:
    questions = held_out(config, corpus)
    assert [(q.pair.question, q.sql) for q in questions if q.part == UNANSWERABLE] == [
        ("What is love?", None)
    ]
    assert all(q.sql for q in questions if q.part != UNANSWERABLE)


def test_unanswerable_questions_that_are_reported_on_are_left_out(
    config: TrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    reported = tmp_path / "reported.json"
    reported.write_text(
        '[{"id": "v", "db_id": "ward", "question": "what is Love", "sql": null}]', encoding="utf-8"
    )
    (source,) = config.data.sources
    stricter = replace(config, data=replace(config.data, sources=(replace(source, report=(str(reported),)),)))
    assert all(question.part != UNANSWERABLE for question in held_out(stricter, corpus))


def test_a_limit_holds_for_each_part(config: TrainConfig, corpus: Corpus) -> None:
    assert Counter(q.part for q in held_out(config, corpus, 1)) == {SEEN: 1, UNSEEN: 1, UNANSWERABLE: 1}


def test_questions_of_one_template_are_one_group(config: TrainConfig, corpus: Corpus) -> None:
    unseen = [question for question in held_out(config, corpus) if question.part == UNSEEN]
    assert len({question.group for question in unseen}) < len(unseen)


# ---------------------------------------------------------------- what becomes of them


def test_every_question_is_observed_as_the_parser_sees_it(
    bundle: Path, config: TrainConfig, corpus: Corpus
) -> None:
    questions = held_out(config, corpus, 2)
    notes: list[str] = []
    found = observe(open_bundle(bundle), config, questions, threads=1, report=notes.append)
    assert [item.question for item in found] == list(questions)
    assert all(len(item.features) == len(FEATURES) for item in found)
    assert not any(item.right for item in found if item.question.part == UNANSWERABLE)
    assert notes == [f"{len(questions)} of {len(questions)} parsed"]


# ---------------------------------------------------------------- the fit


def test_the_parts_count_as_much_as_in_use() -> None:
    found = fit(observations())
    assert sum(PRIOR.values()) == pytest.approx(1.0)
    few = [item for item in observations() if item.question.part != UNANSWERABLE]
    alone = [item for item in observations() if item.question.part == UNANSWERABLE]
    # Ten times the unanswerable questions: what each counts falls tenfold, and nothing changes but the ridge's share.
    many = fit([*few, *alone * 10])
    assert many.confidence.weights[0] == pytest.approx(found.confidence.weights[0], rel=0.15)


def test_the_fit_uses_what_tells_right_from_wrong() -> None:
    found = fit(observations())
    weights = dict(zip(FEATURES, found.confidence.weights, strict=True))
    assert weights["sequence"] > 0
    assert weights["margin"] > 0
    assert weights["worst"] == 0.0
    assert found.figures["auc"] > 0.85
    assert found.figures["ece"] < 0.1


def test_the_figures_are_at_the_thresholds_of_the_penalty() -> None:
    figures = fit(observations()).figures
    assert figures["answered"]["0"] == 100.0
    assert figures["answered"]["10"] < 60.0
    assert figures["rs"]["0"]["10"] < figures["rs"]["10"]["10"]
    assert figures["questions"].keys() == figures["right"].keys() == PRIOR.keys()
    assert figures["right"][UNANSWERABLE] == 0


def test_features_can_be_left_out() -> None:
    found = fit(observations(), ["sequence"])
    weights = dict(zip(FEATURES, found.confidence.weights, strict=True))
    assert [name for name, weight in weights.items() if weight] == ["sequence"]


@pytest.mark.parametrize("right", [True, False])
def test_nothing_can_be_learned_from_parses_all_alike(right: bool) -> None:
    alike = [replace(item, right=right) for item in observations()]
    with pytest.raises(CalibrationError, match="right" if right else "wrong"):
        fit(alike)
    with pytest.raises(CalibrationError):
        fit([])


# ---------------------------------------------------------------- the bundle


def test_a_calibrated_bundle_is_whole_and_judges_by_what_was_fitted(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    found = calibrate(bundle, config, corpus)
    settings = open_bundle(bundle).config.settings
    assert settings["training"] == {"seed": 7}
    assert Confidence.from_settings(settings) == found.confidence
    assert settings["confidence"]["figures"]["auc"] == found.figures["auc"]
    assert Familiarity.from_settings(settings).questions == len(corpus.train)
    assert open_bundle(bundle).model("numpy").tokenizer is not None


def test_calibrating_again_gives_the_same(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    calibrate(bundle, config, corpus)
    once = (bundle / "config.json").read_bytes()
    calibrate(bundle, config, corpus)
    assert (bundle / "config.json").read_bytes() == once


def test_the_figures_can_be_read() -> None:
    text = describe(fit(observations()))
    assert "cross-fitted: ECE 0." in text
    assert "penalty 10:" in text


# ---------------------------------------------------------------- command line


@pytest.fixture
def config_file(config: TrainConfig, tmp_path: Path) -> Path:
    (source,) = config.data.sources
    file = tmp_path / "ward.toml"
    file.write_text(
        f'name = "ward-en"\nseed = 3\n[data]\ndev_templates = 0.17\ndev_examples = 0.1\n[[data.sources]]\n'
        f'examples = "{source.examples}"\nschemas = "{source.schemas}"\ndatabase = "{source.database}"\n',
        encoding="utf-8",
    )
    return file


def test_the_command_line_splits_by_the_bundles_seed(
    bundle: Path,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seeds: list[int] = []

    def observed(_bundle: Any, config: TrainConfig, *_args: Any, **_options: Any) -> tuple[Observation, ...]:
        seeds.append(config.seed)
        return tuple(observations())

    monkeypatch.setattr(module, "observe", observed)
    assert main([str(bundle), "--config", str(config_file)]) == 0
    assert main([str(bundle), "--config", str(config_file), "--seed", "5"]) == 0
    assert seeds == [7, 5]
    assert "cross-fitted" in capsys.readouterr().out


def test_trying_features_leaves_the_bundle_alone(
    bundle: Path, config_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    before = (bundle / "config.json").read_bytes()
    assert main([str(bundle), "--config", str(config_file), "--features", "sequence,margin"]) == 0
    assert (bundle / "config.json").read_bytes() == before
    assert main([str(bundle), "--config", str(config_file), "--features", "mood"]) == 2
    assert "no feature 'mood'" in capsys.readouterr().err


def test_the_command_line_names_what_is_wrong(
    tmp_path: Path, bundle: Path, config_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none"), "--config", str(config_file)]) == 2
    assert "no such model bundle" in capsys.readouterr().err
    assert main([str(bundle), "--config", str(config_file), "--limit", "0"]) == 2
    assert "--limit" in capsys.readouterr().err
