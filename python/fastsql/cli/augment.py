"""``fastsql augment``: write synthetic questions with SQL."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from fastsql.cli.console import note
from fastsql.cli.options import keep_sources

_EPILOG = """\
examples:
  fastsql augment --examples 8000 --seed 1 --output synthetic.json.gz
  fastsql augment --output synthetic.json --train train.json --terminology mimic_iv.sqlite.gz
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "augment",
        help="write synthetic questions with SQL",
        description="Write synthetic questions with SQL over MIMIC-IV's tables, in the uniform form.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--examples", metavar="N", type=int, default=8000, help="pairs at most (default: 8000)"
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=1, help="seed of everything random (default: 1)"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="a .json or .json.gz file")
    parser.add_argument(
        "--train",
        metavar="DATA.json",
        type=Path,
        help="training set whose names are used and whose templates get less weight (default: the demo hospital's names)",
    )
    parser.add_argument(
        "--terminology",
        metavar="DATABASE",
        type=Path,
        help="SQLite file, plain or .gz, whose terminology tables (d_*) give more names; no other table is read",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the pairs."""
    from fastsql.datasets import DatabaseFiles, read_examples
    from fastsql.synthesis.generate import generate
    from fastsql.synthesis.hospital import DATABASE, Hospital, Vocabulary
    from fastsql.synthesis.write import write_pairs

    keep_sources([options.output], [options.train, options.terminology])
    gold = [] if options.train is None else [item.sql for item in read_examples(options.train) if item.sql]
    with ExitStack() as stack:
        database = None
        if options.terminology is not None:
            database = stack.enter_context(DatabaseFiles(options.terminology, [DATABASE])).path(DATABASE)
        vocabulary = Vocabulary.collect(gold, database)
    with Hospital(vocabulary) as hospital:
        pairs = generate(hospital, options.examples, options.seed, known=gold, report=note)
    write_pairs(pairs, options.output)
    return 0
