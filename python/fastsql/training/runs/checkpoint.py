"""Checkpoints: everything a run needs to go on as if it had never stopped, written so that none is ever half there.

They hold tensors and plain data, no objects: one of an earlier version loads wherever its classes have gone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from fastsql.datasets.schemas import VITAL_SIGN_TABLES
from fastsql.errors import FastSQLError
from fastsql.model import ModelConfig
from fastsql.model.tokenizer import Tokenizer
from fastsql.parser.bundles import open_model
from fastsql.training.bundles.export import export_bundle
from fastsql.training.bundles.mixing import mixed_weights, origin
from fastsql.training.network.model import Model

FORMAT = 1
LAST = "last.pt"
BEST = "best.pt"
_RESUME_ONLY = frozenset({"model", "auxiliary", "optimizer", "rng", "ema_steps"})


class CheckpointError(FastSQLError):
    """A checkpoint is missing, damaged, or of another format."""


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Writes tensors and plain data; the file is replaced only when the new one is complete on disk."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        torch.save({"format": FORMAT, **state}, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def exportable(state: dict[str, Any]) -> dict[str, Any]:
    """What `export_checkpoint` needs of a run's state, a quarter of its size."""
    return {key: value for key, value in state.items() if key not in _RESUME_ONLY}


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Reads a checkpoint without running any code from it. Raises CheckpointError."""
    if not path.is_file():
        raise CheckpointError(
            "there is no checkpoint", where=str(path), remedy="Train without --resume first."
        )
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a damaged file
        raise CheckpointError(f"cannot be read ({type(error).__name__})", where=str(path)) from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise CheckpointError(
            f"is not a checkpoint of format {FORMAT}", where=str(path), remedy="Train anew."
        )
    return state


def export_checkpoint(
    checkpoint: str | Path,
    folder: str | Path,
    card: str = "",
    *,
    mixed_with: str | Path | None = None,
    share: float = 0.5,
) -> Path:
    """Writes the averaged weights of a checkpoint as a bundle, with lexicon and constants in its settings.

    `mixed_with`: a model's name or a bundle's folder; then the weights are `share` of the checkpoint's and the rest of its.

    Raises CheckpointError; with `mixed_with` what `mixed_weights` does, and ModelError where there is no such model.
    """
    state = load_checkpoint(Path(checkpoint))
    settings = _settings(state)
    model = Model(ModelConfig.from_dict(state["model_config"]))
    if mixed_with is None:
        model.load_state_dict(state["ema"])
    else:
        other = open_model(mixed_with)
        model.load_state_dict(mixed_weights(state, other, share))
        settings["training"]["mixed"] = origin(other, share)
    return export_bundle(
        model.eval(),
        Tokenizer(state["tokenizer"]),
        folder,
        name=state["config"]["name"],
        productions=state["grammar"]["productions"],
        symbols=state["grammar"]["symbols"],
        settings=settings,
        card=card,
    )


def _settings(state: dict[str, Any]) -> dict[str, Any]:
    position, best = state["position"], state["best"]
    return {
        "lexicon": state["lexicon"],  # [table, column, values]
        "constants": state["constants"],  # [name, value, label]
        "constant_tables": list(VITAL_SIGN_TABLES) if state["constants"] else [],
        "candidates": state["config"]["data"]["candidates"],
        "training": {
            "seed": state["config"]["seed"],
            "epochs": round(position["epoch"] + position["batch"] / position["batches"], 2),
            "steps": position["step"],
            "minutes": round(position["seconds"] / 60, 1),
            "dev": best,
        },
    }
