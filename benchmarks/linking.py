"""Which gold tables and columns does linking point at, and which does the pre-selection for large schemas keep?

    python benchmarks/linking.py                                every set below FASTSQL_DATA
    python benchmarks/linking.py --set beaver snails --columns 400 --json linking.json

FASTSQL_DATA names the folder of the data sets. No model takes part. Of each set's answerable questions:

tables, columns   gold ones that a word of the question names, in whole or in part, or that hold a value found in it
abbreviations     the same with abbreviations found, too (`fastsql.linking.abbreviations`)
linked            share of all columns that are linked, so what a link tells: the smaller, the more
kept              gold tables and gold columns that are among the `--columns` kept (`fastsql.linking.selection`), and
                  questions of which none is lost; over questions on schemas that have more columns than that
lost keys         of the gold columns lost, those in a foreign key; unsaid: others that no word or value points to

`--large` passes over questions on smaller schemas.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlglot.errors import SqlglotError

from fastsql.cli.console import Console
from fastsql.datasets import (
    GOLD_DIALECTS,
    DatabaseFiles,
    Example,
    read_examples,
    read_schemas,
    read_values,
    with_known_values,
)
from fastsql.errors import FastSQLError
from fastsql.linking import Candidate, GoldItems, SchemaSelector, ValueDictionary, find_candidates, gold_items
from fastsql.linking.folding import words
from fastsql.linking.name_search import NameSearch
from fastsql.linking.relations import SchemaLinks
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from record import save

SPLITS = ("train", "dev", "valid", "examples")


@dataclass
class Tally:
    """What was counted over one set."""

    name: str
    questions: int = 0
    unread: int = 0
    tables: int = 0
    columns: int = 0
    linked_tables: int = 0
    linked_columns: int = 0
    abbreviated_tables: int = 0
    abbreviated_columns: int = 0
    share_linked: float = 0.0
    share_abbreviated: float = 0.0
    large: int = 0
    large_tables: int = 0
    large_columns: int = 0
    kept: int = 0
    kept_tables: int = 0
    kept_columns: int = 0
    lost_keys: int = 0
    lost_unsaid: int = 0
    seconds: float = 0.0

    def report(self) -> dict[str, Any]:
        """Figures in percent, and counts."""

        def share(count: float, of: int) -> float | None:
            return round(100 * count / of, 2) if of else None

        return {
            "set": self.name,
            "questions": self.questions,
            "unread": self.unread,
            "tables": share(self.linked_tables, self.tables),
            "columns": share(self.linked_columns, self.columns),
            "linked": share(self.share_linked, self.questions),
            "abbreviations": {
                "tables": share(self.abbreviated_tables, self.tables),
                "columns": share(self.abbreviated_columns, self.columns),
                "linked": share(self.share_abbreviated, self.questions),
            },
            "large": self.large,
            "kept": share(self.kept, self.large),
            "kept_tables": share(self.kept_tables, self.large_tables),
            "kept_columns": share(self.kept_columns, self.large_columns),
            "lost_columns": self.large_columns - self.kept_columns,
            "lost_keys": self.lost_keys,
            "lost_unsaid": self.lost_unsaid,
            "selection_ms": round(1000 * self.seconds / self.large, 1) if self.large else None,
        }


class Domain:
    """A schema with what linking builds for it once."""

    def __init__(self, schema: Schema, dictionary: ValueDictionary | None) -> None:
        self.schema = schema
        self.dictionary = dictionary
        self.links = SchemaLinks(schema)
        self.abbreviated = SchemaLinks(schema, abbreviations=True)
        self.selector = SchemaSelector(schema)
        self.search = NameSearch(schema)
        self.keys = {column for key in schema.foreign_keys for column in (*key.columns, *key.references)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    options = _options().parse_args(arguments)
    console = Console()
    names = options.set or sorted(path.parent.name for path in options.data.glob("*/schemas.json"))
    reports = []
    for name in names:
        examples = _examples(options.data / name, options.limit, options.columns if options.large else 0)
        if not examples and options.large:
            continue
        if not examples:
            print(f"no examples in {options.data / name}; set FASTSQL_DATA or give --data", file=sys.stderr)
            return 1
        reports.append(measure(name, examples, options.data / name, options.columns, console).report())
    _print(console, reports, options.columns)
    save(options.json, {"columns": options.columns, "sets": reports}, __file__, arguments)
    return 0


def measure(name: str, examples: Sequence[Example], folder: Path, columns: int, console: Console) -> Tally:
    """Link and select for every example of a set."""
    schemas = read_schemas(folder / "schemas.json", databases={example.db_id for example in examples})
    excerpt = folder / "values.json.gz"
    values = read_values(excerpt) if excerpt.is_file() else {}
    tally = Tally(name)
    with DatabaseFiles(_databases(folder), list(schemas)) as files:
        domains = {
            db_id: Domain(*with_known_values(schema, files.path(db_id), values.get(db_id)))
            for db_id, schema in schemas.items()
        }
    for example in console.track(examples, name, len(examples)):
        domain = domains[example.db_id]
        try:
            gold = gold_items(example.sql or "", domain.schema, GOLD_DIALECTS.get(name, "sqlite"))
        except SqlglotError:
            tally.unread += 1
            continue
        tally.questions += 1
        tally.tables += len(gold.tables)
        tally.columns += len(gold.columns)
        candidates = find_candidates(example.question, domain.schema, domain.dictionary)
        _measure_links(example.question, candidates, domain, gold, tally)
        if len(domain.schema.columns) > columns:
            _measure_selection(example.question, candidates, domain, gold, tally, columns)
    return tally


def _measure_links(
    question: str, candidates: Sequence[Candidate], domain: Domain, gold: GoldItems, tally: Tally
) -> None:
    plain = _linked(question, candidates, domain.links)
    tally.linked_tables += len(gold.tables & plain[0])
    tally.linked_columns += len(gold.columns & plain[1])
    tally.share_linked += len(plain[1]) / len(domain.schema.columns)
    more = _linked(question, candidates, domain.abbreviated)
    tally.abbreviated_tables += len(gold.tables & more[0])
    tally.abbreviated_columns += len(gold.columns & more[1])
    tally.share_abbreviated += len(more[1]) / len(domain.schema.columns)


def _linked(
    question: str, candidates: Sequence[Candidate], links: SchemaLinks
) -> tuple[frozenset[int], frozenset[int]]:
    """Tables and columns with a link to a word or a value."""
    offsets = np.array([(word.start, word.end) for word in words(question)], dtype=np.int32).reshape(-1, 2)
    items = np.flatnonzero(links.name_matches(question, offsets).any(axis=0)).tolist()
    first = links.nodes.columns.start
    tables = {item for item in items if item < first}
    columns = {item - first for item in items if item >= first}
    held = {column for candidate in candidates for column in candidate.columns}
    tables |= {links.schema.columns[column].table for column in held}
    return frozenset(tables), frozenset(columns | held)


def _measure_selection(
    question: str,
    candidates: Sequence[Candidate],
    domain: Domain,
    gold: GoldItems,
    tally: Tally,
    columns: int,
) -> None:
    began = time.process_time()
    selection = domain.selector.select(question, candidates, limit=columns)
    tally.seconds += time.process_time() - began
    lost = gold.columns.difference(selection.columns)
    tables = len(gold.tables.intersection(selection.tables))
    tally.large += 1
    tally.large_tables += len(gold.tables)
    tally.large_columns += len(gold.columns)
    tally.kept += not lost and tables == len(gold.tables)
    tally.kept_tables += tables
    tally.kept_columns += len(gold.columns) - len(lost)
    if lost:
        said = domain.search.find(question, candidates).columns > 0
        tally.lost_keys += len(lost & domain.keys)
        tally.lost_unsaid += sum(not said[column] for column in lost - domain.keys)


def _databases(folder: Path) -> Path | None:
    """Where a set's databases lie: SQLite files, plain or packed, in its folder or in a folder below."""
    for place in (folder / "databases", folder):
        if any(next(place.glob(end), None) for end in ("*.sqlite", "*.sqlite.gz", "*.db", "*.tar*")):
            return place
    return None


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", nargs="+", help="names of data sets' folders; all that have schemas")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--limit", type=int, help="questions of each set, evenly spread")
    parser.add_argument("--large", action="store_true", help="only questions that a selection is made for")
    parser.add_argument("--columns", type=int, default=200, help="columns that a selection keeps")
    parser.add_argument("--json", type=Path)
    return parser


def _examples(folder: Path, limit: int | None, above: int = 0) -> list[Example]:
    """Answerable questions on schemas of more than `above` columns."""
    schemas = read_schemas(folder / "schemas.json") if above else {}
    small = {name for name, schema in schemas.items() if len(schema.columns) <= above}
    found: list[Example] = []
    for split in SPLITS:
        for path in (folder / f"{split}.json", folder / f"{split}.json.gz"):
            if path.is_file():
                found += [one for one in read_examples(path) if one.answerable and one.runs]
    found = [one for one in found if one.db_id not in small]
    count = len(found) if limit is None else min(limit, len(found))
    return [found[k * len(found) // count] for k in range(count)]


def _print(console: Console, reports: Sequence[dict[str, Any]], columns: int) -> None:
    console.line("percent; gold tables and columns linked, without and with abbreviations")
    heads = ["set", "questions", "tables", "columns", "linked", "abbr. tables", "columns", "linked"]
    heads += ["large", f"kept at {columns}: tables", "columns", "all", "lost", "keys", "unsaid", "ms"]
    rows = []
    for one in reports:
        rows.append([one[key] for key in ("set", "questions", "tables", "columns", "linked")])
        rows[-1] += [one["abbreviations"][key] for key in ("tables", "columns", "linked")]
        rows[-1] += [one[key] for key in ("large", "kept_tables", "kept_columns", "kept")]
        rows[-1] += [one[key] for key in ("lost_columns", "lost_keys", "lost_unsaid", "selection_ms")]
    console.table(heads, rows)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FastSQLError as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)
