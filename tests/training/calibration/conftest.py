"""The corpus of a toy ward, and a bundle that has learnt nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus, load_corpus


@pytest.fixture(scope="module")
def corpus(config: TrainConfig, cache: Path) -> Corpus:
    return load_corpus(config.data, config.seed, cache)


@pytest.fixture
def bundle(config: TrainConfig, tmp_path: Path) -> Path:
    """A bundle that has learnt nothing."""
    from ..untrained import write_untrained  # for who has PyTorch

    return write_untrained(config, tmp_path / "untrained", training={"seed": 7})


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
