"""A bundle is checked before it is used, and what is wrong is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from fastsql.errors import ModelError
from fastsql.model import bundle as bundle_module
from fastsql.model import load_bundle, open_bundle
from fastsql.model.bundle import CARD, CONFIG, ENCODER, LISTED, MANIFEST, TOKENIZER, WEIGHTS, write_manifest
from fastsql.model.weights import dequantise, quantise

from ..worlds.toy_model import make_config, write_bundle


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("sound"), make_config())


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "toy"))


def change_config(folder: Path, **entries: object) -> None:
    content = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**content, **entries}))
    write_manifest(folder)


def change_model(folder: Path, **entries: object) -> None:
    model = json.loads((folder / CONFIG).read_text())["model"]
    change_config(folder, model={**model, **entries})


def change_weights(folder: Path, change: Callable[[dict[str, np.ndarray]], object]) -> None:
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)
    write_manifest(folder)


def test_a_sound_bundle_tells_its_configuration(sound: Path) -> None:
    config = open_bundle(sound).config
    assert config.name == "toy"
    assert config.model == make_config()
    assert config.settings == {"note": "toy"}
    assert len(config.productions) == config.model.n_productions


@pytest.mark.parametrize("name", [*LISTED, MANIFEST])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name):
        load_bundle(folder)


@pytest.mark.parametrize("name", [*LISTED, MANIFEST])
def test_a_truncated_file_is_named(folder: Path, name: str) -> None:
    (folder / name).write_bytes((folder / name).read_bytes()[:-3])
    with pytest.raises(ModelError, match=name):
        load_bundle(folder)


@pytest.mark.parametrize("name", LISTED)
def test_a_changed_byte_is_noticed(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelError, match=f"{name}.*SHA-256"):
        load_bundle(folder)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, TOKENIZER, ENCODER, CARD, MANIFEST])
def test_an_oversized_file_is_not_read(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bundle_module.LARGEST, name, 5)
    with pytest.raises(ModelError, match=f"{name}.*bytes"):
        load_bundle(folder)


@pytest.mark.parametrize("content", ["", "[]", "{", "nonsense", '{"format_version": 1}', "[" * 10_000])
@pytest.mark.parametrize("name", [CONFIG, MANIFEST])
def test_json_that_is_not_ours_is_refused(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    if name != MANIFEST:
        write_manifest(folder)
    with pytest.raises(ModelError, match=name):
        load_bundle(folder)


def test_a_bundle_of_another_format_version_is_refused(folder: Path) -> None:
    change_config(folder, format_version=99)
    with pytest.raises(ModelError, match="99"):
        load_bundle(folder)


def test_a_bundle_of_other_relations_is_refused(folder: Path) -> None:
    change_config(folder, relations=["none"])
    with pytest.raises(ModelError, match="relations"):
        load_bundle(folder)


@pytest.mark.parametrize(
    "entries",
    [
        {"d": 17},
        {"d": -1},
        {"d": "16"},
        {"d": True},
        {"heads": 0},
        {"n_productions": 8},
        {"encoder": {}},
        {"encoder": None},
        {"encoder": {"hidden": 10**9}},
        {"unknown": 1},
        {"ffn": 999_999},
        {"cached_layers": 1_000},
    ],
)
def test_impossible_or_contradicting_sizes_are_refused_before_anything_is_allocated(
    folder: Path, entries: dict[str, object]
) -> None:
    change_model(folder, **entries)
    with pytest.raises(ModelError):
        load_bundle(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("graph_norm.bias"), "'graph_norm.bias' is missing"),
        (lambda tensors: tensors.update(extra=np.zeros(1, np.float32)), "'extra' is unknown"),
        (lambda tensors: tensors.update({"graph_norm.bias": np.zeros(3, np.float32)}), "graph_norm.bias"),
        (lambda tensors: tensors.update({"graph_norm.bias": np.zeros(16, np.float64)}), "F64"),
        (lambda tensors: tensors.pop("encoder.word.weight.scale"), r"encoder\.word\.weight"),
        (lambda tensors: tensors.update({"encoder.word.weight.scale": np.zeros(1, np.float32)}), "scale"),
    ],
)
def test_weights_that_do_not_fit_are_named(
    folder: Path, change: Callable[[dict[str, np.ndarray]], object], message: str
) -> None:
    change_weights(folder, change)
    with pytest.raises(ModelError, match=message):
        load_bundle(folder)


def test_weights_that_are_no_safetensors_are_refused(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(b"\xff" * 100)
    write_manifest(folder)
    with pytest.raises(ModelError, match=WEIGHTS):
        load_bundle(folder)


def test_an_encoder_that_is_no_graph_is_named(folder: Path) -> None:
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' runs this")
    with pytest.raises(ModelError, match=ENCODER):
        load_bundle(folder, encoder="onnx")


def test_a_missing_onnx_runtime_is_named_with_its_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    load_bundle(folder, encoder="auto")
    with pytest.raises(ModelError, match=r"fastsql\[cpu\]"):
        load_bundle(folder, encoder="onnx")


def test_an_unknown_encoder_and_a_missing_folder_say_what_to_do(folder: Path) -> None:
    with pytest.raises(ModelError, match="numpy"):
        load_bundle(folder, encoder="tensorflow")
    with pytest.raises(ModelError, match="no such model bundle"):
        load_bundle(folder / "nowhere")


@pytest.mark.parametrize("most", [127, 31])
def test_quantising_keeps_every_row_within_half_a_step(most: int) -> None:
    weight = np.random.default_rng(0).normal(size=(6, 50)).astype(np.float32)
    weight[2] = 0
    quantised, scale = quantise(weight, most)
    assert np.abs(quantised).max(axis=1).tolist() == [most, most, 0, most, most, most]
    assert np.abs(dequantise(quantised, scale) - weight).max() <= scale.max() / 2 + 1e-6
    assert not dequantise(quantised, scale)[2].any()
