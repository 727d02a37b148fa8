"""How many schemas do designs become, how near are they to those that are reported on, and are pairs found over them?

    python benchmarks/made_schemas.py --json made_schemas.json
    python benchmarks/made_schemas.py --schemas 200 --tried 0        the names alone

FASTSQL_DATA names the folder of the data sets. Of `--schemas` variants of the designs:

distinct   schemas, and names of columns by their letters and digits
shared     the largest share of a variant's names that either set that is reported on has, as they are or spelled out

Of a pool of `--tried` schemas of all kinds, 50 pairs are asked for over each:

found      schemas over which they are found
seconds    processor time a schema, making its rows included
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.schema.keys import plain_name
from fastsql.synthesis.designs import designs, draw_variant
from fastsql.synthesis.designs.variant import shared_names
from fastsql.synthesis.many import pairs_over
from fastsql.synthesis.pool import SchemaPool

sys.path.insert(0, str(Path(__file__).parent))
from record import save

ASKED = 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Print two tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--schemas", type=int, default=1000, help="variants to draw")
    parser.add_argument("--tried", type=int, default=60, help="schemas to make pairs over")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    console = Console(out=sys.stdout)
    names = drawn(options.schemas, options.seed)
    console.table(list(names), [[str(value) for value in names.values()]])
    kinds = tried(options.tried, options.seed) if options.tried else {}
    rows = [[kind, *(f"{value:g}" for value in one.values())] for kind, one in kinds.items()]
    console.table(["kind", "schemas", "found", "seconds"], rows)
    save(options.json, {"variants": names, "kinds": kinds}, __file__, arguments)
    return 0


def drawn(number: int, seed: int) -> dict[str, float]:
    """What is counted of variants."""
    known = designs()
    prints: set[str] = set()
    names: set[str] = set()
    columns, shared = 0, 0.0
    for place in range(number):
        variant = draw_variant(known[place % len(known)], f"{seed}_{place // len(known)}")
        prints.add(variant.schema.fingerprint)
        names |= {plain_name(column.name) for column in variant.schema.columns}
        columns += len(variant.schema.columns)
        shared = max(shared, shared_names(variant))
    return {
        "designs": len(known),
        "variants": number,
        "distinct schemas": len(prints),
        "columns": columns,
        "distinct names": len(names),
        "shared at most": round(shared, 3),
    }


def tried(number: int, seed: int) -> dict[str, dict[str, float]]:
    """By kind of schema, how many there are, over how many enough pairs are found, and the time of one."""
    schemas, found, seconds = Counter[str](), Counter[str](), Counter[str]()
    with SchemaPool(number, seed, folder=Path(os.environ["FASTSQL_DATA"])) as pool:
        for one in pool.schemas:
            begun = time.process_time()
            with pool.open(one) as executor:
                found[one.kind] += len(pairs_over(one, executor, ASKED, seed)) >= ASKED
            seconds[one.kind] += time.process_time() - begun  # type: ignore[assignment] # a sum of times
            schemas[one.kind] += 1
    return {
        kind: {"schemas": count, "found": found[kind], "seconds": round(seconds[kind] / count, 2)}
        for kind, count in schemas.items()
    }


if __name__ == "__main__":
    sys.exit(main())
