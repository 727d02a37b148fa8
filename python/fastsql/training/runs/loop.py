"""Training, from a configuration to a bundle.

A run can be stopped at any moment (Ctrl-C, a time limit, a power cut) and resumed from its last checkpoint with the
same batches in the same order. Its rates fall over epochs or minutes, whichever end first.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import load_corpus
from fastsql.training.runs.checkpoint import LAST, load_checkpoint
from fastsql.training.runs.progress import RunProgress
from fastsql.training.runs.run import HELD_OUT, Run, TrainingError, TrainResult

GPU_LOADERS = 8
"""Processes that prepare batches for a GPU, where there are so many cores to spare."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024

__all__ = ["TrainResult", "TrainingError", "train"]


def train(
    config: TrainConfig,
    output: str | Path,
    *,
    max_minutes: float | None = None,
    resume: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    device: str = "auto",
    warm_start: str | Path | None = None,
    fresh: Sequence[str] = (),
    loaders: int | None = None,
    quiet: bool = False,
) -> TrainResult:
    """Trains a model and leaves `bundle/`, `last.pt`, `best.pt`, `metrics.jsonl` and `curves.png` in `output`.

    Args:
        config: see `load_config`.
        output: folder, made if there is none.
        max_minutes: time limit; overrides the configuration's. Time before a resume counts.
        resume: go on from `last.pt`; without it, a folder that holds one is an error.
        seed: overrides the configuration's.
        threads: of torch; by default as many as there are cores.
        device: "auto", "cpu" or "cuda".
        warm_start: a bundle whose weights to start from, where their shapes fit.
        fresh: prefixes of the names of weights that a warm start does not take over.
        loaders: processes that prepare batches beside this one, 0 for none; by default one, and several for a GPU.
        quiet: show no progress.

    Raises ConfigError, DatasetError, CheckpointError, TrainingError.
    """
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    if max_minutes is not None:
        config = replace(config, schedule=replace(config.schedule, minutes=max_minutes))
    if seed is not None:
        config = replace(config, seed=seed)
    if (folder / LAST).exists() and not resume:
        raise TrainingError(
            "already holds a run", where=str(folder), remedy="Give --resume, or another folder."
        )
    # The loader has little to do; a core of its own would cost the matrix products more than it gains.
    torch.set_num_threads(threads or os.cpu_count() or 1)
    torch.manual_seed(config.seed)
    _keep_freed_memory()
    with RunProgress(quiet) as progress:
        corpus = load_corpus(config.data, config.seed, folder / "cache", progress.note)
        corpus.held_out.save(folder / HELD_OUT)
        place = _device(device)
        run = Run(config, corpus, folder, place, progress)
        if resume:
            run.restore(load_checkpoint(folder / LAST))
        elif warm_start is not None:
            run.warm_start(warm_start, fresh)
        return run.go(_default_loaders(place) if loaders is None else loaders)


def _default_loaders(device: torch.device) -> int:
    return 1 if device.type == "cpu" else max(1, min(GPU_LOADERS, (os.cpu_count() or 1) - 2))


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise TrainingError("there is no CUDA device", where=f"device {name!r}", remedy="Use cpu.")
    return torch.device(name)


def _keep_freed_memory() -> bool:
    """Ask glibc to reuse large blocks; makes a training step on a CPU about a sixth faster.

    Returns whether the C library took the advice; where it is not glibc, nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    took = [mallopt(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD), mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)]
    return all(result == 1 for result in took)
