"""Weights between a checkpoint's and a bundle's, as `fastsql export --mix` writes them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.cli.main import main  # noqa: E402
from fastsql.errors import ModelError  # noqa: E402
from fastsql.model import open_bundle  # noqa: E402
from fastsql.model.bundle import write_manifest  # noqa: E402
from fastsql.training import train  # noqa: E402
from fastsql.training.bundles.card import model_card, write_card  # noqa: E402
from fastsql.training.bundles.mixing import mixed_weights  # noqa: E402
from fastsql.training.bundles.weights import bundle_weights  # noqa: E402
from fastsql.training.config import TrainConfig  # noqa: E402
from fastsql.training.runs.checkpoint import LAST, export_checkpoint, load_checkpoint  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::fastsql.CalibrationWarning"),
    pytest.mark.usefixtures("no_searches"),
]


@pytest.fixture(scope="module")
def runs(config: TrainConfig, made_once: Callable[..., Path], cache: Path, no_searches: None) -> Path:
    """A run, and one of another seed: `first` and `second`."""

    def train_both(output: Path) -> None:
        short = replace(config, schedule=replace(config.schedule, epochs=0.3))
        for name, seed in (("first", 1), ("second", 2)):
            seeded = replace(short, seed=seed)
            train(seeded, output / name, threads=1, device="cpu", loaders=0, cache=cache, quiet=True)

    return made_once("mixed runs", train_both)


def test_weights_lie_where_the_share_says(runs: Path) -> None:
    state = load_checkpoint(runs / "second" / LAST)
    first = open_bundle(runs / "first" / "bundle")
    others = bundle_weights(first.path)
    own = state["ema"]
    apart = next(name for name in own if not torch.equal(own[name], others[name]))
    for share in (0.0, 0.25, 1.0):
        found = mixed_weights(state, first, share)
        assert found.keys() == own.keys()
        expected = share * own[apart] + (1 - share) * others[apart]
        torch.testing.assert_close(found[apart], expected)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_is_between_none_and_all(runs: Path, share: float) -> None:
    state = load_checkpoint(runs / "second" / LAST)
    with pytest.raises(ValueError, match="from 0 to 1"):
        mixed_weights(state, open_bundle(runs / "first" / "bundle"), share)


def test_a_bundle_of_other_sizes_is_named(runs: Path) -> None:
    state = load_checkpoint(runs / "second" / LAST)
    state["model_config"] = {**state["model_config"], "d": 8}
    with pytest.raises(ModelError, match=r"bundle: has other sizes.*the run was started from"):
        mixed_weights(state, open_bundle(runs / "first" / "bundle"), 0.5)


def test_how_much_was_dropped_in_training_is_no_size(runs: Path) -> None:
    state = load_checkpoint(runs / "second" / LAST)
    state["model_config"] = {**state["model_config"], "dropout": 0.3, "encoder_dropout": 0.2}
    found = mixed_weights(state, open_bundle(runs / "first" / "bundle"), 0.5)
    assert found.keys() == state["ema"].keys()


def test_layers_that_the_bundle_lacks_come_in_by_the_share(runs: Path) -> None:
    state = load_checkpoint(runs / "second" / LAST)
    sizes, layers = (
        state["model_config"],
        len({name.split(".")[1] for name in state["ema"] if "graph." in name}),
    )
    state["model_config"] = {**sizes, "joint_layers": sizes["joint_layers"] + 1}
    added = {
        name.replace(f"graph.{layers - 1}.", f"graph.{layers}."): weight + 1
        for name, weight in state["ema"].items()
        if name.startswith(f"graph.{layers - 1}.")
    }
    state["ema"] = {**state["ema"], **added}
    first = open_bundle(runs / "first" / "bundle")
    found = mixed_weights(state, first, 0.3)
    assert found.keys() == state["ema"].keys()
    torch.testing.assert_close(found[f"graph.{layers}.out.weight"], 0.3 * added[f"graph.{layers}.out.weight"])
    others = bundle_weights(first.path)[f"graph.{layers - 1}.qkv.weight"]
    own = added[f"graph.{layers}.qkv.weight"]
    torch.testing.assert_close(found[f"graph.{layers}.qkv.weight"], 0.3 * own + 0.7 * others)
    state["model_config"] = {**sizes, "joint_layers": sizes["joint_layers"] - 1}
    with pytest.raises(ModelError, match="has other sizes"):
        mixed_weights(state, first, 0.3)


def test_how_a_model_reads_names_is_the_checkpoints(runs: Path, tmp_path: Path) -> None:
    """A bundle from before names were spelled out has the same weights."""
    state = load_checkpoint(runs / "second" / LAST)
    before = tmp_path / "before"
    shutil.copytree(runs / "first" / "bundle", before)
    config = json.loads((before / "config.json").read_text(encoding="utf-8"))
    assert config["model"].pop("spelled_names")
    (before / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_manifest(before)
    assert mixed_weights(state, open_bundle(before), 0.5).keys() == state["ema"].keys()


def test_a_bundle_says_how_it_was_mixed(
    runs: Path, tmp_path: Path, config: TrainConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, first = runs / "second" / LAST, runs / "first" / "bundle"
    arguments = ["export", str(checkpoint), "--output", str(tmp_path / "b"), "--mix", str(first)]
    assert main([*arguments, "--share", "0.3"]) == 0
    said = open_bundle(tmp_path / "b").config.settings["training"]["mixed"]
    assert said["share"] == 0.3
    assert said["with"] == config.name
    capsys.readouterr()
    alone = export_checkpoint(checkpoint, tmp_path / "alone")
    assert "mixed" not in open_bundle(alone).config.settings["training"]
    name = "decoder.production.weight"
    mixed, own, other = (bundle_weights(path)[name] for path in (tmp_path / "b", alone, first))
    torch.testing.assert_close(mixed, 0.3 * own + 0.7 * other, atol=1e-2, rtol=0)


def test_the_card_says_how_a_bundle_was_mixed(runs: Path, tmp_path: Path, config: TrainConfig) -> None:
    folder = export_checkpoint(
        runs / "second" / LAST, tmp_path, mixed_with=runs / "first" / "bundle", share=0.3
    )
    text = model_card(open_bundle(folder), config)
    assert "weights mixed, 30% of this run" in text
    write_card(folder, text)


def test_a_model_that_is_not_there_is_named(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["export", str(runs / "second" / LAST), "--output", str(tmp_path / "b"), "--mix", "nowhere"]
    assert main(arguments) != 0
    assert "nowhere" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()
