"""The file of a reverse model: what was written is read, and nothing else."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from fastsql.errors import ModelError
from fastsql.model import one_file
from fastsql.model.tokenizer import Tokenizer
from fastsql.reverse import load_reverse
from fastsql.reverse import weights as weights_module
from fastsql.reverse.weights import REVERSE, save_reverse

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reverse import QUERIES, SCHEMA, make_config, program, random_weights

CONFIG = make_config()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save_reverse(tmp_path / "weights.safetensors", CONFIG, random_weights(CONFIG), WORDPIECE)


def test_the_same_weights_are_the_same_bytes_and_the_same_answers(file: Path, tmp_path: Path) -> None:
    again = save_reverse(tmp_path / "again.safetensors", CONFIG, random_weights(CONFIG), WORDPIECE)
    assert file.read_bytes() == again.read_bytes()
    one, other = (load_reverse(path, WORDPIECE).over(SCHEMA) for path in (file, again))
    programs = [program(sql) for sql in QUERIES]
    assert one.questions(programs, 2) == other.questions(programs, 2)


def test_large_matrices_are_a_byte_an_entry(tmp_path: Path) -> None:
    large = make_config(d=128, ffn=256)
    path = save_reverse(tmp_path / "large.safetensors", large, random_weights(large), WORDPIECE)
    entries = sum(int(np.prod(shape)) for shape in large.shapes().values())
    assert path.stat().st_size < 1.3 * entries


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
        load_reverse(file, WORDPIECE)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="missing"):
        load_reverse(tmp_path / "nowhere.safetensors", WORDPIECE)


def test_another_tokenizer_is_refused(file: Path) -> None:
    described = json.loads(WORDPIECE.json_text)
    described["model"]["vocab"]["new"] = len(described["model"]["vocab"])
    with pytest.raises(ModelError, match="another tokenizer"):
        load_reverse(file, Tokenizer(json.dumps(described)))


def test_a_file_that_is_too_large_is_neither_written_nor_read(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights_module, "REVERSE", dataclasses.replace(REVERSE, largest=1000))
    with pytest.raises(ModelError, match="more than 1,000"):
        load_reverse(file, WORDPIECE)
    with pytest.raises(ModelError, match="more than 1,000"):
        save_reverse(tmp_path / "more.safetensors", CONFIG, random_weights(CONFIG), WORDPIECE)
    assert not (tmp_path / "more.safetensors").exists()


@pytest.mark.parametrize("missing", ["output.weight", "words.weight.scale", "encoder.norm.bias"])
def test_a_file_without_a_weight_is_refused(
    file: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = one_file.load
    monkeypatch.setattr(
        one_file, "load", lambda content: {k: v for k, v in load(content).items() if k != missing}
    )
    monkeypatch.setattr(one_file, "_digest", lambda tensors: _digest(file))
    with pytest.raises(ModelError, match="missing or of another shape"):
        load_reverse(file, WORDPIECE)


def _digest(file: Path) -> str:
    """What the header says of the weights."""
    content = file.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return str(json.loads(header["__metadata__"]["reverse"])["sha256"])
