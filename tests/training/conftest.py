"""The ward's files, written once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fastsql.training.config import TrainConfig, config_from_dict
from fastsql.training.corpus.corpus import load_corpus

from ..worlds.training_ward import write_data, write_encoder

MadeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def ward(made_once: MadeOnce) -> Path:
    """The folder of the ward's data set."""
    return made_once("ward", write_data)


@pytest.fixture(scope="session")
def config(ward: Path, made_once: MadeOnce) -> TrainConfig:
    """A run of seconds: a tiny model, two epochs."""
    encoder = made_once("encoder", write_encoder)
    return config_from_dict(
        {
            "name": "ward-en",
            "data": {
                "dev_templates": 0.17,
                "dev_examples": 0.1,
                "sources": [
                    {
                        "examples": str(ward / "train.json"),
                        "schemas": str(ward / "schemas.json"),
                        "database": str(ward / "ward.sqlite"),
                        "report": [str(ward / "valid.json")],
                    }
                ],
            },
            "model": {"d": 16, "heads": 2, "ffn": 16, "encoder": str(encoder)},
            "optim": {"batch_size": 8, "bf16": False},
            "schedule": {"epochs": 2.0, "dev_minutes": 60.0, "checkpoint_minutes": 60.0},
        }
    )


@pytest.fixture(scope="session")
def cache(config: TrainConfig, made_once: MadeOnce) -> Path:
    """What a run makes of the ward's data; one that is given it finds all, and writes nothing."""
    return made_once("ward cache", lambda folder: load_corpus(config.data, config.seed, folder))


@pytest.fixture
def weights_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that look at a run's checkpoints: it ends without a bundle and curves, which take most of a short one."""
    from fastsql.training.runs import run

    monkeypatch.setattr(run.Run, "_export", lambda _: None)
    monkeypatch.setattr(run, "draw_curves", lambda _: None)
