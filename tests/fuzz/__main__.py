"""``python -m tests.fuzz --seconds 3600``: fuzz `parse` for a while, or replay one case."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ..worlds.toy_bundle import load_toy, write_bundle
from .check import BrokenPromiseError, Case, check


def main() -> int:
    """The exit status: 1 if a promise was broken."""
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    arguments.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    arguments.add_argument("--seed", type=int, default=0, help="which cases (default: 0)")
    arguments.add_argument("--case", type=int, help="replay this case alone, and show its text and the error")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parser = load_toy(write_bundle(Path(folder) / "toy"))
        if chosen.case is not None:
            case = Case.draw(chosen.seed, chosen.case)
            sys.stdout.write(ascii(case) + "\n")
            sys.stdout.write(check(parser, case) + "\n")
            return 0
        ended: Counter[str] = Counter()
        broken, end, number = 0, time.monotonic() + chosen.seconds, 0
        while time.monotonic() < end:
            try:
                ended[check(parser, Case.draw(chosen.seed, number))] += 1
            except BrokenPromiseError as error:
                broken += 1
                sys.stdout.write(f"{error}\n")
            number += 1
        counts = ", ".join(f"{count:,} {how}" for how, count in ended.most_common())
        sys.stdout.write(f"{number:,} cases of seed {chosen.seed}: {counts}; {broken} broken\n")
        return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
