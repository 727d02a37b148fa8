"""Which columns do questions name, if words of a profile, or descriptions, count as names?

    python benchmarks/profile_links.py --json profile_links.json

FASTSQL_DATA names the folder of the data sets. Labels are thrown away and made anew as `profile_labels.py` does: plain,
read in words, and with descriptions beside. Of the answerable questions of each set:

needed   columns of gold SQL (whose names and tables' names stand in it) of which the question says a part, in percent
others   other columns of which it says a part, a question
whole    the same of columns whose whole name or synonym the question says
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fastsql.cli.console import Console
from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.linking.relations import SchemaLinks, split_words
from fastsql.schema import Schema
from profile_labels import SETS, said

sys.path.insert(0, str(Path(__file__).parent))
from record import save

WAYS = ("plain", "words", "described")
COLUMNS = ("set", "names", "needed", "others", "needed, whole", "others, whole")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    data, rows = Path(os.environ["FASTSQL_DATA"]), []
    for name, split in SETS.items():
        examples = [one for one in read_examples(data / name / f"{split}.json") if one.sql is not None]
        schemas = read_schemas(data / name / "schemas.json", databases={one.db_id for one in examples})
        for way in WAYS:
            called = {one: said(schema, way) for one, schema in schemas.items()}
            links = {
                one: SchemaLinks(schema if way == "plain" else schema.spelled)
                for one, schema in called.items()
            }
            rows.append((name, way, *named(examples, links)))
    Console(out=sys.stdout).table(COLUMNS, [[str(cell) for cell in row] for row in rows])
    save(options.json, {"rows": [dict(zip(COLUMNS, row, strict=True)) for row in rows]}, __file__, arguments)
    return 0


def named(examples: Sequence[Example], links: dict[str, SchemaLinks]) -> tuple[float, ...]:
    """What is counted of a set: needed and others, by part and whole names."""
    needed, found, others = 0, np.zeros(2), np.zeros(2)
    for example in examples:
        link = links[example.db_id]
        offsets = np.array([place[1:] for place in split_words(example.question)], dtype=np.int32).reshape(
            -1, 2
        )
        best = link.name_matches(example.question, offsets)[:, len(link.schema.tables) :].max(
            axis=0, initial=0
        )
        gold = needed_columns(link.schema, str(example.sql))
        needed += int(gold.sum())
        for place, least in enumerate((1, 2)):
            found[place] += int((gold & (best >= least)).sum())
            others[place] += int((~gold & (best >= least)).sum())
    part, whole = (100 * found / max(needed, 1)).round(1).tolist()
    some, all_of = (others / max(len(examples), 1)).round(2).tolist()
    return part, some, whole, all_of


def needed_columns(schema: Schema, sql: str) -> np.ndarray:
    """bool[C], the columns whose names and tables' names stand in a query."""
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    in_sql = [table.name.lower() in words for table in schema.tables]
    return np.array([in_sql[one.table] and one.name.lower() in words for one in schema.columns])


if __name__ == "__main__":
    sys.exit(main())
