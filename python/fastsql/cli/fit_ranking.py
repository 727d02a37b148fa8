"""``fastsql fit-ranking``: fit the weights with which columns of large schemas are ranked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fastsql.cli.extras import train_extra

_DESCRIPTION = """\
Fit the weights with which columns of large schemas are ranked (fastsql.linking.column_ranking).

Reads train.json and schemas.json of each folder and prints the weights, to be written into the module, and beside the ones
fitted on all databases what such weights keep on databases that had no part in fitting them.
"""
_EPILOG = """\
examples:
  fastsql fit-ranking $FASTSQL_DATA/spider $FASTSQL_DATA/bird
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "fit-ranking",
        help="fit how columns of large schemas are ranked",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="+", type=Path, help="folders with train.json and schemas.json")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the weights, and how good they are."""
    with train_extra():
        from fastsql.training.calibration.column_ranking import fitted_lines, read_cases

    for line in fitted_lines([case for folder in options.folders for case in read_cases(folder)]):
        sys.stdout.write(f"{line}\n")
    return 0
