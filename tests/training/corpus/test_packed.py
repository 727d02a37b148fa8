"""What a run needs of its data, in a file that another machine learns from as if it had the data."""

from __future__ import annotations

import lzma
import os
import pickle
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.cli.main import main
from fastsql.linking.candidates import find_candidates
from fastsql.training import train
from fastsql.training.config import ConfigError, TrainConfig
from fastsql.training.corpus import packed as module
from fastsql.training.corpus.packed import Packed, read_packed, write_packed
from fastsql.training.runs.checkpoint import LAST, load_checkpoint
from fastsql.training.runs.loop import pack

SAID: list[str] = []


@pytest.fixture(scope="module")
def packed(config: TrainConfig, cache: Path) -> Packed:
    """The ward's corpus, as one process prepares it."""
    return pack(config, cache, 1, SAID.append)


@pytest.fixture(scope="module")
def file(packed: Packed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("packed") / "ward.corpus"
    write_packed(packed, place)
    return place


def test_what_was_written_is_read(packed: Packed, file: Path) -> None:
    found = read_packed(file)
    assert found.config == packed.config
    assert found.lengths == packed.lengths
    assert found.corpus.train == packed.corpus.train
    assert found.corpus.held_out == packed.corpus.held_out
    assert not list(file.parent.glob("*.tmp"))


def test_of_dictionaries_only_what_is_said_is_kept(packed: Packed) -> None:
    corpus = packed.corpus
    ((name, domain),) = corpus.domains.items()
    said = packed.with_said_values(1, SAID.append).corpus.domains[name]
    assert domain.dictionary is not None
    assert said.dictionary is not None
    assert 0 < len(said.dictionary) <= len(domain.dictionary)
    for sample in (*corpus.train, *corpus.dev_templates, *corpus.dev_examples):
        question = sample.pair.question
        assert find_candidates(question, said.schema, said.dictionary) == find_candidates(
            question, domain.schema, domain.dictionary
        )


def test_a_run_learns_the_same_from_the_file(
    config: TrainConfig, cache: Path, file: Path, tmp_path: Path, weights_alone: None
) -> None:
    short = replace(config, schedule=replace(config.schedule, epochs=0.0, updates=3))
    options: dict[str, Any] = {"threads": 1, "device": "cpu", "loaders": 0, "quiet": True, "bundle": False}
    train(short, tmp_path / "data", cache=cache, **options)
    train(short, tmp_path / "packed", packed=read_packed(file), **options)
    one, other = (load_checkpoint(tmp_path / name / LAST)["ema"] for name in ("data", "packed"))
    assert all((one[name] == other[name]).all() for name in one)
    assert not (tmp_path / "packed" / "bundle").exists()


def test_from_the_command_line(
    config: TrainConfig, ward: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Packed here, learnt from where there are no data."""
    (source,) = config.data.sources
    settings = tmp_path / "ward.toml"
    settings.write_text(
        f'name = "ward-en"\n[data]\ndev_templates = 0.0\ndev_examples = 0.0\n[[data.sources]]\n'
        f'examples = "{source.examples}"\nschemas = "{source.schemas}"\ndatabase = "${{WARD}}/ward.sqlite"\n'
        f'[model]\nd = 16\nheads = 2\nffn = 16\nencoder = "{config.model.encoder}"\n[schedule]\nupdates = 2\n',
        encoding="utf-8",
    )
    file = tmp_path / "ward.corpus"
    command = [sys.executable, "-m", "fastsql", "train", str(settings), "--pack", str(file), "--quiet"]
    done = subprocess.run(
        command, env={**os.environ, "WARD": str(ward)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"{file}: " in done.stdout
    assert "examples to train on" in done.stdout
    learn = [
        "train",
        str(file),
        "--output",
        str(tmp_path / "run"),
        "--no-bundle",
        "--quiet",
        "--device",
        "cpu",
    ]
    assert main([*learn, "--set", "optim.batch_size=4", "--threads", "1"]) == 0
    assert "finished" in capsys.readouterr().out
    assert (tmp_path / "run" / LAST).is_file()
    assert not (tmp_path / "run" / "bundle").exists()
    assert main([*learn, "--resume", "--set", "data.max_values=3"]) == 2
    assert "its data are prepared already" in capsys.readouterr().err
    assert file.stat().st_mode & 0o077 == 0, "the questions of patients are nobody else's"
    for config_file, target, why in (
        (file, "again.corpus", "is packed already"),
        (settings, "ward.pack", "known by its name's end, .corpus"),
    ):
        assert main(["train", str(config_file), "--pack", str(tmp_path / target)]) == 2
        assert why in capsys.readouterr().err


class _Opens:
    """What unpickles as a call."""

    def __reduce__(self) -> tuple[Any, ...]:
        return sqlite3.connect, (":memory:",)


def _written(content: object, file: Path) -> Path:
    file.write_bytes(module._MAGIC + lzma.compress(pickle.dumps(content)))
    return file


def _named(module_name: str, name: str, file: Path) -> Path:
    """What unpickles as something that a module has, its own or not."""
    content = b"\x80\x04" + b"".join(
        b"\x8c" + bytes([len(text)]) + text.encode() for text in (module_name, name)
    )
    file.write_bytes(module._MAGIC + lzma.compress(content + b"\x93."))
    return file


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda file: file.write_bytes(b"PK\x03\x04"), "is no packed corpus"),
        (lambda file: file.write_bytes(b""), "is no packed corpus"),
        (lambda file: file.write_bytes(module._MAGIC), "is damaged"),
        (lambda file: file.write_bytes(module._MAGIC + b"\xfd7zXZ torn"), "is damaged"),
        (lambda file: _written(_Opens(), file), "is damaged.*UnpicklingError"),
        (lambda file: _written({"corpus": 1}, file), "is no packed corpus"),
        (lambda file: _written(pack, file), "is damaged.*UnpicklingError"),  # a function of ours
        (
            lambda file: _named("fastsql.training.corpus.packed", "lzma.LZMAFile", file),
            "is damaged.*UnpicklingError",
        ),
        (
            lambda file: _named("fastsql.training.corpus.packed", "ProcessPoolExecutor", file),
            "is damaged.*Unpickling",
        ),
        (
            lambda file: _named("fastsql.execution.executor", "ReadOnlyExecutor", file),
            "is damaged.*UnpicklingError",
        ),
        (lambda file: None, "cannot be read"),
    ],
)
def test_what_is_no_corpus_is_named(make: Any, why: str, tmp_path: Path) -> None:
    file = tmp_path / "other.corpus"
    make(file)
    with pytest.raises(ConfigError, match=rf"other\.corpus.*{why}"):
        read_packed(file)


def test_a_file_cut_short_is_named(file: Path, tmp_path: Path) -> None:
    content = file.read_bytes()
    cut = tmp_path / "cut.corpus"
    for size in (len(content) // 2, len(content) - 1):
        cut.write_bytes(content[:size])
        with pytest.raises(ConfigError, match="is damaged"):
            read_packed(cut)
