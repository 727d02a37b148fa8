"""Trains a model for each fold of the data, without it and from a clean start, and observes it on what it did not see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fastsql.model import open_bundle
from fastsql.synthesis.generate import Report
from fastsql.training.calibration.calibrate import familiarity_of, with_settings
from fastsql.training.calibration.folds import draw_folds, of_fold
from fastsql.training.calibration.observations import save_observations
from fastsql.training.calibration.observe import observe
from fastsql.training.calibration.questions import held_out
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import load_corpus
from fastsql.training.corpus.split import HeldOut
from fastsql.training.runs.checkpoint import LAST
from fastsql.training.runs.loop import CACHE, train
from fastsql.training.runs.run import BUNDLE, HELD_OUT

OBSERVATIONS = "observations.json.gz"
"""What was observed of a fold, in its folder."""


def observe_folds(
    config: TrainConfig,
    output: Path,
    folds: int,
    report: Report,
    *,
    minutes: float | None = None,
    processes: int = 1,
    threads: int | None = None,
    only: int | None = None,
) -> tuple[Path, ...]:
    """The files of observations, one a fold, in folders of `output`; what is done is not done again.

    `minutes` are those of training one model, `only` is the number of the one fold to do. A training that was interrupted
    ends this; called again, it goes on from there.
    """
    found = []
    for place, file in enumerate(_held_out_files(config, output, folds, report)):
        if only not in (None, place):
            continue
        own = replace(
            config,
            name=f"{config.name}-{file.parent.name}",
            data=replace(config.data, held_out=str(file)),
            schedule=replace(
                config.schedule, minutes=config.schedule.minutes if minutes is None else minutes
            ),
        )
        if not _is_trained(own, file.parent, output / CACHE, processes, threads):
            break
        found.append(_observed(own, file.parent, output, report))
    return tuple(found)


def _held_out_files(config: TrainConfig, output: Path, folds: int, report: Report) -> list[Path]:
    """What each fold holds out, written once, so that all of them part the same data."""
    common = output / HELD_OUT
    files = [output / f"fold-{number}" / HELD_OUT for number in range(folds)]
    if not all(file.is_file() for file in (common, *files)):
        corpus = load_corpus(config.data, config.seed, output / CACHE, report)
        drawn = (corpus.held_out, *draw_folds(config, corpus, folds, config.seed))
        for file, held in zip((common, *files), drawn, strict=True):
            file.parent.mkdir(parents=True, exist_ok=True)
            held.save(file)
    return files


def _is_trained(config: TrainConfig, folder: Path, cache: Path, processes: int, threads: int | None) -> bool:
    if (folder / BUNDLE).is_dir():
        return True
    resume = (folder / LAST).is_file()
    return train(
        config, folder, resume=resume, device="cpu", processes=processes, threads=threads, cache=cache
    ).finished


def _observed(config: TrainConfig, folder: Path, output: Path, report: Report) -> Path:
    file = folder / OBSERVATIONS
    if file.is_file():
        return file
    sources = tuple(source for source in config.data.sources if not source.conversations)
    corpus = load_corpus(replace(config.data, sources=sources), config.seed, output / CACHE, report)
    asked = held_out(config, corpus, seed=config.seed)
    questions = of_fold(asked, HeldOut.load(folder / HELD_OUT), HeldOut.load(output / HELD_OUT))
    bundle = with_settings(
        open_bundle(folder / BUNDLE), {"familiarity": familiarity_of(corpus).to_settings()}
    )
    found = observe(bundle, config, questions, report=report)
    save_observations(found, file)
    report(f"{folder.name}: {sum(item.right for item in found)} of {len(found)} are right")
    return file
