"""Whole runs on the ward: seconds each, with the same code as the long ones."""

from __future__ import annotations

import json
import pickletools
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

import fastsql  # noqa: E402
from fastsql.cli.main import main  # noqa: E402
from fastsql.errors import ModelError  # noqa: E402
from fastsql.model import open_bundle  # noqa: E402
from fastsql.model.bundle import CONFIG, write_manifest  # noqa: E402
from fastsql.training import train  # noqa: E402
from fastsql.training.bundles.export import load_trained  # noqa: E402
from fastsql.training.bundles.renumber import UNLEARNED, renumbered  # noqa: E402
from fastsql.training.bundles.weights import bundle_weights  # noqa: E402
from fastsql.training.config import ObjectiveSettings, TrainConfig  # noqa: E402
from fastsql.training.corpus.corpus import load_corpus  # noqa: E402
from fastsql.training.corpus.split import HeldOut  # noqa: E402
from fastsql.training.network import model  # noqa: E402
from fastsql.training.runs import run as run_module  # noqa: E402
from fastsql.training.runs.checkpoint import BEST, LAST, CheckpointError, load_checkpoint  # noqa: E402
from fastsql.training.runs.curves import CURVES, draw_curves, read_metrics  # noqa: E402
from fastsql.training.runs.run import TrainingError, TrainResult  # noqa: E402

SEARCHED, CHECKED = 3, 40
"""What the finished run compares."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def run(config: TrainConfig, output: Path, **options: Any) -> TrainResult:
    return train(config, output, threads=1, device="cpu", loaders=0, quiet=True, **options)


pytestmark = [
    pytest.mark.filterwarnings("ignore::fastsql.CalibrationWarning"),
    pytest.mark.usefixtures("few_searches"),
]


@pytest.fixture(scope="module")
def finished(config: TrainConfig, made_once: Callable[..., Path]) -> Path:
    """The folder of a run that has ended, only to be read."""

    def train_whole(output: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_module, "CHECKED", CHECKED)
            patch.setattr(run_module, "SEARCHED", SEARCHED)
            patch.setattr(run_module, "draw_curves", draw_curves)
            assert run(config, output).finished

    return made_once("run", train_whole)


def test_a_run_leaves_checkpoints_metrics_and_a_bundle(finished: Path, config: TrainConfig) -> None:
    assert {path.name for path in finished.iterdir()} >= {
        LAST,
        BEST,
        "metrics.jsonl",
        CURVES,
        "bundle",
        "cache",
    }
    rows = read_metrics(finished)
    assert [row["kind"] for row in rows].count("epoch") == 2
    bundle = open_bundle(finished / "bundle")
    assert bundle.config.name == config.name
    assert ["items", "label", ["daily weight"]] in bundle.config.settings["lexicon"]


def test_a_run_that_has_ended_says_how_its_bundle_is_calibrated(
    config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    short = replace(config, schedule=replace(config.schedule, epochs=0.1))
    with pytest.warns(fastsql.CalibrationWarning, match="bundle is not calibrated") as caught:
        run(short, tmp_path, cache=cache)
    assert f"fastsql calibrate {tmp_path / 'bundle'} --config" in str(caught[0].message)
    (row,) = [row for row in read_metrics(tmp_path) if row["kind"] == "train"]
    assert row["loss"] > 0, "a run of a step or two has a point on every curve"


def test_the_bundle_decides_as_the_trained_model_does(finished: Path) -> None:
    (row,) = [row for row in read_metrics(finished) if row["kind"] == "export"]
    assert row["same"] == row["examples"] > 0
    assert row["worst"] < 1e-3
    assert row["searches_same"] + row["searches_near"] == min(row["examples"], SEARCHED)
    assert row["searches_same"] > 0


@pytest.mark.parametrize("asked", [0.0, 0.5], ids=["decisions alone", "roles and pruning, too"])
def test_a_run_resumed_ends_as_if_it_had_never_stopped(
    config: TrainConfig, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: float
) -> None:
    config = replace(config, objectives=ObjectiveSettings(asked, asked))
    # Texts of schema values are encoded every so many batches, counted anew after a resume.
    monkeypatch.setattr(model, "VALUE_REFRESH", 1)
    assert run(config, tmp_path / "whole", cache=cache).finished
    steps = 0
    original = run_module.Run._advance

    def stop_after_three(self: Any, delivery: Any) -> None:
        nonlocal steps
        original(self, delivery)
        steps += 1
        if steps == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_module.Run, "_advance", stop_after_three)
        assert not run(config, tmp_path / "parts", cache=cache).finished
    assert run(config, tmp_path / "parts", resume=True, cache=cache).finished
    whole, parts = (load_checkpoint(tmp_path / name / LAST)["ema"] for name in ("whole", "parts"))
    for name, tensor in whole.items():
        torch.testing.assert_close(parts[name], tensor, msg=name)


@pytest.mark.usefixtures("weights_alone")
def test_gradients_of_several_batches_make_one_step(config: TrainConfig, cache: Path, tmp_path: Path) -> None:
    twice = replace(config, optim=replace(config.optim, accumulate=2))
    assert run(twice, tmp_path, cache=cache).finished
    state = load_checkpoint(tmp_path / LAST)
    batches = state["position"]["step"]
    assert batches >= 4
    assert state["ema_steps"] == batches // 2


def test_without_relations_the_graph_never_learns_any(
    config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    blind = replace(config, model=replace(config.model, relations=False))
    assert run(blind, tmp_path, cache=cache).finished
    weights = load_checkpoint(tmp_path / LAST)["ema"]
    relations = [tensor for name, tensor in weights.items() if "relation_" in name]
    assert relations
    assert all(not tensor.any() for tensor in relations)


@pytest.mark.usefixtures("weights_alone")
def test_another_seed_gives_another_model(
    finished: Path, config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    short = replace(config, schedule=replace(config.schedule, epochs=1.0))
    run(short, tmp_path, seed=8, cache=cache)
    one, other = (load_checkpoint(folder / LAST)["ema"] for folder in (finished, tmp_path))
    assert not torch.equal(one["token_in.weight"], other["token_in.weight"])


@pytest.mark.usefixtures("weights_alone")
def test_the_order_of_the_examples_has_a_seed_of_its_own(
    config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    def weights(order_seed: int) -> torch.Tensor:
        schedule = replace(config.schedule, epochs=0.2, order_seed=order_seed)
        run(replace(config, schedule=schedule), tmp_path / str(order_seed), cache=cache)
        return load_checkpoint(tmp_path / str(order_seed) / LAST)["ema"]["token_in.weight"]

    of_the_run = weights(0)
    assert torch.equal(weights(config.seed), of_the_run)
    assert not torch.equal(weights(config.seed + 1), of_the_run)


@pytest.mark.usefixtures("weights_alone")
def test_a_run_starts_warm_from_a_bundle(
    finished: Path, config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    still = replace(config.optim, rate=0.0, encoder_rate=0.0)
    short = replace(config, schedule=replace(config.schedule, epochs=0.2), optim=still)
    run(short, tmp_path, warm_start=finished / "bundle", cache=cache)
    cold, warm = (load_checkpoint(folder / LAST)["ema"]["token_in.weight"] for folder in (finished, tmp_path))
    torch.testing.assert_close(warm, cold, atol=0.01, rtol=0.0)


def test_further_layers_change_nothing_until_they_have_learnt(
    finished: Path, config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    deeper = replace(config.model, joint_layers=config.model.joint_layers + 2)
    still = replace(config.optim, rate=0.0, encoder_rate=0.0)
    short = replace(config, model=deeper, schedule=replace(config.schedule, epochs=0.2), optim=still)
    run(short, tmp_path, warm_start=finished / "bundle", cache=cache)
    before, after = (load_trained(folder / "bundle") for folder in (finished, tmp_path))
    assert len(after.graph) == len(before.graph) + 2
    rows = torch.randn(1, 5, before.config.d)
    relations = torch.zeros(1, 1, 5, 5, dtype=torch.int64)
    for layer in after.graph[len(before.graph) :]:
        read = layer.read_schema(rows, layer._project(rows), relations)
        torch.testing.assert_close(layer.schema_without_question(read), rows, atol=0, rtol=0)
        torch.testing.assert_close(layer.qkv.weight, before.graph[-1].qkv.weight, atol=0.01, rtol=0.0)


@pytest.mark.usefixtures("weights_alone")
def test_a_warm_start_leaves_out_what_is_to_be_fresh(
    finished: Path, config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    still = replace(config.optim, rate=0.0, encoder_rate=0.0)
    short = replace(config, schedule=replace(config.schedule, epochs=0.2), optim=still, seed=8)
    run(short, tmp_path, warm_start=finished / "bundle", fresh=["graph."], cache=cache)
    cold, warm = (load_checkpoint(folder / LAST)["ema"] for folder in (finished, tmp_path))
    torch.testing.assert_close(warm["token_in.weight"], cold["token_in.weight"], atol=0.01, rtol=0.0)
    assert not torch.allclose(warm["graph.0.qkv.weight"], cold["graph.0.qkv.weight"], atol=0.01)


def test_a_warm_start_follows_the_names_of_a_grammar_that_has_changed(finished: Path, tmp_path: Path) -> None:
    bundle = shutil.copytree(finished / "bundle", tmp_path / "older")
    settings = json.loads((bundle / CONFIG).read_text(encoding="utf-8"))
    productions = settings["productions"]
    # As if the bundle had been trained when its first and third production stood elsewhere and the second was not known.
    settings["productions"] = [productions[2], "forgotten", productions[0], *productions[3:]]
    (bundle / CONFIG).write_text(json.dumps(settings), encoding="utf-8")
    write_manifest(bundle)
    before = load_trained(bundle).state_dict()
    new = {name: torch.full_like(tensor, 7.0) for name, tensor in before.items()}
    moved = renumbered(bundle, new)
    for name in ("decoder.production.weight", "decoder.production_scores.bias"):
        torch.testing.assert_close(moved[name][0], before[name][2])
        torch.testing.assert_close(moved[name][1], new[name][1])
        torch.testing.assert_close(moved[name][2], before[name][0])
        torch.testing.assert_close(moved[name][3:], before[name][3:])


def test_a_bundle_is_carried_over_to_a_grammar_that_has_grown(finished: Path, tmp_path: Path) -> None:
    older = shutil.copytree(finished / "bundle", tmp_path / "older")
    settings = json.loads((older / CONFIG).read_text(encoding="utf-8"))
    known = settings["productions"]
    settings["productions"] = ["forgotten", *known[1:]]
    (older / CONFIG).write_text(json.dumps(settings), encoding="utf-8")
    write_manifest(older)
    with pytest.raises(ModelError, match="its productions are not those"):
        fastsql.load(older)
    assert main(["renumber", str(older), "--output", str(tmp_path / "newer")]) == 0
    fastsql.load(tmp_path / "newer")
    before, after = (bundle_weights(tmp_path / name) for name in ("older", "newer"))
    assert float(after["decoder.production_scores.bias"][0]) == UNLEARNED
    assert not after["decoder.production_scores.weight"][0].any()
    for name, weight in before.items():
        first = 1 if name in ("decoder.production.weight", "decoder.parent.weight") else 0
        first = 1 if name.startswith("decoder.production_scores") else first
        torch.testing.assert_close(after[name][first:], weight[first:], msg=name)
    assert main(["renumber", str(tmp_path / "none"), "--output", str(tmp_path / "x")]) == 2


def test_a_run_writes_what_it_held_out_and_another_holds_out_the_same(
    finished: Path, config: TrainConfig, cache: Path
) -> None:
    first = HeldOut.load(finished / run_module.HELD_OUT)
    data = replace(config.data, held_out=str(finished / run_module.HELD_OUT))
    corpus = load_corpus(data, 99, cache)
    assert {sample.pair.key for sample in corpus.dev_templates} == first.templates
    assert {sample.pair.key for sample in corpus.dev_examples} <= first.examples


def test_a_run_is_not_overwritten(finished: Path, config: TrainConfig) -> None:
    with pytest.raises(TrainingError, match="already holds a run"):
        run(config, finished)


def test_a_checkpoint_of_other_sizes_is_refused(finished: Path, config: TrainConfig) -> None:
    wider = replace(config, model=replace(config.model, d=32))
    with pytest.raises(TrainingError, match="other sizes"):
        run(wider, finished, resume=True)


def test_there_must_be_something_to_resume(config: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint"):
        run(config, tmp_path, resume=True)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04 torn"])
def test_a_damaged_checkpoint_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / LAST).write_bytes(content)
    with pytest.raises(CheckpointError, match=LAST):
        load_checkpoint(tmp_path / LAST)


def test_a_checkpoint_names_no_class_of_ours(finished: Path) -> None:
    """Else it would load only as long as the class stays in its file."""
    for checkpoint in (LAST, BEST):
        with zipfile.ZipFile(finished / checkpoint) as file:
            (name,) = (name for name in file.namelist() if name.endswith("/data.pkl"))
            operations = list(pickletools.genops(file.read(name)))
        modules = {
            str(value).partition(" ")[0] for operation, value, _ in operations if operation.name == "GLOBAL"
        }
        assert "torch._utils" in modules
        assert {module.partition(".")[0] for module in modules} <= {"torch", "collections"}
        assert not any(operation.name == "STACK_GLOBAL" for operation, _, _ in operations)


def test_a_missing_gpu_is_named(config: TrainConfig, tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("runs where there is no CUDA device")
    with pytest.raises(TrainingError, match="no CUDA device"):
        train(config, tmp_path, device="cuda", loaders=0, quiet=True)


def test_a_loss_that_stays_infinite_ends_the_run(
    config: TrainConfig, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "BAD_STEPS", 2)
    monkeypatch.setattr(run_module.Run, "_step", lambda self, delivery, fraction: float("nan"))
    with pytest.raises(TrainingError, match="no finite loss"):
        run(config, tmp_path, cache=cache)


def test_a_checkpoint_is_exported_from_the_command_line(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(finished / LAST), "--output", str(tmp_path / "bundle")]) == 0
    assert open_bundle(tmp_path / "bundle").config.settings["training"]["epochs"] == 2.0
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 'bundle'}\n"
    assert "never calibrated" in told.err
    assert main(["export", str(tmp_path / "none.pt"), "--output", str(tmp_path / "x")]) == 2
    assert "there is no checkpoint" in capsys.readouterr().err
