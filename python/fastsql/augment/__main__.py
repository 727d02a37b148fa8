"""``python -m fastsql.augment --examples 8000 --seed 1 --output FILE.json.gz``: synthetic pairs in the uniform form."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from fastsql.augment.generate import DATABASE, generate
from fastsql.augment.values import Vocabulary
from fastsql.augment.write import write_pairs
from fastsql.datasets import DatabaseFiles, read_examples
from fastsql.errors import FastSQLError


def main(arguments: list[str] | None = None) -> int:
    """Write the pairs; the exit status is 2 where an input cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m fastsql.augment",
        description="Write synthetic questions with SQL over MIMIC-IV's tables, in the uniform form.",
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
    options = parser.parse_args(arguments)
    try:
        gold = (
            [] if options.train is None else [item.sql for item in read_examples(options.train) if item.sql]
        )
        with ExitStack() as stack:
            database = None
            if options.terminology is not None:
                database = stack.enter_context(DatabaseFiles(options.terminology, [DATABASE])).path(DATABASE)
            vocabulary = Vocabulary.collect(gold, database)
        pairs = generate(
            options.examples,
            options.seed,
            vocabulary=vocabulary,
            known=gold,
            report=lambda line: print(line, file=sys.stderr),  # noqa: T201 - a command's progress
        )
        write_pairs(pairs, options.output)
    except (FastSQLError, OSError) as error:
        print(f"fastsql.augment: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
