"""A bundle for the ward as training would export it, before its first step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastsql.training.bundles.export import export_bundle
from fastsql.training.config import TrainConfig
from fastsql.training.network.model import Model
from fastsql.training.network.pretrained import load_pretrained, model_config
from fastsql.training.runs.run import grammar_names


def write_untrained(config: TrainConfig, folder: Path, **settings: Any) -> Path:
    """The bundle's folder; `config` names the encoder to start from."""
    pretrained = load_pretrained(config.model.encoder)
    model = Model.start(model_config(config, pretrained), pretrained).eval()
    return export_bundle(
        model, pretrained.tokenizer, folder, name=config.name, **grammar_names(), settings=settings
    )
