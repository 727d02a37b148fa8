"""Are keys that nobody declared told by the values of a database?

    python benchmarks/contained_keys.py --json contained_keys.json

FASTSQL_DATA names the folder of the data sets. The declared keys of every schema that has a database are hidden. Counted are
pairs of a column and the key it is taken to refer to, between tables:

declared   keys of one column; with enough values: whose column has `LEAST` distinct values or more
by name    those that names and types alone tell (`fastsql.schema.keys`)
with values  those that `Schema.with_keys_from` finds where only they are hidden, and names
right      of the pairs that it adds: both columns are in one group of declared keys
"""

from __future__ import annotations

import argparse
import lzma
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, read_schemas
from fastsql.schema import Schema, quote
from fastsql.schema.contained import LEAST

sys.path.insert(0, str(Path(__file__).parent))
from record import save

SETS = {
    "spider": ("databases", "databases/train_databases.tar.xz"),
    "sm3_synthea": ("databases/synthea_sm3.sqlite.xz",),
    "ehrsql2024": ("mimic_iv.sqlite.gz",),
}
COLUMNS = (
    "databases",
    "declared",
    "enough values",
    "by name",
    "with values",
    "of enough",
    "added",
    "right",
    "seconds",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--wrong", action="store_true", help="name the pairs that are not declared")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    console = Console()
    rows = {}
    for name, places in SETS.items():
        schemas = read_schemas(options.data / name / "schemas.json")
        counts: Counter[str] = Counter(dict.fromkeys(COLUMNS, 0))
        done: set[str] = set()
        for place in places:
            with unpacked(options.data / name / place) as found, DatabaseFiles(found, list(schemas)) as files:
                for db_id, schema in schemas.items():
                    path = files.path(db_id)
                    if path is not None and db_id not in done:
                        done.add(db_id)
                        counts.update(measure(schema, path, wrong=options.wrong))
        rows[name] = dict(counts)
    console.table(
        ["set", *COLUMNS], [[name, *(round(row[key], 1) for key in COLUMNS)] for name, row in rows.items()]
    )
    save(options.json, {"sets": rows}, __file__, arguments)
    return 0


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The path, or that of what a plain .xz file holds."""
    if path.suffix != ".xz" or ".tar" in path.suffixes:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.stem
        with lzma.open(path) as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file)
        yield target


def measure(schema: Schema, path: Path, *, wrong: bool) -> Counter[str]:
    """What is found of one database's keys."""
    hidden = replace(schema, foreign_keys=())
    begun = time.perf_counter()
    shown = hidden.with_keys_from(path)
    seconds = time.perf_counter() - begun
    keys = {(key.columns[0], key.references[0]) for key in schema.foreign_keys if len(key.columns) == 1}
    keys = {pair for pair in keys if schema.columns[pair[0]].table != schema.columns[pair[1]].table}
    named = {pair for pair in keys if together(hidden, pair)}
    found = {pair for pair in keys if together(shown, pair)}
    full = {pair for pair in keys if distinct(schema, pair[0], path) >= LEAST}
    added = {(key.columns[0], key.references[0]) for key in shown.foreign_keys}
    added = {pair for pair in added if not together(hidden, pair)}
    right = {pair for pair in added if together(schema, pair)}
    if wrong:
        for column, key in sorted(added - right):
            print(f"{schema.name}: {schema.qualified_name(column)} -> {schema.qualified_name(key)}")
    return Counter(
        {
            "databases": 1,
            "declared": len(keys),
            "enough values": len(full),
            "by name": len(named),
            "with values": len(found),
            "of enough": len(found & full),
            "added": len(added),
            "right": len(right),
            "seconds": seconds,
        }
    )


def together(schema: Schema, pair: tuple[int, int]) -> bool:
    """Whether two columns hold the same keys."""
    one, other = (schema.key_groups[column] for column in pair)
    return one == other >= 0


def distinct(schema: Schema, column: int, path: Path) -> int:
    """Distinct values of a column, up to `LEAST`."""
    table, name = schema.tables[schema.columns[column].table].name, schema.columns[column].name
    sql = f"SELECT COUNT(*) FROM (SELECT DISTINCT {quote(name)} FROM {quote(table)} LIMIT {LEAST})"
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(sql).fetchone()[0])


if __name__ == "__main__":
    sys.exit(main())
