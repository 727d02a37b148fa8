"""``fastsql renumber``: carry a bundle over to a grammar that has grown since."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fastsql.cli.extras import train_extra

_DESCRIPTION = """\
A bundle for a grammar that has grown since.

Rows follow the names of their productions and symbols. What the model never learned it never writes: a new production scores
far below every known one, so that old questions are answered as before. Train on from the result to teach it.
"""
_EPILOG = """\
examples:
  fastsql renumber runs/first/bundle --output renumbered
  fastsql train configs/ehr-en.toml --output runs/second --warm-start renumbered

Needs the extra train: pip install 'fastsql[train]'
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "renumber",
        help="carry a bundle over to a grammar that has grown",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", help="a bundled model, or the folder of a bundle")
    parser.add_argument("--output", type=Path, required=True, help="folder of the new one")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Renumber, and say where the new bundle lies."""
    with train_extra():
        from fastsql.training.bundles.renumber import renumber
    sys.stdout.write(f"{renumber(options.bundle, options.output)}\n")
    return 0
