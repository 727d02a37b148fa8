"""The file of a reranker: what was written is read, and nothing else."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load, save

from fastsql.errors import ModelError
from fastsql.model import one_file
from fastsql.model.header import kind_of
from fastsql.model.tokenizer import Tokenizer
from fastsql.reranker import open_rater, reranker_digest
from fastsql.reranker import weights as weights_module
from fastsql.reranker.weights import RERANKER, count_weights, read_reranker, save_reranker
from fastsql.reverse.weights import save_reverse

from ..worlds import toy_reverse
from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reranker import make_config, random_weights
from ..worlds.toy_reverse import QUERIES, SCHEMA, program

CONFIG = make_config()
PROGRAMS = [program(sql) for sql in QUERIES]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save_reranker(tmp_path / "weights.safetensors", CONFIG, random_weights(CONFIG), WORDPIECE)


def other_tokenizer() -> Tokenizer:
    described = json.loads(WORDPIECE.json_text)
    described["model"]["vocab"]["new"] = len(described["model"]["vocab"])
    return Tokenizer(json.dumps(described))


def test_the_same_weights_are_the_same_bytes_and_the_same_answers(file: Path, tmp_path: Path) -> None:
    again = save_reranker(tmp_path / "again.safetensors", CONFIG, random_weights(CONFIG), WORDPIECE)
    assert file.read_bytes() == again.read_bytes()
    one, other = (open_rater(path, WORDPIECE)("age?", (), PROGRAMS, SCHEMA) for path in (file, again))
    assert np.isfinite(one).all()
    assert (one == other).all()


def test_what_was_written_is_read(file: Path) -> None:
    stored = read_reranker(file, WORDPIECE)
    assert stored.config == CONFIG
    written = random_weights(CONFIG)
    assert stored.arrays.keys() == {*written, "words.weight.scale"}
    for name, array in written.items():
        if name != "words.weight":
            np.testing.assert_array_equal(stored.arrays[name], array)
    words = stored.arrays["words.weight"] * stored.arrays["words.weight.scale"][:, None]
    np.testing.assert_allclose(words, written["words.weight"], atol=0.01)


def test_other_weights_have_another_digest(file: Path, tmp_path: Path) -> None:
    other = save_reranker(tmp_path / "other.safetensors", CONFIG, random_weights(CONFIG, 1), WORDPIECE)
    assert read_reranker(other, WORDPIECE).digest != read_reranker(file, WORDPIECE).digest


def test_large_matrices_are_a_byte_an_entry(tmp_path: Path) -> None:
    large = make_config(hidden=128, ffn=256)
    path = save_reranker(tmp_path / "large.safetensors", large, random_weights(large), WORDPIECE)
    entries = sum(math.prod(shape) for shape in large.shapes().values())
    assert path.stat().st_size < 1.3 * entries


def test_weights_are_counted_whatever_the_tokenizer(file: Path) -> None:
    assert count_weights(file) == sum(array.size for array in random_weights(CONFIG).values())
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(ModelError, match=r"weights\.safetensors"):
        count_weights(file)


@pytest.mark.parametrize("where", ["header", "tensors", "end"])
def test_a_damaged_file_is_named(file: Path, where: str) -> None:
    content = bytearray(file.read_bytes())
    position = {"header": 40, "tensors": len(content) - 500, "end": len(content)}[where]
    if where == "end":
        del content[-10:]
    else:
        content[position] ^= 0x55
    file.write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.safetensors"):
        read_reranker(file, WORDPIECE)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="missing"):
        read_reranker(tmp_path / "nowhere.safetensors", WORDPIECE)


def test_another_tokenizer_is_refused(file: Path) -> None:
    with pytest.raises(ModelError, match="another tokenizer"):
        read_reranker(file, other_tokenizer())


def test_another_number_of_word_pieces_than_the_tokenizers_is_refused(tmp_path: Path) -> None:
    config = make_config()
    config = dataclasses.replace(config, pieces=config.pieces + 1)
    path = save_reranker(tmp_path / "weights.safetensors", config, random_weights(config), WORDPIECE)
    with pytest.raises(ModelError, match="another number of word pieces"):
        read_reranker(path, WORDPIECE)


def test_a_model_of_another_kind_or_format_is_refused(file: Path, tmp_path: Path) -> None:
    reverse = toy_reverse.make_config()
    weights = toy_reverse.random_weights(reverse)
    path = save_reverse(tmp_path / "reverse.safetensors", reverse, weights, WORDPIECE)
    with pytest.raises(ModelError, match=r"reverse\.safetensors.*cannot be read"):
        read_reranker(path, WORDPIECE)
    newer = dataclasses.replace(RERANKER, format=RERANKER.format + 1)
    shapes, sizes = CONFIG.shapes(), CONFIG.to_dict()
    one_file.write_model(file, newer, sizes, shapes, random_weights(CONFIG), WORDPIECE, {"words.weight"})
    with pytest.raises(ModelError, match="format is not 1"):
        read_reranker(file, WORDPIECE)


def test_a_file_that_is_too_large_is_neither_written_nor_read(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights_module, "RERANKER", dataclasses.replace(RERANKER, largest=1000))
    with pytest.raises(ModelError, match="more than 1,000"):
        read_reranker(file, WORDPIECE)
    with pytest.raises(ModelError, match="more than 1,000"):
        save_reranker(tmp_path / "more.safetensors", CONFIG, random_weights(CONFIG), WORDPIECE)
    assert not (tmp_path / "more.safetensors").exists()


def test_weights_of_another_shape_are_not_written(tmp_path: Path) -> None:
    weights = random_weights(CONFIG)
    weights["positions.weight"] = weights["positions.weight"][:-1]
    with pytest.raises(ModelError, match=r"positions\.weight has the shape"):
        save_reranker(tmp_path / "weights.safetensors", CONFIG, weights, WORDPIECE)
    assert not (tmp_path / "weights.safetensors").exists()


@pytest.mark.parametrize(
    "missing", ["output.log_odds.weight", "words.weight.scale", "layers.1.ffn_norm.bias"]
)
def test_a_file_without_a_weight_is_refused(
    file: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _read_as(file, monkeypatch, lambda tensors: {k: v for k, v in tensors.items() if k != missing})
    with pytest.raises(ModelError, match="missing or of another shape"):
        read_reranker(file, WORDPIECE)


@pytest.mark.parametrize("name", ["norm.weight", "words.weight", "words.weight.scale", "kinds.weight"])
def test_a_weight_of_another_type_is_refused(file: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _read_as(file, monkeypatch, lambda tensors: {**tensors, name: tensors[name].astype(np.float16)})
    with pytest.raises(ModelError, match=f"{name.removesuffix('.scale')} is of another type"):
        read_reranker(file, WORDPIECE)


@pytest.mark.parametrize("name", ["norm.weight", "positions.weight", "words.weight", "words.weight.scale"])
def test_a_weight_of_another_shape_is_refused(file: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _read_as(file, monkeypatch, lambda tensors: {**tensors, name: tensors[name][:-1]})
    with pytest.raises(ModelError, match=f"{name.removesuffix('.scale')} is (missing or )?of another"):
        read_reranker(file, WORDPIECE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: [header], "not what its header says"),
        (lambda header: None, "not what its header says"),
        (lambda header: {**header, "sha256": "0" * 64}, "not what its header says"),
        (lambda header: {**header, "config": list(header["config"])}, "its sizes are missing"),
        (lambda header: {**header, "config": {**header["config"], "heads": 5}}, "sizes cannot be"),
        (
            lambda header: {**header, "config": {**header["config"], "layers": 3}},
            "missing or of another shape",
        ),
        (lambda header: {**header, "tokenizer": ""}, "another tokenizer"),
        (lambda header: {**header, "format": "1"}, "format is not 1"),
    ],
)
def test_a_header_that_says_something_else_is_refused(
    file: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["reranker"])
    file.write_bytes(save(load(content), metadata={"reranker": json.dumps(change(header))}))
    with pytest.raises(ModelError, match=message):
        read_reranker(file, WORDPIECE)


def test_the_header_alone_tells_the_digest(file: Path, tmp_path: Path) -> None:
    digest = reranker_digest(file, WORDPIECE)
    assert digest == read_reranker(file, WORDPIECE).digest
    content = file.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    file.write_bytes(content[:header])
    assert reranker_digest(file, WORDPIECE) == digest
    assert reranker_digest(file, other_tokenizer()) is None
    file.write_bytes(content[: header // 2])
    assert reranker_digest(file, WORDPIECE) is None
    assert reranker_digest(tmp_path / "nowhere.safetensors", WORDPIECE) is None


def test_the_digest_of_a_model_of_another_kind_is_none(tmp_path: Path) -> None:
    reverse = toy_reverse.make_config()
    weights = toy_reverse.random_weights(reverse)
    path = save_reverse(tmp_path / "reverse.safetensors", reverse, weights, WORDPIECE)
    assert reranker_digest(path, WORDPIECE) is None


Tensors = dict[str, NDArray[Any]]


def _read_as(file: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Tensors], Tensors]) -> None:
    """Have other tensors in a file that says the same of them."""
    digest = read_reranker(file, WORDPIECE).digest
    monkeypatch.setattr(one_file, "load", lambda content: change(load(content)))
    monkeypatch.setattr(one_file, "_digest", lambda tensors: digest)


@pytest.mark.parametrize(
    "described", ["[" * 100_000, '{"__metadata__": 3}', '{"__metadata__": {"a": "", "b": ""}}', ""]
)
def test_a_header_that_says_nothing_is_no_model(tmp_path: Path, described: str) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(len(described).to_bytes(8, "little") + described.encode())
    assert kind_of(path) is None
    assert reranker_digest(path, WORDPIECE) is None
    with pytest.raises(ModelError, match="cannot be read"):
        read_reranker(path, WORDPIECE)


@pytest.mark.parametrize("name", ["norm.bias", "layers.1.qkv.weight"])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, name: str) -> None:
    weights = random_weights(CONFIG)
    weights[name].flat[3] = np.nan
    path = save_reranker(tmp_path / "weights.safetensors", CONFIG, weights, WORDPIECE)
    assert kind_of(path) == "reranker"
    with pytest.raises(ModelError, match=f"{name} is of another type, or is no number"):
        read_reranker(path, WORDPIECE)
