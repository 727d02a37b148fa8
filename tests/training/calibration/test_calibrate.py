"""What a calibrated bundle holds."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

import fastsql
from fastsql.cli.calibrate import held_out_alone
from fastsql.cli.main import main
from fastsql.errors import ModelError
from fastsql.model.bundle import CONFIG, open_bundle
from fastsql.reliability import Evidence, Reliability
from fastsql.reliability.assess import SETTING
from fastsql.reliability.familiarity import Familiarity
from fastsql.training.calibration import calibrate as module
from fastsql.training.calibration.calibrate import (
    calibrate,
    calibrate_elsewhere,
    calibrate_turns,
    calibration,
    describe,
    with_settings,
    write_settings,
)
from fastsql.training.calibration.conversations import TurnObservation
from fastsql.training.calibration.observations import save_observations
from fastsql.training.calibration.observe import Observation
from fastsql.training.calibration.questions import (
    EVERYDAY,
    FOREIGN,
    FOREIGN_MADE,
    MADE,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
    Question,
)
from fastsql.training.calibration.usable import CalibrationError
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus

from ...worlds.training_ward import SCHEMA
from .observed import MODELS, D, doubted, observations, of_other_schemas, of_parts, seconded


def test_the_bundle_holds_what_was_fitted(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    found = calibrate(bundle, config, corpus)
    settings = open_bundle(bundle).config.settings
    stored = Reliability.from_settings(settings, D)
    assert stored.to_settings() == found.reliability.to_settings()
    assert settings["reliability"]["figures"] == json.loads(json.dumps(found.figures))
    assert stored.familiarity.questions == len(corpus.train)
    assert "confidence" not in settings
    once = (bundle / "config.json").read_bytes()
    calibrate(bundle, config, corpus)
    assert (bundle / "config.json").read_bytes() == once


@pytest.mark.parametrize(
    ("parts", "elsewhere"),
    [
        pytest.param((SEEN, UNSEEN), False, id="answerable"),
        pytest.param((SEEN, UNSEEN), True, id="answerable, other schemas"),
        pytest.param((SEEN, UNSEEN, MADE), False, id="made"),
        pytest.param((SEEN, UNSEEN, UNANSWERABLE, MADE), True, id="all"),
    ],
)
def test_a_calibrated_bundle_loads_whatever_could_be_fitted(
    bundle: Path,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    parts: tuple[str, ...],
    elsewhere: bool,
) -> None:
    found = [*of_parts(*parts), *(of_other_schemas() if elsewhere else ())]
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(found))
    assert main(["calibrate", str(bundle), "--config", str(config_file)]) == 0
    said = capsys.readouterr().out
    assert " nan" not in said
    assert ("u was NOT fitted" in said) == (MADE not in parts)
    json.loads((bundle / CONFIG).read_text(encoding="utf-8"), parse_constant=pytest.fail)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parser = fastsql.load(bundle, device="python")
    assert [item.category for item in caught] == [fastsql.CalibrationWarning] * (MADE not in parts)
    result = parser.parse("How many items are there?", SCHEMA)
    assert "calibrated" not in result.reason
    assert result.threshold is not None


@pytest.mark.parametrize("observed", [[], [replace(item, right=False) for item in observations()]])
def test_what_cannot_be_fitted_leaves_the_bundle_alone(
    bundle: Path,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    observed: list[Observation],
) -> None:
    before = {path.name: path.read_bytes() for path in bundle.iterdir()}
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observed))
    assert main(["calibrate", str(bundle), "--config", str(config_file)]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("fastsql: calibration: ")
    assert {path.name: path.read_bytes() for path in bundle.iterdir()} == before


def test_without_questions_held_out_nothing_is_parsed(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: pytest.fail("questions were parsed"))
    with pytest.raises(CalibrationError, match="no question with an answer was held out"):
        calibrate(bundle, config, replace(corpus, dev_templates=(), dev_examples=()))


def test_turns_alone_may_be_fitted_again(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CalibrationError, match="never calibrated"):
        calibrate_turns(bundle, config, corpus)
    seen = [*observations(), *of_other_schemas()]
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(seen))
    before = calibrate(bundle, config, corpus)
    turns = [
        TurnObservation(Evidence(sequence=place % 7 - 3.0), right=place % 7 + shift > 3, part=part)
        for part, shift in ((FOREIGN, -1), (EVERYDAY, 1))
        for place in range(210)
    ]
    monkeypatch.setattr(module, "observe_turns", lambda *_args, **_options: tuple(turns))
    kept = (bundle / CONFIG).read_bytes()
    figures = calibrate_turns(bundle, config, corpus, store=False)
    assert {part: found["count"] for part, found in figures.items()} == {EVERYDAY: 210, FOREIGN: 210}
    assert (bundle / CONFIG).read_bytes() == kept
    calibrate_turns(bundle, config, corpus)
    settings = open_bundle(bundle).config.settings["reliability"]
    stored = Reliability.from_settings({**open_bundle(bundle).config.settings}, D)
    assert stored.elsewhere is not None
    assert stored.turns is not None
    assert stored.elsewhere.turns is not None
    assert stored.turns != stored.elsewhere.turns
    without = replace(stored, turns=None, elsewhere=replace(stored.elsewhere, turns=None))
    assert without.to_settings() == before.reliability.to_settings()
    assert settings["figures"]["turns"] == figures


def test_what_is_over_schemas_never_seen_may_be_fitted_again(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CalibrationError, match="never calibrated"):
        calibrate_elsewhere(bundle, config, corpus)
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    calibrate(bundle, config, corpus)
    with pytest.raises(CalibrationError, match="no probabilities over schemas never seen"):
        calibrate_elsewhere(bundle, config, corpus)
    seen = [*observations(), *of_other_schemas()]
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(seen))
    before = calibrate(bundle, config, corpus)

    def observe_others(
        _bundle: object, _config: object, questions: Sequence[Question], **_: object
    ) -> object:
        assert {one.part for one in questions} <= {FOREIGN, FOREIGN_MADE}
        return (*observations(), *seconded())  # as a file of all that is observed has them

    turns = [
        TurnObservation(
            Evidence(sequence=place % 7 - 3.0, rating=place % 5 - 2.2), place % 7 > 3, part=FOREIGN
        )
        for place in range(210)
    ]
    monkeypatch.setattr(module, "observe", observe_others)
    monkeypatch.setattr(
        module, "observe_turns", lambda *_args, foreign, **_options: tuple(turns) if foreign else ()
    )
    monkeypatch.setattr(module, "bundled_models", lambda _tokenizer: MODELS)
    kept = (bundle / CONFIG).read_bytes()
    calibrate_elsewhere(bundle, config, corpus, conversations=corpus, store=False)
    assert (bundle / CONFIG).read_bytes() == kept
    found = calibrate_elsewhere(bundle, config, corpus, conversations=corpus)
    stored = Reliability.from_settings(open_bundle(bundle).config.settings, D)
    assert stored.elsewhere is not None
    assert stored.elsewhere.second is not None
    assert stored.elsewhere.second.models == MODELS
    assert stored.elsewhere.second.turns is not None
    assert {"rating", "sequence"} <= stored.elsewhere.second.turns.right.weights.keys()
    assert stored.elsewhere.turns is not None
    assert not {"rating"} & stored.elsewhere.turns.right.weights.keys()
    whole = calibration([*observations(), *seconded()], Familiarity(), second=MODELS).reliability.elsewhere
    assert whole is not None
    assert whole.second is not None
    assert stored.elsewhere.second.judge.right.weights == pytest.approx(
        whole.second.judge.right.weights, abs=1e-4
    )
    assert stored.elsewhere.known == before.reliability.elsewhere.known  # type: ignore[union-attr]
    calibrate_elsewhere(bundle, config, corpus)
    again = Reliability.from_settings(open_bundle(bundle).config.settings, D).elsewhere
    assert again is not None
    assert (again.turns, again.second) == (stored.elsewhere.turns, stored.elsewhere.second), (
        "turns are left as they are"
    )
    assert stored.doubted is None, "what others say is worth something else"
    told = calibration([*doubted(), *seconded()], Familiarity(), second=MODELS).reliability
    opened = open_bundle(bundle)
    asking = replace(stored, doubted=told.doubted).to_settings()
    write_settings(with_settings(opened, {SETTING: {**opened.config.settings[SETTING], **asking}}))
    kept_judges = calibrate_elsewhere(bundle, config, corpus).reliability.to_settings()["doubted"]
    assert kept_judges == told.to_settings()["doubted"]
    monkeypatch.setattr(module, "bundled_models", lambda _tokenizer: replace(MODELS, reranker="newer"))
    assert calibrate_elsewhere(bundle, config, corpus, store=False).reliability.doubted is None
    without = replace(stored, elsewhere=before.reliability.elsewhere)
    assert without.to_settings() == before.reliability.to_settings()
    assert found.figures["ece"] == before.figures["ece"]
    assert found.figures["elsewhere"] != before.figures["elsewhere"]
    assert found.figures["turns"][FOREIGN]["count"] == 210
    assert "schemas never seen: ECE" in describe(found)


def test_what_is_held_out_alone_is_of_few_sources(config: TrainConfig, tmp_path: Path) -> None:
    (source,) = config.data.sources
    file = tmp_path / "held_out.json"
    file.write_text(json.dumps({"templates": [], "examples": [], "databases": ["elsewhere"]}))
    assert held_out_alone(replace(config, data=replace(config.data, held_out=str(file)))).data.sources == ()
    file.write_text(json.dumps({"templates": [], "examples": [], "databases": ["ward"]}))
    found = held_out_alone(replace(config, data=replace(config.data, held_out=str(file)))).data
    assert found.sources == (source,)
    assert (found.made.schemas, found.written.pairs, found.written.hospital_weight) == (0, 0, 0)
    assert held_out_alone(config).data.sources == ()


def test_what_says_that_turns_cannot_be_fitted(
    bundle: Path,
    config: TrainConfig,
    corpus: Corpus,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["calibrate", str(bundle), "--config", str(config_file), "--turns"]
    assert main(command) == 2
    assert "never calibrated" in capsys.readouterr().err, "before anything is read"
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    calibrate(bundle, config, corpus)
    assert main(command) == 2
    assert "has no conversations" in capsys.readouterr().err
    assert main([*command, "--table"]) == 2
    assert "--table is about" in capsys.readouterr().err
    assert main([*command, "--elsewhere"]) == 2
    assert "--elsewhere is about" in capsys.readouterr().err
    assert main([*command[:-1], "--elsewhere", "--folds", "x"]) == 2
    assert "--folds is about" in capsys.readouterr().err


def test_settings_that_no_parser_could_read_are_not_stored(bundle: Path) -> None:
    before = (bundle / CONFIG).read_bytes()
    opened = with_settings(
        open_bundle(bundle), {"reliability": {"right": {"weights": {"sequence": float("nan")}}}}
    )
    with pytest.raises(ModelError, match="a weight is not a number"):
        write_settings(opened)
    assert (bundle / CONFIG).read_bytes() == before


def test_observations_of_another_model_are_refused(
    bundle: Path, config: TrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    before = (bundle / CONFIG).read_bytes()
    wider = [replace(item, state=np.zeros(D + 1, dtype=np.float32)) for item in observations()]
    save_observations(wider, tmp_path / "observed.json.gz")
    with pytest.raises(CalibrationError, match="of another model"):
        calibrate(bundle, config, corpus, observations=tmp_path / "observed.json.gz")
    assert (bundle / CONFIG).read_bytes() == before


def test_the_figures_can_be_read() -> None:
    text = describe(calibration(observations(), Familiarity()))
    assert "cross-fitted: ECE 0." in text
    assert re.search(r"ECE 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)", text), "with its interval"
    assert "answers inspected: ECE 0." in text
    assert "with numbers as written" in text
