"""What a corpus takes long for, made by several processes at once: each part is kept in the cache, and found there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from fastsql.synthesis.generate import Report
from fastsql.training.config import DataSettings, SourceSettings, TrainConfig
from fastsql.training.corpus.corpus import prepare_source
from fastsql.training.corpus.made import made_sources
from fastsql.training.corpus.written import written_sources


def prepare_ahead(config: TrainConfig, cache: Path, processes: int, report: Report) -> None:
    """Makes what `with_written` and `load_corpus` keep in the cache; nothing where one process or one part is all there is,
    as these make it themselves.

    Raises what these raise.
    """
    if processes < 2:
        return
    data, seed = config.data, config.seed
    parts: dict[str, Callable[[], None]] = {}
    # What takes longest comes first.
    if data.written.pairs or data.written.held_out or data.written.hospital_weight:
        parts["written questions"] = partial(_prepare, written_sources, data, seed, cache)
    if data.made.schemas:
        parts["pairs that are made"] = partial(_prepare, made_sources, data, seed, cache)
    for number, source in enumerate(data.sources, 1):
        name = f"source {number} of {len(data.sources)}, {Path(source.examples).name}"
        parts[name] = partial(prepare_source, source, data, seed, cache, _say_nothing)
    if len(parts) < 2:
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        names = {pool.submit(make): name for name, make in parts.items()}
        report(f"preparing {len(names)} parts of the data in {processes} processes")
        try:
            for place, done in enumerate(as_completed(names), 1):
                done.result()
                report(f"{place} of {len(names)} parts ready: {names[done]}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _prepare(
    sources: Callable[[DataSettings, Path, Report], Sequence[SourceSettings]],
    data: DataSettings,
    seed: int,
    cache: Path,
) -> None:
    for source in sources(data, cache, _say_nothing):
        prepare_source(source, data, seed, cache, _say_nothing)


def _say_nothing(_: str) -> None:
    """What is going on in a process of several would not be read."""
