"""Begin from a bundle with what the model that it came from has learnt since: what `fastsql train --warm-start` takes.

python scripts/carry_over.py css-zh --before ehr-en.then --after ehr-en --share 0.5 --output start
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path


def main() -> None:
    """Write the bundle."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", help="a bundled model's name or a bundle's folder")
    parser.add_argument("--before", required=True, help="the bundle that it began from")
    parser.add_argument("--after", required=True, help="a later version of that one")
    parser.add_argument(
        "--share", type=float, default=0.5, help="of what was learnt, 0 to 1 (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder of the bundle that is written")
    options = parser.parse_args()

    from fastsql.parser.bundles import open_model
    from fastsql.training.bundles.export import export_bundle
    from fastsql.training.bundles.mixing import carried_over

    own, before, after = map(open_model, (options.bundle, options.before, options.after))
    export_bundle(
        carried_over(own, before, after, options.share),
        own.tokenizer(),
        options.output,
        name=own.config.name,
        productions=own.config.productions,
        symbols=own.config.symbols,
        settings=own.config.settings,
    )
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.info("%s", options.output)


if __name__ == "__main__":
    main()
