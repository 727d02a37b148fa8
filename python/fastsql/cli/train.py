"""``fastsql train``: train a model and export it as a bundle."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import warn
from fastsql.cli.extras import train_extra
from fastsql.cli.options import positive, seconds
from fastsql.errors import CalibrationWarning

if TYPE_CHECKING:
    from fastsql.training.config import TrainConfig

_EPILOG = """\
examples:
  fastsql train configs/ehr-en.toml --output runs/first --max-minutes 30
  fastsql train configs/ehr-en.toml --output runs/first --resume
  fastsql train configs/ehr-en.toml --output runs/second --warm-start runs/first/bundle --seed 3
  fastsql train configs/ward.toml --output runs/ward --warm-start ehr-en
  fastsql train configs/ehr-en.toml --output runs/third --set model.joint_layers=0 --set model.cached_layers=3
On a machine with a GPU, and without the data:
  fastsql train configs/ehr-en.toml --pack runs/ehr-en.corpus
  fastsql train runs/ehr-en.corpus --output runs/wide --warm-start ehr-en --max-minutes 8 --no-bundle

A source of CONFIG may name what people wrote about its schema: profile = "clinic.toml" (fastsql profile).
Needs the extra train: pip install 'fastsql[train]'
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "train",
        help="train a model",
        description="Train a model from a TOML configuration; the folder holds checkpoints, curves and the exported bundle.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "config",
        metavar="CONFIG",
        help="data, sizes, rates and schedule (.toml), or what --pack wrote (.corpus)",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", metavar="DIR", type=Path, help="the folder of the run")
    where.add_argument(
        "--pack",
        metavar="FILE.corpus",
        type=Path,
        help="only prepare the data, and write them with CONFIG to a file that a run takes in its place elsewhere",
    )
    parser.add_argument(
        "--max-minutes",
        metavar="M",
        type=seconds,
        help="time limit; the schedule fits itself to it (default: CONFIG's)",
    )
    parser.add_argument("--resume", action="store_true", help="continue the run in DIR")
    parser.add_argument(
        "--warm-start",
        metavar="MODEL",
        help="start from the weights of a bundled model or of a bundle's folder",
    )
    parser.add_argument(
        "--fresh",
        metavar="PREFIX",
        action="append",
        default=[],
        help="with --warm-start: do not take over weights whose names begin so, such as graph. (repeatable)",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="assignments",
        help="change a setting of CONFIG, such as model.joint_layers=0 (repeatable)",
    )
    parser.add_argument("--seed", metavar="S", type=int, help="seed of everything random (default: CONFIG's)")
    parser.add_argument("--threads", metavar="N", type=positive, help="processor threads (default: all)")
    parser.add_argument(
        "--device", metavar="D", default="auto", help="auto, cpu or cuda (default: %(default)s)"
    )
    parser.add_argument(
        "--loaders",
        metavar="N",
        type=positive,
        help="processes that prepare batches (default: 1, and up to 16 for a GPU)",
    )
    parser.add_argument(
        "--cache",
        metavar="DIR",
        type=Path,
        help="folder of what is made of the data, which runs may share (default: cache/ in the run's)",
    )
    parser.add_argument(
        "--processes",
        metavar="N",
        type=positive,
        default=1,
        help="processes that train one model together on a CPU and share its threads: half again as fast as so many"
        " threads, each with memory of its own (default: 1)",
    )
    parser.add_argument(
        "--no-bundle",
        action="store_true",
        help="end with a checkpoint alone: write its bundle elsewhere (fastsql export)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, and say where the outcome lies; or only prepare the data."""
    with train_extra():
        from fastsql.training.config import ConfigError, load_config, override
        from fastsql.training.corpus.packed import SUFFIX, read_packed
        from fastsql.training.runs.ready import check_ready

    if options.pack is not None:
        _check_pack(options, SUFFIX)
    packed = read_packed(Path(options.config)) if options.config.endswith(SUFFIX) else None
    config = override(packed.config if packed else load_config(options.config), options.assignments)
    if packed is not None and config.data != packed.config.data:
        raise ConfigError(
            "its data are prepared already and stay as they are",
            where=options.config,
            remedy="Set data.* where they are packed.",
        )
    if importlib.util.find_spec("torch") is not None:  # else the import below says what is missing
        # Errors that need no PyTorch come before the seconds that it takes.
        warm = None if options.resume else options.warm_start
        check_ready(config, warm, options.fresh, files=packed is None)
    if options.pack is not None:
        return _pack(config, options)
    with train_extra():
        from fastsql.training import train

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", CalibrationWarning
        )  # said below, with the command as it has to be typed
        result = train(
            config,
            options.output,
            max_minutes=options.max_minutes,
            resume=options.resume,
            seed=options.seed,
            threads=options.threads,
            device=options.device,
            warm_start=options.warm_start,
            fresh=options.fresh,
            loaders=options.loaders,
            processes=options.processes,
            cache=options.cache,
            packed=packed,
            bundle=not options.no_bundle,
            quiet=options.quiet,
        )
    state = "finished" if result.finished else "interrupted: continue with --resume"
    sys.stdout.write(
        f"{result.output}: {state}, {result.epochs:.1f} epochs in {result.seconds / 60:.1f} minutes\n"
    )
    if result.finished and not options.no_bundle:
        warn(
            "the bundle is not calibrated and refuses every question until it is, unless penalty=0 is asked for."
            f" Run: {_calibrate(options)}"
        )
    return 0


def _check_pack(options: argparse.Namespace, suffix: str) -> None:
    """What would only be found at the end of long work. Raises ConfigError."""
    from fastsql.training.config import ConfigError

    where = f"--pack {options.pack}"
    if options.pack.suffix != suffix:
        raise ConfigError(f"a packed corpus is known by its name's end, {suffix}", where=where)
    if options.config.endswith(suffix):
        raise ConfigError(f"{options.config} is packed already", where=where, remedy="Give its CONFIG.toml.")
    try:
        options.pack.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"its folder cannot be made ({error.strerror})", where=where) from error


def _pack(config: TrainConfig, options: argparse.Namespace) -> int:
    """Write the data of a run to a file."""
    with train_extra():
        from fastsql.training.corpus.packed import write_packed
        from fastsql.training.runs.loop import pack
        from fastsql.training.runs.progress import RunProgress

    cache = options.cache or options.pack.with_name("cache")
    with RunProgress(options.quiet) as progress:
        packed = pack(config, cache, options.processes, progress.note)
        progress.note("writing the file")
        write_packed(packed, options.pack)
    size = options.pack.stat().st_size / 1e6
    sys.stdout.write(f"{options.pack}: {len(packed.corpus.train)} examples to train on, {size:.1f} MB\n")
    return 0


def _calibrate(options: argparse.Namespace) -> str:
    """The command that calibrates the bundle of a run, split as the run split."""
    config = "CONFIG.toml" if options.config.endswith(".corpus") else options.config
    words = ["fastsql", "calibrate", options.output / "bundle", "--config", config]
    words += ["--cache", options.cache or options.output / "cache"]
    words += [word for assignment in options.assignments for word in ("--set", assignment)]
    return shlex.join(map(str, words))
