"""How well names of databases are read: words that `fastsql.profile` adds to the native names of SNAILS.

    python benchmarks/name_words.py --json name_words.json

FASTSQL_DATA names the folder of the data sets. SNAILS gives every name a natural one, which tells what is right as far as
it goes: some of its natural names are still cut, abbreviated or explained. Counted once for each name of a database are
words, without their endings:

spelled    words that spelling abbreviations out added; right: those that the natural name has
cut        words that cutting a run of letters added; right: those that the natural name has
lacking    words of natural names that the plain label lacks, whether the name hints at them or not; found: those added
by hand    whether mistakes of the database were looked at while the list of abbreviations was made
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import read_schemas
from fastsql.linking.word_match import stem
from fastsql.profile.words import Names
from fastsql.schema import Schema, label_from_name

sys.path.insert(0, str(Path(__file__).parent))
from record import save

NOT_LOOKED_AT = ("CratersWildlifeObservations", "NYSED_SRC2022")
COLUMNS = ("database", "by hand", "names", "spelled", "right", "cut", "right", "lacking", "found")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    schemas = read_schemas(Path(os.environ["FASTSQL_DATA"]) / "snails" / "schemas.json")
    counts = {name: counted(schema) for name, schema in schemas.items()}
    for title, held in (("all", False), ("all not looked at", True)):
        taken = [one for name, one in counts.items() if not held or name in NOT_LOOKED_AT]
        counts[title] = sum(taken, Counter())
    rows = [
        (name, "" if name.startswith("all") else "no" if name in NOT_LOOKED_AT else "yes", *figures(one))
        for name, one in counts.items()
    ]
    Console(out=sys.stdout).table(COLUMNS, [list(map(str, row)) for row in rows])
    save(options.json, {"databases": {name: dict(one) for name, one in counts.items()}}, __file__, arguments)
    return 0


KEYS = ("names", "spelled", "spelled right", "cut", "cut right", "lacking", "found")


def figures(counts: Counter[str]) -> tuple[int, ...]:
    """The counts in the order of the table."""
    return tuple(counts[key] for key in KEYS)


def counted(schema: Schema) -> Counter[str]:
    """What is counted of one database."""
    names = Names([table.name for table in schema.tables], [column.name for column in schema.columns])
    items = {(table.name, table.label, True) for table in schema.tables}
    items |= {(column.name, column.label, False) for column in schema.columns}
    found = Counter[str](names=len(items))
    for name, natural, is_table in sorted(items):
        plain, wanted = bag(label_from_name(name)), bag(natural)
        new = bag(names.read(name, table=is_table).spelled) - plain
        letters = "".join(re.findall("[a-z]", name.lower()))
        cut = Counter({word: count for word, count in new.items() if word in letters})
        spelled, lacking = new - cut, wanted - plain
        found["spelled"] += spelled.total()
        found["spelled right"] += (spelled & wanted).total()
        found["cut"] += cut.total()
        found["cut right"] += (cut & wanted).total()
        found["lacking"] += lacking.total()
        found["found"] += (lacking & new).total()
    return found


def bag(text: str) -> Counter[str]:
    """The words of a text without their endings."""
    return Counter(stem(word) for word in re.findall("[a-z]+", text.lower()))


if __name__ == "__main__":
    sys.exit(main())
