"""Checkpoints: everything a run needs to go on as if it had never stopped, written so that none is ever half there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from fastsql.errors import FastSQLError

FORMAT = 1
LAST = "last.pt"
BEST = "best.pt"


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
        raise CheckpointError(f"is no checkpoint of format {FORMAT}", where=str(path), remedy="Train anew.")
    return state
