"""What models make of questions that they were not trained on, by the thousand, for `fastsql calibrate --folds`.

    python scripts/fold_models.py configs/ehr-en.toml runs/folds --minutes 15 --processes 2
    fastsql calibrate runs/ehr-en/bundle --config configs/ehr-en.toml --folds runs/folds/*/observations.json.gz

The configuration's data are parted in folds; for each, a model is trained from a clean start without it, and observed on it.
What is done is not done again, and a fold that was interrupted goes on, so this can be stopped at any time.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from fastsql.errors import CalibrationWarning


def main() -> None:
    """Train and observe one fold after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", type=Path, help="the configuration of the model that is to be calibrated")
    parser.add_argument("output", type=Path, help="folder of the folds")
    parser.add_argument("--folds", type=int, default=5, help="how many (default: %(default)s)")
    parser.add_argument("--only", type=int, metavar="K", help="the K-th fold alone, from 0")
    parser.add_argument("--minutes", type=float, default=15, help="of training a fold (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=1, help="that train together (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], dest="assignments", metavar="KEY=VALUE")
    options = parser.parse_args()

    from fastsql.training.calibration.fold_models import observe_folds
    from fastsql.training.config import load_config, override

    config = override(load_config(options.config), options.assignments)
    warnings.simplefilter("ignore", CalibrationWarning)  # these are only observed
    found = observe_folds(
        config,
        options.output,
        options.folds,
        _note,
        minutes=options.minutes,
        processes=options.processes,
        only=options.only,
    )
    sys.stdout.writelines(f"{file}\n" for file in found)


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
