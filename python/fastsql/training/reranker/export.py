"""From a checkpoint to the file that is shipped."""

from __future__ import annotations

from pathlib import Path

from fastsql.parser.bundles import open_model
from fastsql.reranker.config import RerankerConfig
from fastsql.reranker.weights import save_reranker
from fastsql.training.runs.checkpoint import load_checkpoint


def export_reranker(checkpoint: str | Path, path: str | Path) -> Path:
    """Write the averaged weights of a checkpoint, int8 where they are large. Raises CheckpointError, ModelError."""
    state = load_checkpoint(Path(checkpoint))
    weights = {name: tensor.float().numpy() for name, tensor in state["average"].items()}
    tokenizer = open_model(state["settings"]["parser"]).tokenizer()
    return save_reranker(path, RerankerConfig.from_dict(state["reranker_config"]), weights, tokenizer)
