"""``fastsql calibrate``: fit a bundle's two probabilities on questions that its model was not trained on."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import note
from fastsql.cli.extras import train_extra
from fastsql.cli.options import positive

if TYPE_CHECKING:
    from fastsql.training.config import TrainConfig
    from fastsql.training.corpus.corpus import Corpus

_OF_ALL = ("limit", "features", "folds")
"""Options that say nothing where all else is left as it is."""
_OF_SINGLE_QUESTIONS = (*_OF_ALL, "observations", "table", "alone", "elsewhere")
"""Options that say nothing of turns."""
_EPILOG = """\
examples:
  fastsql calibrate runs/ehr-en/bundle --config configs/ehr-en.toml --cache runs/ehr-en/cache
  fastsql calibrate runs/ehr-en/bundle --config configs/ehr-en.toml --observations observed.json.gz --table
  fastsql calibrate runs/ehr-en/bundle --config configs/ehr-en.toml --turns
  fastsql calibrate runs/ehr-en/bundle --config configs/ehr-en.toml --elsewhere      # after another reranker came

The questions are those that training held out, those without an answer, and further ones without an answer that are made.
Schemas are read with the profiles that CONFIG names (profile = "..." of a source), as in training.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    commands.add_parser(
        "calibrate",
        help="fit when a model answers and when it refuses",
        description="Fit a bundle's probabilities of being right and of having no answer on held-out questions.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        arguments=_arguments,
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    with train_extra():
        from fastsql.reliability import FEATURES
        from fastsql.training.calibration.observe import EHRSQL_NOW
        from fastsql.training.calibration.questions import MADE_QUESTIONS

    parser.add_argument("bundle", type=Path, help="folder of the bundle; its config.json is changed")
    parser.add_argument("--config", type=Path, required=True, help="the configuration that it was trained by")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="assignments",
        help="a setting that training was given so (repeatable)",
    )
    parser.add_argument("--seed", type=int, help="the seed of training (default: the one in the bundle)")
    parser.add_argument("--limit", type=positive, metavar="N", help="at most N questions of each kind")
    parser.add_argument(
        "--made",
        type=int,
        metavar="N",
        default=MADE_QUESTIONS,
        help="unanswerable questions to make (default: %(default)s)",
    )
    parser.add_argument(
        "--features",
        metavar="NAMES",
        help="what tells, on schemas that were trained on, whether there is an answer: "
        f"{','.join(FEATURES)}; correspondence alone is AIRI's method",
    )
    parser.add_argument(
        "--turns",
        action="store_true",
        help="fit how sure queries are that refer to earlier turns, and leave all else as it is",
    )
    parser.add_argument(
        "--elsewhere",
        action="store_true",
        help="fit how sure queries are over schemas never seen, and leave all else as it is",
    )
    parser.add_argument("--dry-run", action="store_true", help="print figures, and leave the bundle as it is")
    parser.add_argument(
        "--observations",
        type=Path,
        metavar="FILE",
        help="read what was observed from this file, or write it there",
    )
    parser.add_argument(
        "--folds",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="what models of other folds were observed to do, as scripts/fold_models.py writes it: thousands of errors",
    )
    parser.add_argument(
        "--table", action="store_true", help="with --observations: what each feature is worth, as Markdown"
    )
    parser.add_argument(
        "--alone",
        action="store_true",
        help="ask nobody for a second opinion, over schemas never seen and in doubt",
    )
    parser.add_argument(
        "--now", default=EHRSQL_NOW, metavar="TIME", help="the time of the questions (default: %(default)s)"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=0,
        metavar="N",
        help="threads of ONNX Runtime (default: its own choice)",
    )
    parser.add_argument(
        "--processes",
        type=positive,
        default=1,
        metavar="N",
        help="that parse the questions (default: %(default)s)",
    )
    parser.add_argument("--cache", type=Path, help="folder of converted programs, such as a run's")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Calibrate, and print the figures."""
    from fastsql.model import open_bundle
    from fastsql.training import load_config, override
    from fastsql.training.calibration.calibrate import calibrate, check_calibrated, describe, known_features
    from fastsql.training.calibration.figures import steps_table
    from fastsql.training.calibration.fit import UNANSWERED
    from fastsql.training.calibration.observations import load_observations
    from fastsql.training.calibration.table import tabulate
    from fastsql.training.calibration.usable import CalibrationError
    from fastsql.training.corpus.ahead import prepare_ahead
    from fastsql.training.corpus.corpus import load_corpus
    from fastsql.training.corpus.written import with_written

    unanswered = known_features(options.features.split(",")) if options.features else UNANSWERED
    bundle = open_bundle(options.bundle)
    for chosen, others in (("turns", _OF_SINGLE_QUESTIONS), ("elsewhere", _OF_ALL)):
        if not getattr(options, chosen):
            continue
        if unused := [name for name in others if getattr(options, name)]:
            raise CalibrationError(
                f"leaves all that --{unused[0]} is about as it is",
                where=f"--{chosen}",
                remedy="Leave one of the two out.",
            )
        check_calibrated(bundle)
    trained = bundle.config.settings.get("training", {})
    config = override(load_config(options.config), options.assignments)
    seed = options.seed if options.seed is not None else trained.get("seed", config.seed)
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        config = dataclasses.replace(config, seed=seed)
        if options.elsewhere:
            return _fit_elsewhere(options, config, cache)
        if not options.turns:  # which are of few sources
            prepare_ahead(config, cache, options.processes, note)
        config = with_written(config, cache, note)
        conversations = _conversations(config, cache)
        if options.turns:
            return _fit_turns(options, config, conversations)
        # How sure a query is that refers to nothing is fitted on single questions.
        sources = tuple(source for source in config.data.sources if not source.conversations)
        single = dataclasses.replace(config.data, sources=sources)
        corpus = load_corpus(single, seed, cache, note)
        # The databases of written questions lie in the cache.
        found = calibrate(
            options.bundle,
            config,
            corpus,
            conversations=conversations,
            limit=options.limit,
            made=options.made,
            now=options.now,
            threads=options.threads,
            unanswered=unanswered,
            observations=options.observations,
            folds=options.folds,
            second=not options.alone,
            processes=options.processes,
            store=not options.dry_run,
            report=note,
        )
    sys.stdout.write(f"{describe(found)}\n")
    if options.table and options.observations is not None:
        observed, *folds = map(load_observations, (options.observations, *options.folds))
        sys.stdout.write(f"\n{steps_table(tabulate(observed, folds))}\n")
    return 0


def _fit_elsewhere(options: argparse.Namespace, config: TrainConfig, cache: Path) -> int:
    """Fit only what is over schemas never seen, and print all figures."""
    from fastsql.training.calibration.calibrate import calibrate_elsewhere, describe
    from fastsql.training.calibration.figures import steps_table
    from fastsql.training.calibration.observations import load_observations
    from fastsql.training.calibration.table import as_arrays
    from fastsql.training.corpus.corpus import load_corpus
    from fastsql.training.corpus.written import with_written

    config = with_written(held_out_alone(config), cache, note)
    conversations = _conversations(config, cache)
    sources = tuple(source for source in config.data.sources if not source.conversations)
    corpus = load_corpus(dataclasses.replace(config.data, sources=sources), config.seed, cache, note)
    found = calibrate_elsewhere(
        options.bundle,
        config,
        corpus,
        conversations=conversations,
        now=options.now,
        threads=options.threads,
        observations=options.observations,
        second=not options.alone,
        processes=options.processes,
        store=not options.dry_run,
        report=note,
    )
    sys.stdout.write(f"{describe(found)}\n")
    if options.table and options.observations is not None:
        sys.stdout.write(f"\n{steps_table(as_arrays(load_observations(options.observations)))}\n")
    return 0


def held_out_alone(config: TrainConfig) -> TrainConfig:
    """A configuration of the sources of which databases are held out, and of nothing that is made or written to train on."""
    from fastsql.training.config import expand_path
    from fastsql.training.corpus.schemas import source_schemas
    from fastsql.training.corpus.split import HeldOut

    file = config.data.held_out
    held_out = HeldOut.load(expand_path(file)).databases if file else frozenset[str]()
    sources = tuple(one for one in config.data.sources if held_out & source_schemas(one).keys())
    made = dataclasses.replace(config.data.made, schemas=0)
    written = dataclasses.replace(config.data.written, pairs=0, hospital_weight=0.0)
    data = dataclasses.replace(config.data, sources=sources, made=made, written=written)
    return dataclasses.replace(config, data=data)


def _conversations(config: TrainConfig, cache: Path) -> Corpus | None:
    """The corpus of a configuration's conversations; None where it has none, or its model reads none."""
    from fastsql.training.corpus.corpus import load_corpus

    talks = tuple(source for source in config.data.sources if source.conversations)
    if not talks or not config.model.turns:
        return None
    nothing_made = dataclasses.replace(config.data.made, schemas=0)
    talked = dataclasses.replace(config.data, sources=talks, made=nothing_made)
    return load_corpus(talked, config.seed, cache, note)


def _fit_turns(options: argparse.Namespace, config: TrainConfig, conversations: Corpus | None) -> int:
    """Fit what refers to earlier turns alone, and print its figures. Raises CalibrationError without conversations."""
    from fastsql.training.calibration.calibrate import calibrate_turns
    from fastsql.training.calibration.conversations import turn_lines
    from fastsql.training.calibration.usable import CalibrationError

    if conversations is None:
        raise CalibrationError("has no conversations", where=str(options.config), remedy="Leave --turns out.")
    figures = calibrate_turns(
        options.bundle,
        config,
        conversations,
        now=options.now,
        threads=options.threads,
        store=not options.dry_run,
        report=note,
    )
    sys.stdout.writelines(f"{line}\n" for line in turn_lines(figures))
    return 0
