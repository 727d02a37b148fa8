"""What is wrong with a run is said before anything takes long, in one line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.cli.main import main
from fastsql.errors import ModelError
from fastsql.model.bundle import TOKENIZER, manifest_digest, open_bundle, write_manifest
from fastsql.training import ConfigError, load_config, train
from fastsql.training.config import TrainConfig
from fastsql.training.corpus import corpus as corpus_module
from fastsql.training.network import pretrained
from fastsql.training.runs import loop
from fastsql.training.runs import run as run_module
from fastsql.training.runs.ready import TrainingError, check_ready

from ...worlds.training_ward import write_data
from ..untrained import write_untrained

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
MadeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="module")
def bundle(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the ward, only to be read."""
    return write_untrained(config, tmp_path_factory.mktemp("bundles") / "ward-en")


@pytest.fixture
def nothing_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading data and building a model are the work that checks must come before."""

    def too_late(*_args: Any, **_options: Any) -> Any:
        pytest.fail("the checks come too late")

    monkeypatch.setattr(loop, "load_corpus", too_late)
    monkeypatch.setattr(loop, "Run", too_late)


def run(config: TrainConfig, output: Path, **options: Any) -> Any:
    return train(config, output, threads=1, device="cpu", loaders=0, quiet=True, **options)


def with_model(config: TrainConfig, **sizes: Any) -> TrainConfig:
    return replace(config, model=replace(config.model, **sizes))


def write_config(config: TrainConfig, file: Path, examples: Path | None = None) -> Path:
    """The ward's configuration as a file."""
    (source,) = config.data.sources
    file.write_text(
        f'name = "ward-en"\n[data]\ndev_templates = 0.0\ndev_examples = 0.0\n[[data.sources]]\n'
        f'examples = "{examples or source.examples}"\nschemas = "{source.schemas}"\n'
        f'[model]\nd = 16\nheads = 2\nffn = 16\nencoder = "{config.model.encoder}"\n'
        f"[schedule]\nepochs = 1.0\n",
        encoding="utf-8",
    )
    return file


# ---------------------------------------------------------------- what a run starts warm from


def test_a_warm_start_takes_a_bundled_models_name_or_a_folder(
    config: TrainConfig, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.parser.bundles.BUNDLED", bundle.parent)
    monkeypatch.setattr("fastsql.parser.bundles.MANIFESTS", {"ward-en": manifest_digest(bundle)})
    for name in ("ward-en", str(bundle), bundle):
        found = check_ready(config, name)
        assert found is not None
        assert found.path == bundle
    assert check_ready(config) is None


def test_the_bundled_model_fits_the_configuration_that_it_was_trained_by(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip(pretrained.DEFAULT, reason="pip install '.[train]' runs this")
    monkeypatch.setattr("fastsql.training.runs.ready.check_files", lambda _: None)
    found = check_ready(load_config(CONFIGS / "ehr-en.toml"), "ehr-en")
    assert found is not None
    assert found.config.name == "ehr-en"


@pytest.mark.usefixtures("few_searches")
def test_a_run_starts_from_a_bundled_models_name(
    config: TrainConfig, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.parser.bundles.BUNDLED", bundle.parent)
    monkeypatch.setattr("fastsql.parser.bundles.MANIFESTS", {"ward-en": manifest_digest(bundle)})
    started: list[Path] = []
    monkeypatch.setattr(run_module.Run, "warm_start", lambda _, folder, fresh: started.append(folder))
    short = replace(config, schedule=replace(config.schedule, epochs=0.1))
    with pytest.warns(UserWarning, match="not calibrated"):
        run(short, tmp_path / "run", warm_start="ward-en")
    assert started == [bundle]


@pytest.mark.parametrize("layers", [-1, 99])
def test_layers_that_the_encoder_lacks_cannot_be_frozen(config: TrainConfig, layers: int) -> None:
    with pytest.raises(ConfigError, match=r"model\.frozen_layers.* is .*the encoder has"):
        check_ready(with_model(config, frozen_layers=layers))


@pytest.mark.usefixtures("nothing_takes_long")
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        pytest.param({"d": 32}, "model.d is 32 in this run and 16 in the bundle", id="d"),
        pytest.param({"heads": 4}, "model.heads is 4 in this run and 2 in the bundle", id="heads"),
        pytest.param({"ffn": 8}, "model.ffn is 8 in this run and 16 in the bundle", id="ffn"),
        pytest.param({"d": 8, "heads": 1}, "model.d is 8 in this run and 16 in the bundle", id="fewer heads"),
    ],
)
def test_a_bundle_of_other_sizes_is_refused_before_anything_takes_long(
    config: TrainConfig, bundle: Path, tmp_path: Path, sizes: dict[str, int], message: str
) -> None:
    with pytest.raises(TrainingError, match=message):
        run(with_model(config, **sizes), tmp_path / "run", warm_start=bundle)
    assert not (tmp_path / "run").exists()


def test_a_bundle_of_another_number_of_layers_fits(config: TrainConfig, bundle: Path) -> None:
    assert check_ready(with_model(config, joint_layers=3, decoder_layers=1), bundle) is not None


@pytest.mark.parametrize("sizes", [{"d": 32, "heads": 4}, {"ffn": 32}, {"d": 24, "heads": 3, "ffn": 24}])
def test_a_narrower_bundle_fits_where_heads_are_as_large(
    config: TrainConfig, bundle: Path, sizes: dict[str, int]
) -> None:
    assert check_ready(with_model(config, **sizes), bundle) is not None


@pytest.mark.usefixtures("nothing_takes_long")
def test_a_bundle_of_another_encoder_is_refused(
    config: TrainConfig, bundle: Path, tmp_path: Path, made_once: MadeOnce
) -> None:
    encoder = Path(shutil.copytree(config.model.encoder, tmp_path / "encoder"))
    sizes = json.loads((encoder / "config.json").read_text(encoding="utf-8"))
    (encoder / "config.json").write_text(json.dumps({**sizes, "num_attention_heads": 4}), encoding="utf-8")
    with pytest.raises(TrainingError, match="heads of the encoder is 4 in this run and 2 in the bundle"):
        run(with_model(config, encoder=str(encoder)), tmp_path / "run", warm_start=bundle)
    (encoder / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="does not tell the sizes of a BERT model"):
        run(with_model(config, encoder=str(encoder)), tmp_path / "run")


@pytest.mark.usefixtures("nothing_takes_long")
def test_a_bundle_with_other_tokens_is_refused(config: TrainConfig, bundle: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(bundle, tmp_path / "other"))
    tokenizer = json.loads((other / TOKENIZER).read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary["aspirin"], vocabulary["heparin"] = vocabulary["heparin"], vocabulary["aspirin"]
    (other / TOKENIZER).write_text(json.dumps(tokenizer), encoding="utf-8")
    write_manifest(other)
    with pytest.raises(TrainingError, match="its tokens are not those of the encoder") as caught:
        run(config, tmp_path / "run", warm_start=other)
    assert "--fresh encoder.word.weight" in str(caught.value)


def test_words_of_another_language_may_be_fresh(config: TrainConfig, bundle: Path, tmp_path: Path) -> None:
    encoder = Path(shutil.copytree(config.model.encoder, tmp_path / "encoder"))
    tokenizer = json.loads((encoder / TOKENIZER).read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["患者"] = len(tokenizer["model"]["vocab"])
    (encoder / TOKENIZER).write_text(json.dumps(tokenizer), encoding="utf-8")
    sizes = json.loads((encoder / "config.json").read_text(encoding="utf-8"))
    sizes["vocab_size"] += 1
    (encoder / "config.json").write_text(json.dumps(sizes), encoding="utf-8")
    chinese = with_model(config, encoder=str(encoder))
    with pytest.raises(TrainingError, match="vocabulary of the encoder"):
        check_ready(chinese, bundle)
    found = check_ready(chinese, bundle, fresh=["encoder.word"])
    assert found is not None
    assert found.path == bundle


def test_fresh_words_are_known_on_the_command_line(
    config: TrainConfig, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr("fastsql.training.runs.ready.check_ready", lambda *given, files: asked.append(given))
    monkeypatch.setattr(
        "fastsql.training.train", lambda *_, **__: loop.TrainResult(tmp_path, 0.0, 0.0, None, False)
    )
    file = str(write_config(config, tmp_path / "ward.toml"))
    command = ["train", file, "--output", str(tmp_path / "run"), "--warm-start", str(bundle)]
    assert main([*command, "--fresh", "encoder.word"]) == 0
    assert asked[0][1:] == (str(bundle), ["encoder.word"])


@pytest.mark.usefixtures("nothing_takes_long")
@pytest.mark.parametrize("name", ["ehr-xx", "nowhere/bundle"])
def test_a_bundle_that_is_not_there_is_named(config: TrainConfig, tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match=f"model '{name}': there is no such model") as caught:
        run(config, tmp_path / "run", warm_start=name)
    assert "ehr-en" in caught.value.remedy


@pytest.mark.usefixtures("nothing_takes_long")
def test_an_encoder_that_is_not_installed_is_named(config: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="neither a folder nor an installed package"):
        run(with_model(config, encoder="no_such_encoder"), tmp_path / "run")


def test_the_command_line_says_what_is_wrong_before_pytorch_is_imported(
    config: TrainConfig, tmp_path: Path
) -> None:
    arguments = [
        "train",
        str(write_config(config, tmp_path / "ward.toml")),
        "--output",
        str(tmp_path / "run"),
    ]
    code = (
        "import sys\nfrom fastsql.cli.main import main\n"
        f"status = main({[*arguments, '--warm-start', 'ehr-en']!r})\n"
        "sys.exit(9 if 'torch' in sys.modules else status)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 2, found.stderr
    assert found.stderr == (
        "fastsql: warm start from 'ehr-en': model.d is 16 in this run and 256 in the bundle."
        " Take the bundle's sizes and encoder, such as --set model.d=256, or start without it.\n"
    )
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- what it learns from


@pytest.mark.parametrize("setting", ["examples", "schemas", "database", "values", "report"])
def test_a_data_file_that_is_not_there_is_named_before_any_is_read(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setattr(corpus_module, "read_pairs", lambda *_: pytest.fail("a file was read"))
    (source,) = config.data.sources
    missing = str(tmp_path / "gone.json")
    other = replace(source, **{setting: (missing,) if setting == "report" else missing})
    gone = replace(config, data=replace(config.data, sources=(source, other)))
    with pytest.raises(ConfigError, match=f"{setting} .*gone.json.*there is no such file"):
        run(gone, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        pytest.param("SELECT", "none of 3 examples can be trained on: not convertible: ", id="no SQL"),
        pytest.param(
            "SELECT nothing FROM nowhere", "none of 3 examples can be trained on: ", id="other tables"
        ),
        pytest.param(None, "the sources hold no example with SQL", id="none"),
    ],
)
def test_without_one_example_to_train_on_a_run_ends_with_one_line(
    config: TrainConfig,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    sql: str | None,
    message: str,
) -> None:
    file = tmp_path / "train.json"
    rows = [{"id": str(n), "db_id": "ward", "question": f"zyxwaldo {n}?", "sql": sql} for n in range(3)]
    file.write_text(json.dumps(rows), encoding="utf-8")
    arguments = ["train", write_config(config, tmp_path / "ward.toml", file), "--output", tmp_path / "run"]
    assert main([*map(str, arguments), "--quiet", "--device", "cpu"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"fastsql: data: {message}")
    assert said.count("\n") == 1
    assert "zyxwaldo" not in said


def test_a_run_whose_examples_are_all_held_out_says_so(config: TrainConfig, tmp_path: Path) -> None:
    all_held = replace(config, data=replace(config.data, dev_templates=1.0))
    with pytest.raises(TrainingError, match=r"all \d+ examples that the grammar can express are held out"):
        run(all_held, tmp_path / "run")


def test_a_run_whose_queries_cannot_be_written_from_their_questions_ends_and_says_so(
    config: TrainConfig, tmp_path: Path
) -> None:
    """Their SQL is the grammar's, but for the values, which nobody knows."""
    folder = write_data(tmp_path / "ward")
    rows = [
        {
            "id": str(n),
            "db_id": "ward",
            "question": "Why?",
            "sql": f"SELECT dose FROM prescriptions WHERE drug = 'x{n}'",
        }
        for n in range(9)
    ]
    (folder / "train.json").write_text(json.dumps(rows), encoding="utf-8")
    (source,) = config.data.sources
    blind = replace(source, examples=str(folder / "train.json"), database="", lexicon=False)
    with pytest.raises(TrainingError, match="the query of none of 9 examples can be written") as caught:
        run(
            replace(config, data=replace(config.data, sources=(blind,), dev_templates=0.0, dev_examples=0.0)),
            tmp_path / "run",
        )
    assert "name a database" in caught.value.remedy


# ---------------------------------------------------------------- neighbours


def test_a_bundled_model_is_renumbered_by_its_name(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fastsql.parser.bundles.BUNDLED", bundle.parent)
    monkeypatch.setattr("fastsql.parser.bundles.MANIFESTS", {"ward-en": manifest_digest(bundle)})
    assert main(["renumber", "ward-en", "--output", str(tmp_path / "new")]) == 0
    assert open_bundle(tmp_path / "new").config.name == "ward-en"
    assert capsys.readouterr().out == f"{tmp_path / 'new'}\n"


def test_renumbering_rounds_no_weight_that_was_exact(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_bundle(bundle).weights()
    monkeypatch.setattr("fastsql.training.bundles.export.QUANTISED_ENTRIES", 1)
    assert main(["renumber", str(bundle), "--output", str(tmp_path / "new")]) == 0
    assert "decoder.symbol.weight" not in before.quantised
    assert open_bundle(tmp_path / "new").weights().quantised == before.quantised


def test_an_output_that_is_a_file_is_left_alone(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert main(["renumber", str(bundle), "--output", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith(f"fastsql: {tmp_path / 'file'}: it is not a folder")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_weights_for_turns_are_not_trained_without_conversations(config: TrainConfig) -> None:
    with pytest.raises(ConfigError, match="conversations"):
        check_ready(replace(config, model=replace(config.model, turns=True)))
