"""Train the reranker: python scripts/train_reranker.py configs/reranker-en.toml OUTPUT [--resume]."""

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
        "--minutes", type=float, help="instead of the configuration's; time before a resume counts"
    )
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--processes", type=int, default=1, help="that parse what is learnt from, and train (default: 1)"
    )
    options = parser.parse_args()

    from fastsql.training.reranker.export import export_reranker
    from fastsql.training.reranker.run import train_reranker
    from fastsql.training.reranker.settings import load_settings

    settings = load_settings(options.config)
    if options.minutes is not None:
        settings = replace(settings, run=replace(settings.run, minutes=options.minutes))
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    checkpoint = train_reranker(
        settings,
        options.output,
        resume=options.resume,
        threads=options.threads,
        processes=options.processes,
    )
    logging.info("%s", export_reranker(checkpoint, options.output / WEIGHTS))


if __name__ == "__main__":
    main()
