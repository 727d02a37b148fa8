"""How much of a data set's gold SQL can the grammar say, and how many of its literals can be had?

    python benchmarks/coverage.py                                ehrsql2024, train and valid
    python benchmarks/coverage.py --set spider --limit 500 --json coverage.json
    python benchmarks/coverage.py --set all --values gold

FASTSQL_DATA names the folder of the data sets. No model takes part. For each split:

converted    SQL -> program of the grammar
round trip   program -> SQL that gives the same rows (compared as the EHRSQL 2024 scorer does); where there is no database,
             or gold does not run on it, that has the same canonical form
traceable    the program can be written with the actions that the question offers: its value candidates, free spans and what
             stands with the schema; with a dictionary and the small domains of the database, and without db
recall       gold literals that can be had (`fastsql.linking.literal_recall`), with and without the same
decisions    that a decoder must take to write a query

Where there is no database, values come from the set's ``values.json.gz``, an excerpt; with ``--values gold`` and no such
file they are the literals of the gold SQL itself: the question then is only whether a question mentions what a dictionary
holds, and "with" is no figure of a parser in use. Gold SQL of another dialect is translated to SQLite's first.

What stands with the schema are named constants and the values that the questions of the *training* split need and do not
say (`fastsql.linking.standing_values`); so the literals of that split are had more easily than others.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from sqlglot.errors import SqlglotError

from fastsql.cli.console import Console
from fastsql.datasets import (
    GOLD_DIALECTS,
    ColumnValues,
    DatabaseFiles,
    Example,
    as_sqlite,
    gold_values,
    read_examples,
    read_schemas,
    read_values,
    with_known_values,
)
from fastsql.errors import FastSQLError
from fastsql.evaluation.coverage import Coverable, Tally, Tokenize, Tokens, measure
from fastsql.execution import ReadOnlyExecutor
from fastsql.linking import column_literals, gold_literals, standing_values
from fastsql.parser import BUNDLED, DEFAULT_MODEL
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from record import save

NOW = "2100-12-31 23:59:00"
SPLITS = ("train", "valid", "dev", "examples")
TRAIN = "train"
TAUGHT = 10
"""Training queries that are learned from for each query that `--limit` allows."""
DATABASES = ("databases", ".")
WORDS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")
UNREADABLE = "SQL that sqlglot cannot read"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    options = _options().parse_args(arguments)
    console = Console()
    tokenizer, tokenize = _tokenizer(options.tokenizer)
    names = _sets(options.data) if options.set == "all" else [options.set]
    tallies: list[Tally] = []
    for name in names:
        found = _measure_set(name, options, tokenize, console)
        if not found and options.set != "all":
            print(f"no examples in {options.data / name}; set FASTSQL_DATA or give --data", file=sys.stderr)
            return 1
        tallies += found
        _print(console, [tally.report() for tally in found])
    reports = [tally.report() for tally in tallies]
    console.line(f"\nall, tokens: {tokenizer}; percent of queries, or of literals")
    _print(console, reports)
    for stage in dict.fromkeys(stage for report in reports for stage in report["failures"]):
        _print_failures(console, stage, reports)
    content = {"sets": names, "now": options.now, "values": options.values}
    save(options.json, {**content, "tokenizer": tokenizer, "splits": reports}, __file__, arguments)
    return 0


def _measure_set(name: str, options: argparse.Namespace, tokenize: Tokenize, console: Console) -> list[Tally]:
    folder = options.data / name
    splits = {split: path for split in options.splits if (path := _file(folder, split)) is not None}
    dialect = GOLD_DIALECTS.get(name, "sqlite")
    tallies = []
    examples: dict[str, list[Example]] = {}
    for split, path in splits.items():
        tallies.append(Tally(name, split))
        chosen = _spread(_answerable(path), options.limit)
        examples[split] = list(_in_sqlite(chosen, dialect, tallies[-1]))
    needed = {example.db_id for found in examples.values() for example in found}
    if not needed:
        return tallies
    schemas = read_schemas(folder / "schemas.json", databases=needed)
    values = _values(folder, options.values, chain.from_iterable(examples.values()), schemas)
    source = next((folder / place for place in DATABASES if _has_databases(folder / place)), None)
    training = _file(folder, TRAIN)
    taught = _answerable(training) if training is not None and dialect == "sqlite" else ()
    taught = tuple(_spread(taught, TAUGHT * options.limit if options.limit else None))
    with DatabaseFiles(source, list(schemas)) as files:
        domains = {
            db_id: _domain(
                schema,
                files.path(db_id),
                values.get(db_id),
                [e for e in taught if e.db_id == db_id],
                options.seconds,
            )
            for db_id, schema in console.track(schemas.items(), f"{name} databases", len(schemas))
        }
        for tally in tallies:
            found = examples[tally.split]
            for example in console.track(found, f"{name} {tally.split}", len(found)):
                measure(example, domains[example.db_id], tokenize, options.now, tally)
    return tallies


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", default="ehrsql2024", help="name of the data set's folder, or all")
    parser.add_argument("--splits", nargs="+", default=SPLITS, help="files without .json, those that exist")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--limit", type=int, help="queries of each split, evenly spread")
    parser.add_argument(
        "--values",
        choices=("published", "gold"),
        default="published",
        help="what stands in for a missing database: a published excerpt only, or else gold's own literals",
    )
    parser.add_argument("--now", default=NOW, help='the time that "now" means')
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of one query")
    parser.add_argument("--tokenizer", type=Path, help="tokenizer.json; the bundled model's, else words")
    parser.add_argument("--json", type=Path)
    return parser


# ---------------------------------------------------------------- the data


def _sets(data: Path) -> list[str]:
    return sorted(path.parent.name for path in data.glob("*/schemas.json"))


def _file(folder: Path, name: str) -> Path | None:
    return next((path for end in (".json", ".json.gz") if (path := folder / f"{name}{end}").is_file()), None)


def _answerable(path: Path) -> tuple[Example, ...]:
    return tuple(example for example in read_examples(path) if example.answerable and example.runs)


def _spread(examples: Sequence[Example], limit: int | None) -> list[Example]:
    count = len(examples) if limit is None else min(limit, len(examples))
    return [examples[k * len(examples) // count] for k in range(count)]


def _in_sqlite(examples: Sequence[Example], dialect: str, tally: Tally) -> Iterator[Example]:
    """The examples with SQL for SQLite; what sqlglot cannot read is counted as a query that is not converted."""
    for example in examples:
        sql = _translated(example.sql or "", dialect)
        if sql is None:
            tally.queries += 1
            tally.fail("conversion", UNREADABLE, example)
        else:
            yield replace(example, sql=sql)


def _translated(sql: str, dialect: str) -> str | None:
    try:
        return as_sqlite(sql, dialect)
    except SqlglotError:
        return None


def _has_databases(folder: Path) -> bool:
    names = ("*.sqlite", "*.sqlite.gz", "*.db", "*.tar*")
    return folder.is_dir() and any(next(folder.glob(name), None) is not None for name in names)


def _values(
    folder: Path, source: str, examples: Iterator[Example], schemas: Mapping[str, Schema]
) -> dict[str, ColumnValues]:
    """What is known of databases that are not there, by id."""
    excerpt = folder / "values.json.gz"
    known = read_values(excerpt) if excerpt.is_file() else {}
    if source == "gold":
        queries = {(one.db_id, one.sql) for one in examples if one.sql and one.db_id not in known}
        literals: dict[str, list[tuple[tuple[str, str], str]]] = {}
        for db_id, sql in sorted(queries):
            literals.setdefault(db_id, []).extend(column_literals(sql, schemas[db_id]))
        known |= {db_id: gold_values(found) for db_id, found in literals.items()}
    return known


def _domain(
    schema: Schema,
    path: Path | None,
    known: ColumnValues | None,
    taught: Sequence[Example],
    seconds: float,
) -> Coverable:
    pairs = [(example.question, example.sql) for example in taught if example.sql is not None]
    standing = standing_values(_readable(pairs), schema)
    full, dictionary = with_known_values(schema, path, known)
    executor = ReadOnlyExecutor(path, time_limit=seconds) if path is not None else None
    return Coverable(
        schema, {"with": _add(full, standing), "without": _add(schema, standing)}, dictionary, executor
    )


def _readable(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for question, sql in pairs:
        try:
            gold_literals(sql)
        except SqlglotError:
            continue
        yield question, sql


def _add(schema: Schema, standing: Mapping[tuple[str, str], Sequence[Any]]) -> Schema:
    values = {}
    for (table, column), texts in standing.items():
        present = schema.columns[schema.column_index(table, column)].values
        values[table, column] = (*present, *(text for text in texts if text not in present))
    return schema.with_values(values)


def _tokenizer(path: Path | None) -> tuple[str, Tokenize]:
    """What cuts questions into tokens: a model's tokenizer, or words, Chinese characters and punctuation marks."""
    path = path or BUNDLED / DEFAULT_MODEL / "tokenizer.json"
    if path.is_file():
        from fastsql.model.tokenizer import Tokenizer

        tokenizer = Tokenizer.from_file(path)
        return "WordPiece", lambda text: tokenizer.tokenize(text).offsets

    def words(text: str) -> Tokens:
        return np.asarray([match.span() for match in WORDS.finditer(text)], dtype=np.int32).reshape(-1, 2)

    return "words", words


# ---------------------------------------------------------------- the report


def _print(console: Console, reports: Sequence[Mapping[str, Any]]) -> None:
    columns = ["set", "split", "queries", "converted", "round trip", "traceable", "without db"]
    columns += ["literals", "recall", "without db", "decisions p50", "p95", "max"]
    rows = []
    for report in reports:
        rows.append([report[key] for key in ("set", "split", "queries", "converted", "round_trip")])
        rows[-1] += [report["traceable"][key] for key in ("with", "without")]
        rows[-1] += [report["literals"], *(report["literal_recall"][key] for key in ("with", "without"))]
        rows[-1] += [report["decisions"][key] for key in ("p50", "p95", "max")]
    console.table(columns, rows)


def _print_failures(console: Console, stage: str, reports: Sequence[Mapping[str, Any]]) -> None:
    """What does not come through a stage, by construct and set."""
    sets = list(dict.fromkeys(report["set"] for report in reports if report["failures"].get(stage)))
    counts: dict[str, Counter[str]] = {}
    for report in reports:
        for reason, count in report["failures"].get(stage, {}).items():
            counts.setdefault(reason, Counter())[report["set"]] += count
    console.line(f"\n{stage}, queries that fail:")
    most = sorted(counts, key=lambda reason: -counts[reason].total())[:40]
    rows = [[reason, counts[reason].total(), *(counts[reason][name] for name in sets)] for reason in most]
    console.table(["", "all", *sets], rows)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FastSQLError as failure:
        sys.exit(f"coverage: {failure}")
