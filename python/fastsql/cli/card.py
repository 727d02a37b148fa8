"""``fastsql card``: write the model card of a bundle."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fastsql.cli.extras import train_extra

_EPILOG = """\
examples:
  fastsql card runs/ehr-en/bundle --config configs/ehr-en.toml --scores report.json --command "fastsql eval ..."

All of a card is read from the bundle, the configuration and the report of fastsql eval. What is not known is left out.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    commands.add_parser(
        "card",
        help="write a bundle's model card",
        description="Write a bundle's model card.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        arguments=_arguments,
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    with train_extra():
        from fastsql.training.bundles.card import WEIGHTS_LICENCE

    parser.add_argument("bundle", type=Path, help="folder of the bundle; its README.md is replaced")
    parser.add_argument("--config", type=Path, required=True, help="the configuration that it was trained by")
    parser.add_argument("--scores", type=Path, metavar="REPORT", help="what fastsql eval --json wrote")
    parser.add_argument("--command", default="", help="the command line that printed the scores")
    parser.add_argument("--note", default="", help="how this bundle was made")
    parser.add_argument("--licence", default=WEIGHTS_LICENCE, help="of the weights (default: %(default)s)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the card, and say where it lies."""
    from fastsql.model.bundle import CARD, open_bundle
    from fastsql.training import load_config
    from fastsql.training.bundles.card import model_card, read_scores, write_card

    text = model_card(
        open_bundle(options.bundle),
        load_config(options.config),
        None if options.scores is None else read_scores(options.scores),
        command=options.command,
        note=options.note,
        licence=options.licence,
    )
    write_card(options.bundle, text)
    sys.stdout.write(f"{options.bundle / CARD}\n")
    return 0
