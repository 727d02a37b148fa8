"""Training, from a configuration to a bundle.

A run can be stopped at any moment (Ctrl-C, a time limit, a power cut) and resumed from its last checkpoint with the
same batches in the same order. Its rates fall over epochs or minutes, whichever end first.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from fastsql.errors import CalibrationWarning
from fastsql.synthesis.generate import Report
from fastsql.training.batches.maker import lengths_of
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.ahead import prepare_ahead
from fastsql.training.corpus.corpus import Corpus, load_corpus
from fastsql.training.corpus.packed import Packed
from fastsql.training.corpus.written import with_written
from fastsql.training.network.pretrained import load_pretrained
from fastsql.training.runs.checkpoint import LAST, load_checkpoint
from fastsql.training.runs.progress import RunProgress
from fastsql.training.runs.ready import TrainingError, check_corpus, check_ready
from fastsql.training.runs.run import BUNDLE, HELD_OUT, Run, TrainResult
from fastsql.training.runs.team import Leader, Team

GPU_LOADERS = 16
"""Processes that prepare batches for a GPU, where there are so many cores to spare."""
SOON_OVER = 32
"""Batches that a run makes itself in less time than another process takes to start."""
CACHE = "cache"
"""Folder, in the run's own, of what is made of the data."""
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
    processes: int = 1,
    cache: Path | None = None,
    packed: Packed | None = None,
    export: bool = True,
    bundle: bool = True,
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
        warm_start: a bundled model's name, or the folder of a bundle, whose weights to start from, where their shapes fit.
        fresh: prefixes of the names of weights that a warm start does not take over.
        loaders: processes that prepare batches beside this one, 0 for none; by default one, several for a GPU, and none
            for a run of so few updates that it is over before one would have started.
        processes: that train one model together, on a CPU, and share `threads` among them; each has its own `loaders`.
        cache: folder of what is made of the data, by default `cache/` in `output`; runs may share one.
        packed: the corpus, prepared elsewhere: then no data are read, and `config.data` only says how they were.
        export: score the end of the run and write its bundle; without it, nothing is kept but the time that it took.
        bundle: whether that bundle is written; without it, checkpoints are what is left, to be exported elsewhere.
        quiet: show no progress.

    Raises ConfigError, DatasetError, CheckpointError, ModelError, TrainingError. Warns with CalibrationWarning that the
    bundle refuses every question until it is calibrated.
    """
    folder = Path(output)
    if max_minutes is not None:
        config = replace(config, schedule=replace(config.schedule, minutes=max_minutes))
    if seed is not None:
        config = replace(config, seed=seed)
    if (folder / LAST).exists() and not resume:
        raise TrainingError(
            "already holds a run", where=str(folder), remedy="Give --resume, or another folder."
        )
    place = _device(device)
    if processes > 1 and place.type != "cpu":
        raise TrainingError("several processes train on a CPU only", remedy="Leave --processes out.")
    began = check_ready(config, None if resume else warm_start, fresh, files=packed is None)
    start = Start(folder / LAST if resume else None, began.path if began else None, tuple(fresh))
    if resume:
        load_checkpoint(folder / LAST)  # an error comes before the data are read
    folder.mkdir(parents=True, exist_ok=True)
    # The loader has little to do; a core of its own would cost the matrix products more than it gains.
    each = max(1, (threads or os.cpu_count() or 1) // processes)
    made = cache or folder / CACHE
    readers = _default_loaders(place, config) if loaders is None else loaders
    with RunProgress(quiet) as progress:
        if packed is None:
            packed = Packed(config, _prepared(config, made, processes, progress.note))
        packed.corpus.held_out.save(folder / HELD_OUT)
        with _settled():
            run = _begin(config, packed, folder, place, progress, each, start)
            if processes == 1:
                result = run.go(readers, export=export, bundle=bundle)
            else:
                arguments = (config, packed, folder, each, start, readers)
                with Leader(processes, run.parameters, _follow, arguments) as run.team:
                    result = run.go(readers, export=export, bundle=bundle)
    if result.finished and export and bundle:
        warnings.warn(_uncalibrated(folder, made), CalibrationWarning, stacklevel=2)
    return result


def pack(config: TrainConfig, cache: Path, processes: int, report: Report) -> Packed:
    """Reads and prepares the data of a run for another machine; what takes long is kept under `cache`.

    Raises ConfigError, DatasetError, ModelError, and TrainingError where there is nothing to train on.
    """
    corpus = _prepared(config, cache, processes, report)
    tokenizer = load_pretrained(config.model.encoder).tokenizer
    packed = Packed(config, corpus, lengths_of(corpus.train, tokenizer))
    return packed.with_said_values(processes, report)


def _prepared(config: TrainConfig, cache: Path, processes: int, report: Report) -> Corpus:
    """The corpus of a run. Raises what `pack` does."""
    prepare_ahead(config, cache, processes, report)
    corpus = load_corpus(with_written(config, cache, report).data, config.seed, cache, report)
    check_corpus(corpus)
    return corpus


@contextmanager
def _settled() -> Iterator[None]:
    """Within, nobody looks for garbage among what is there: millions of objects that stay, ten seconds each time.

    Nor do copies of this process, where that would touch, and so copy, every object.
    """
    others = gc.get_freeze_count() > 0  # what the program around it has settled stays so
    gc.freeze()
    try:
        yield
    finally:
        if not others:
            gc.unfreeze()


@dataclass(frozen=True)
class Start:
    """What a run goes on from: its own checkpoint, or a bundle's weights but for `fresh`, or nothing."""

    checkpoint: Path | None
    bundle: Path | None
    fresh: tuple[str, ...]


def _begin(
    config: TrainConfig,
    data: Packed,
    folder: Path,
    place: torch.device,
    progress: RunProgress,
    threads: int,
    start: Start,
) -> Run:
    """A run at its start; the same in every process."""
    torch.set_num_threads(threads)
    torch.manual_seed(config.seed)
    if place.type == "cuda":
        # It plans for every shape that it meets, and batches keep being of new ones (docs/training.md).
        torch.backends.cuda.enable_cudnn_sdp(False)
    _keep_freed_memory()
    run = Run(config, data.corpus, folder, place, progress, data.lengths)
    if start.checkpoint is not None:
        run.restore(load_checkpoint(start.checkpoint))
    elif start.bundle is not None:
        run.warm_start(start.bundle, start.fresh)
    return run


def _follow(
    team: Team, config: TrainConfig, data: Packed, folder: Path, threads: int, start: Start, loaders: int
) -> None:
    """What the other processes of a team do."""
    with RunProgress(quiet=True) as progress:
        run = _begin(config, data, folder, torch.device("cpu"), progress, threads, start)
        torch.manual_seed(
            hash((config.seed, run.at.step, team.rank))
        )  # it drops other units out than the leader
        run.team = team
        run.go(loaders)


def _uncalibrated(folder: Path, cache: Path) -> str:
    return (
        f"{folder / BUNDLE} is not calibrated: it refuses every question unless penalty=0 is asked for."
        f" Run: fastsql calibrate {folder / BUNDLE} --config CONFIG.toml --cache {cache}"
    )


def _default_loaders(device: torch.device, config: TrainConfig) -> int:
    if 0 < config.schedule.updates * config.optim.accumulate <= SOON_OVER:
        return 0
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
