"""Train the reverse model: python scripts/train_reverse.py configs/reverse-en.toml OUTPUT [--resume] [--warm-start FILE]."""

from __future__ import annotations

import argparse
import logging
from dataclasses import replace
from pathlib import Path

WEIGHTS = "weights.safetensors"


def main() -> None:
    """Train, resume, or train longer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument(
        "--warm-start", metavar="FILE", type=Path, help="weights of a reverse model to start from"
    )
    parser.add_argument(
        "--minutes", type=float, help="instead of the configuration's; time before a resume counts"
    )
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()

    from fastsql.training.reverse.export import export_reverse
    from fastsql.training.reverse.run import train_reverse
    from fastsql.training.reverse.settings import load_settings

    settings = load_settings(options.config)
    if options.minutes is not None:
        settings = replace(settings, run=replace(settings.run, minutes=options.minutes))
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    checkpoint = train_reverse(
        settings,
        options.output,
        resume=options.resume,
        warm_start=options.warm_start,
        threads=options.threads,
    )
    logging.info("%s", export_reverse(checkpoint, options.output / WEIGHTS))


if __name__ == "__main__":
    main()
