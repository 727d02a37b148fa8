"""``fastsql export``: write a checkpoint of a run as a bundle."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fastsql.cli.console import warn
from fastsql.cli.extras import train_extra
from fastsql.cli.options import share

_EPILOG = """\
examples:
  fastsql export runs/first/best.pt --output bundle
  fastsql export runs/second/last.pt --output bundle --mix ehr-en --share 0.5

Needs the extra train: pip install 'fastsql[train]'
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "export",
        help="write a checkpoint as a bundle",
        description="Write a checkpoint as a bundle, even while its run goes on.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkpoint", type=Path, help="last.pt or best.pt of a run")
    parser.add_argument("--output", type=Path, required=True, help="folder of the bundle")
    parser.add_argument(
        "--mix",
        metavar="MODEL",
        help="the bundled model or the folder of the bundle that the run was started from: the weights lie between both,"
        " which keeps more of what was known before",
    )
    parser.add_argument(
        "--share",
        metavar="SHARE",
        type=share,
        default=0.5,
        help="with --mix: how much of the weights is the checkpoint's, from 0 to 1 (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Export, and say where the bundle lies."""
    with train_extra():
        from fastsql.training.runs.checkpoint import export_checkpoint
    from fastsql.reliability import Reliability

    folder = export_checkpoint(
        options.checkpoint, options.output, mixed_with=options.mix, share=options.share
    )
    sys.stdout.write(f"{folder}\n")
    warn(f"{folder}: {Reliability().lacking}")
    return 0
