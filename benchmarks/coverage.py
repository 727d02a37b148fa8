"""How much of a data set's gold SQL can the grammar say, and how many of its literals can be had?

    python benchmarks/coverage.py                                ehrsql2024, train and valid
    python benchmarks/coverage.py --set spider --limit 500 --json coverage.json

FASTSQL_DATA names the folder of the data sets. No model takes part. For each split:

converted    SQL -> program of the grammar
round trip   program -> SQL that gives the same rows (compared as the EHRSQL 2024 scorer does); where there is no database,
             or gold does not run on it, that has the same canonical form
traceable    the program can be written with the actions that the question offers: its value candidates, free spans and what
             stands with the schema; with a dictionary and the small domains of the database, and without db
recall       gold literals that can be had (`fastsql.linking.literal_recall`), with and without the same
decisions    that a decoder must take to write a query

What stands with the schema are named constants and the values that the questions of the *training* split need and do not
say (`fastsql.linking.standing_values`); so the literals of that split are had more easily than others.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot.errors import SqlglotError

from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas, with_database_values
from fastsql.errors import ExecutionError, FastSQLError
from fastsql.evaluation import answer_rows, canonical_form, normalise_sql
from fastsql.execution import ReadOnlyExecutor
from fastsql.grammar import (
    ActionSpace,
    ConversionError,
    GroundingError,
    Program,
    render,
    sql_to_program,
    trace_program,
)
from fastsql.linking import ValueDictionary, find_candidates, gold_literals, literal_recall, standing_values
from fastsql.parser import BUNDLED, DEFAULT_MODEL
from fastsql.schema import Schema

NOW = "2100-12-31 23:59:00"
SPLITS = ("train", "valid", "dev", "examples")
TRAIN = "train"
DATABASES = ("databases", ".")
WORDS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")

Tokens = NDArray[np.int32]
Tokenize = Callable[[str], Tokens]


@dataclass
class Tally:
    """What was counted over one split."""

    split: str
    queries: int = 0
    converted: int = 0
    same: int = 0
    same_by: Counter[str] = field(default_factory=Counter)
    traceable: dict[str, int] = field(default_factory=lambda: {"with": 0, "without": 0})
    literals: int = 0
    had: dict[str, int] = field(default_factory=lambda: {"with": 0, "without": 0})
    provenance: Counter[str] = field(default_factory=Counter)
    decisions: list[int] = field(default_factory=list)
    failures: dict[str, Counter[str]] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, stage: str, reason: str, example: Example) -> None:
        """Counts a failure; the ids of the first few of each kind are kept."""
        self.failures.setdefault(stage, Counter())[reason] += 1
        ids = self.examples.setdefault(f"{stage}: {reason}", [])
        if len(ids) < 5:
            ids.append(example.id)

    def report(self) -> dict[str, Any]:
        """Figures in percent, and counts."""

        def share(count: int, of: int) -> float | None:
            return round(100 * count / of, 2) if of else None

        return {
            "split": self.split,
            "queries": self.queries,
            "converted": share(self.converted, self.queries),
            "round_trip": share(self.same, self.queries),
            "round_trip_by": dict(self.same_by),
            "traceable": {key: share(count, self.queries) for key, count in self.traceable.items()},
            "literals": self.literals,
            "literal_recall": {key: share(count, self.literals) for key, count in self.had.items()},
            "literal_provenance": dict(self.provenance.most_common()),
            "decisions": {
                name: int(np.percentile(self.decisions, q, method="higher")) if self.decisions else None
                for name, q in (("p50", 50), ("p95", 95), ("max", 100))
            },
            "failures": {stage: dict(counts.most_common()) for stage, counts in self.failures.items()},
            "failing_ids": self.examples,
        }


@dataclass(frozen=True)
class Domain:
    """A database as a parser sees it: `with` its values and a dictionary, and `without`; both with what questions taught."""

    schema: Schema
    dressed: Mapping[str, Schema]
    dictionary: ValueDictionary | None
    executor: ReadOnlyExecutor | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    options = _options().parse_args(arguments)
    console = Console()
    folder = options.data / options.set
    splits = {name: path for name in options.splits if (path := _file(folder, name)) is not None}
    if not splits:
        print(f"no examples in {folder}; set FASTSQL_DATA or give --data", file=sys.stderr)
        return 1
    tokenizer, tokenize = _tokenizer(options.tokenizer)
    examples = {name: _spread(_answerable(path), options.limit) for name, path in splits.items()}
    needed = {example.db_id for found in examples.values() for example in found}
    schemas = read_schemas(folder / "schemas.json", databases=needed)
    source = next((folder / name for name in DATABASES if _has_databases(folder / name)), None)
    training = _file(folder, TRAIN)
    taught = _answerable(training) if training is not None else ()
    with DatabaseFiles(source, list(schemas)) as files:
        domains = {
            db_id: _domain(schema, files.path(db_id), [e for e in taught if e.db_id == db_id], options)
            for db_id, schema in console.track(schemas.items(), "databases", len(schemas))
        }
        tallies = []
        for name, found in examples.items():
            tally = Tally(name)
            for example in console.track(found, name, len(found)):
                measure(example, domains[example.db_id], tokenize, options.now, tally)
            tallies.append(tally)
    reports = [tally.report() for tally in tallies]
    _print(console, options.set, reports, tokenizer)
    if options.json:
        content = {"set": options.set, "now": options.now, "tokenizer": tokenizer, "splits": reports}
        options.json.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", default="ehrsql2024", help="name of the data set's folder")
    parser.add_argument("--splits", nargs="+", default=SPLITS, help="files without .json, those that exist")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--limit", type=int, help="queries of each split, evenly spread")
    parser.add_argument("--now", default=NOW, help='the time that "now" means')
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of one query")
    parser.add_argument("--tokenizer", type=Path, help="tokenizer.json; the bundled model's, else words")
    parser.add_argument("--json", type=Path)
    return parser


# ---------------------------------------------------------------- one query


def measure(example: Example, domain: Domain, tokenize: Tokenize, now: str, tally: Tally) -> None:
    """Convert, render, compare, trace; count what came of it."""
    assert example.sql is not None
    tally.queries += 1
    _measure_literals(example, domain, tally)
    try:
        program = sql_to_program(example.sql, domain.schema)
    except ConversionError as error:
        tally.fail("conversion", error.construct, example)
        return
    tally.converted += 1
    by, fault = _compare(example.sql, render(program, domain.schema, now=now), domain, now)
    tally.same_by[by] += not fault
    tally.same += not fault
    if fault:
        tally.fail("round trip", fault, example)
    tokens = tokenize(example.question)
    for key in domain.dressed:
        count, fault = _decisions(program, example.question, tokens, domain, key)
        tally.traceable[key] += not fault
        if fault:
            tally.fail(f"tracing {key} the database", fault, example)
        elif key == "with":
            tally.decisions.append(count)


def _compare(gold: str, ours: str, domain: Domain, now: str) -> tuple[str, str]:
    """By what gold and ours were compared, and what is wrong; empty if nothing is."""
    gold = normalise_sql(gold, now)
    if domain.executor is not None:
        try:
            with domain.executor.cursor(gold) as rows:
                expected = answer_rows(rows)
        except ExecutionError:
            expected = None
        if expected is not None:
            try:
                with domain.executor.cursor(ours) as rows:
                    return "rows", "" if answer_rows(rows) == expected else "other rows"
            except ExecutionError:
                return "rows", "does not run"
    one, other = canonical_form(gold, domain.schema), canonical_form(ours, domain.schema)
    if one is None or other is None:
        return "form", "no canonical form"
    return "form", "" if one == other else "another canonical form"


def _decisions(program: Program, question: str, tokens: Tokens, domain: Domain, key: str) -> tuple[int, str]:
    """Decisions that write a program, and why they cannot; empty if they can."""
    schema = domain.dressed[key]
    candidates = find_candidates(question, schema, domain.dictionary if key == "with" else None)
    space = ActionSpace.for_question(schema, question, tokens, candidates)
    try:
        return len(trace_program(program, space).actions), ""
    except GroundingError as error:
        return 0, str(error)


def _measure_literals(example: Example, domain: Domain, tally: Tally) -> None:
    assert example.sql is not None
    try:
        literals = gold_literals(example.sql, domain.schema)
    except SqlglotError:
        return
    tally.literals += len(literals)
    for key, schema in domain.dressed.items():
        dictionary = domain.dictionary if key == "with" else None
        candidates = find_candidates(example.question, schema, dictionary)
        recall = literal_recall(literals, example.question, candidates, schema, dictionary)
        tally.had[key] += len(literals) - len(recall.missing)
        if key == "with":
            tally.provenance.update(str(provenance) for _, provenance in recall.explained)


# ---------------------------------------------------------------- the data


def _file(folder: Path, name: str) -> Path | None:
    return next((path for end in (".json", ".json.gz") if (path := folder / f"{name}{end}").is_file()), None)


def _answerable(path: Path) -> tuple[Example, ...]:
    return tuple(example for example in read_examples(path) if example.answerable and example.runs)


def _spread(examples: Sequence[Example], limit: int | None) -> list[Example]:
    count = len(examples) if limit is None else min(limit, len(examples))
    return [examples[k * len(examples) // count] for k in range(count)]


def _has_databases(folder: Path) -> bool:
    names = ("*.sqlite", "*.sqlite.gz", "*.db", "*.tar*")
    return folder.is_dir() and any(next(folder.glob(name), None) is not None for name in names)


def _domain(
    schema: Schema, path: Path | None, taught: Sequence[Example], options: argparse.Namespace
) -> Domain:
    pairs = [(example.question, example.sql) for example in taught if example.sql is not None]
    standing = standing_values(_readable(pairs), schema)
    full = with_database_values(schema, path) if path is not None else schema
    dressed = {"with": _add(full, standing), "without": _add(schema, standing)}
    dictionary = ValueDictionary.from_database(path, dressed["with"]) if path is not None else None
    executor = ReadOnlyExecutor(path, time_limit=options.seconds) if path is not None else None
    return Domain(schema, dressed, dictionary, executor)


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


def _print(console: Console, name: str, reports: Sequence[Mapping[str, Any]], tokenizer: str) -> None:
    console.line(f"{name}, tokens: {tokenizer}; percent of queries, or of literals")
    columns = ["split", "queries", "converted", "round trip", "traceable", "without db"]
    columns += ["literals", "recall", "without db", "decisions p50", "p95", "max"]
    rows = []
    for report in reports:
        rows.append([report["split"], report["queries"], report["converted"], report["round_trip"]])
        rows[-1] += [report["traceable"][key] for key in ("with", "without")]
        rows[-1] += [report["literals"], *(report["literal_recall"][key] for key in ("with", "without"))]
        rows[-1] += [report["decisions"][key] for key in ("p50", "p95", "max")]
    console.table(columns, rows)
    for report in reports:
        for stage, counts in report["failures"].items():
            console.line(f"\n{report['split']}, {stage}:")
            for reason, count in list(counts.items())[:20]:
                console.line(f"{count:8,}  {reason}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FastSQLError as failure:
        sys.exit(f"coverage: {failure}")
