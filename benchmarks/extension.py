"""Schema extension over the databases of a data set: where it applies, and which gold queries are carried over.

    python benchmarks/extension.py spider --json extension_spider.json

FASTSQL_DATA names the folder of the data sets. Operations are applied one at a time to each database, each at `--most` sites
drawn by the seed, and all pairs are carried over to what comes of it. Sets without rows (bird) get some that are made up,
and queries get literals that occur there. Counted for each operation are

sites, databases    where it applies, and in how many databases
tried               sites that it was applied to, and pairs that were carried there; of them
  same SQL          whose query names none of the changed tables
  rewritten, view   whose query was rewritten, or has a subquery in FROM for a table that is no more
  dropped           that could not be rewritten, or gave another answer
void                answers of pairs that are kept that have no row but NULLs: their equality says little
programs            of the queries that changed, those that the grammar can express, before and after
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.errors import FastSQLError
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.extension import OPERATIONS, extend_at, find_sites
from fastsql.synthesis.extension.operation import Site
from fastsql.synthesis.extension.pairs import AS_IT_WAS, OVER_A_VIEW, REWRITTEN
from fastsql.synthesis.source import SynthesisError

sys.path.insert(0, str(Path(__file__).parent))
from made_rows import MadeRows
from record import save

KEYS = (
    "databases", "sites", "tried", "pairs", "same SQL", REWRITTEN, "view", "dropped", "void", "gone",
    "programs before", "programs after",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each operation; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", help="a data set's folder, such as spider")
    parser.add_argument("--split", default="train", help="its file of pairs (default: train)")
    parser.add_argument(
        "--most", type=int, default=1, help="sites of each operation and database (default: 1)"
    )
    parser.add_argument(
        "--pairs", type=int, default=1000, help="pairs of each database at most (default: 1000)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    counts: dict[str, Counter[str]] = {name: Counter() for name in OPERATIONS}
    reasons: dict[str, Counter[str]] = {name: Counter() for name in OPERATIONS}
    number = 0
    with tempfile.TemporaryDirectory() as place:
        for schema, database, pairs in databases(options.set, options.split, Path(place)):
            number += 1
            chosen = rng.sample(pairs, min(options.pairs, len(pairs)))
            by_operation: defaultdict[str, list[Site]] = defaultdict(list)
            for site in find_sites(schema, database):
                by_operation[site.operation].append(site)
            for name, sites in by_operation.items():
                counts[name] += Counter(databases=1, sites=len(sites))
                for site in rng.sample(sites, min(options.most, len(sites))):
                    measure(schema, database, site, chosen, counts[name], reasons[name])
    rows = [(name, *(str(one[key]) for key in KEYS)) for name, one in counts.items()]
    console = Console(out=sys.stdout)
    console.line(f"{number} databases")
    console.table(("operation", *KEYS), rows)
    for name, found in reasons.items():
        console.line(f"{name} dropped: {', '.join(f'{count} {why}' for why, count in found.most_common())}")
    figures = {name: {**one, "reasons": dict(reasons[name])} for name, one in counts.items()}
    save(options.json, {"databases": number, "operations": figures}, __file__, arguments)
    return 0


def databases(name: str, split: str, place: Path) -> Iterator[tuple[Schema, Path, list[Example]]]:
    """The databases of a set with their pairs; with rows made up where there are none."""
    folder = Path(os.environ["FASTSQL_DATA"]) / name
    schemas = read_schemas(folder / "schemas.json")
    pairs: defaultdict[str, list[Example]] = defaultdict(list)
    for example in read_examples(folder / f"{split}.json"):
        if example.sql is not None and example.runs:
            pairs[example.db_id].append(example)
    source = folder / "databases" if (folder / "databases").is_dir() else None
    with DatabaseFiles(source or next(iter(folder.glob("*.sqlite.gz")), None), sorted(pairs)) as files:
        for db_id in Console().track(sorted(pairs), "databases", len(pairs)):
            path = files.path(db_id)
            if path is not None:
                yield schemas[db_id], path, pairs[db_id]
            elif source is None:
                made, path = MadeRows(schemas[db_id]), place / f"{db_id}.sqlite"
                made.write(path)
                yield schemas[db_id], path, [one for pair in pairs[db_id] for one in fitted(made, pair)]


def fitted(made: MadeRows, pair: Example) -> Iterator[Example]:
    """The pair with literals that the rows hold; none where its query cannot be read."""
    try:
        yield replace(pair, sql=made.with_literals(pair.sql or ""))
    except FastSQLError:
        yield pair  # for the tool to say why


def measure(
    schema: Schema,
    database: Path,
    site: Site,
    pairs: Sequence[Example],
    counts: Counter[str],
    why: Counter[str],
) -> None:
    """Count what becomes of the pairs at a site."""
    with tempfile.TemporaryDirectory() as place:
        try:
            made = extend_at(schema, database, Path(place) / "extended.sqlite", [lambda *_: site], pairs)
        except SynthesisError as error:
            why[f"site: {error.what}"] += 1
            return
    forms = Counter(pair.form for pair in made.pairs)
    changed = [pair for pair in made.pairs if pair.form != AS_IT_WAS]
    counts += Counter({
        "tried": 1,
        "pairs": len(pairs),
        "same SQL": forms[AS_IT_WAS],
        REWRITTEN: forms[REWRITTEN],
        "view": forms[OVER_A_VIEW],
        "dropped": len(made.dropped),
        "void": sum(pair.is_void for pair in made.pairs),
        "gone": sum(bool(pair.gone) for pair in made.pairs),
        "programs before": sum(converts(pair.original, schema) for pair in changed),
        "programs after": sum(converts(pair.example.sql or "", made.schema) for pair in changed),
    })  # fmt: skip
    why.update(dropped.why for dropped in made.dropped)


def converts(sql: str, schema: Schema) -> bool:
    """Whether the grammar has a program for a query."""
    try:
        sql_to_program(sql, schema)
    except (FastSQLError, ConversionError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
