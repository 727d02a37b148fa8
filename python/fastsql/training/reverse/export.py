"""From a checkpoint to the file that is shipped."""

from __future__ import annotations

from pathlib import Path

from fastsql.parser.bundles import open_model
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.weights import save_reverse
from fastsql.training.runs.checkpoint import load_checkpoint


def export_reverse(checkpoint: str | Path, path: str | Path) -> Path:
    """Write the averaged weights of a checkpoint, int8 where they are large. Raises CheckpointError, ModelError."""
    state = load_checkpoint(Path(checkpoint))
    weights = {name: tensor.float().numpy() for name, tensor in state["average"].items()}
    tokenizer = open_model(state["settings"]["words_from"]).tokenizer()
    return save_reverse(path, ReverseConfig.from_dict(state["reverse_config"]), weights, tokenizer)
