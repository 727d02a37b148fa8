"""How much of what people write can the action grammar say, and from a question's words?

    python benchmarks/coverage.py                        ehrsql2024, train and valid
    python benchmarks/coverage.py --set spider --limit 500

Gold SQL goes through the grammar and back, and both forms are run: a round trip counts if the rows are the same (where no
database is at hand, if the canonical forms are). A query is traceable if a decoder could write it for its question:
every literal is a candidate, a span of the question, or stands with the schema. The lexicon is learned from train alone.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas, with_database_values
from fastsql.evaluation import Options, Prediction, evaluate
from fastsql.grammar import (
    ActionSpace,
    ConversionError,
    GroundingError,
    render,
    sql_to_program,
    trace_program,
)
from fastsql.linking import ValueDictionary, find_candidates, gold_literals, literal_recall, standing_values
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model import open_bundle
from fastsql.model.tokenizer import Tokenizer
from fastsql.parser import BUNDLED, DEFAULT_MODEL
from fastsql.schema import Schema

NOW = "2100-12-31 23:59:00"


def round_trip(
    examples: Sequence[Example], schemas: dict[str, Schema], databases: DatabaseFiles, now: str | None
) -> dict[str, Any]:
    """Gold through the grammar and back: shares in percent, and what stood in the way, by construct."""
    reasons: Counter[str] = Counter()
    written: dict[str, Prediction] = {}
    for example in examples:
        sql = None
        try:
            program = sql_to_program(example.sql or "", schemas[example.db_id])
            sql = render(program, schemas[example.db_id], now=now)
        except ConversionError as error:
            reasons[error.construct] += 1
        written[example.id] = Prediction(example.id, sql)
    report = evaluate(written, examples, schemas, databases, Options(now=now, jobs=None)).to_json()
    return {
        "queries": len(examples),
        "converted": 100 * (1 - sum(reasons.values()) / len(examples)),
        "same_rows": report["ex"],
        "same_form": report["em_values"],
        "valid_sql": report["valid_sql"],
        "not_said": dict(reasons.most_common()),
    }


def decisions(
    examples: Sequence[Example],
    schemas: dict[str, Schema],
    dictionaries: dict[str, ValueDictionary],
    tokenizer: Tokenizer,
) -> dict[str, Any]:
    """Queries that can be traced from their question, and how many decisions they take."""
    lengths: list[int] = []
    missing = converted = 0
    links = {db_id: SchemaLinks(schema) for db_id, schema in schemas.items()}
    for example in examples:
        try:
            program = sql_to_program(example.sql or "", schemas[example.db_id])
        except ConversionError:
            continue
        converted += 1
        ready = prepare(
            example.question, links[example.db_id], tokenizer, dictionary=dictionaries.get(example.db_id)
        )
        space = ActionSpace.for_question(schemas[example.db_id], ready.text, ready.offsets, ready.candidates)
        try:
            lengths.append(len(trace_program(program, space).actions))
        except GroundingError:
            missing += 1
    p50, p95 = np.percentile(lengths, (50, 95))
    return {
        "traceable": 100 * (1 - missing / max(converted, 1)),
        "decisions": {"p50": float(p50), "p95": float(p95), "max": max(lengths)},
    }


def recall(
    examples: Sequence[Example], schemas: dict[str, Schema], dictionaries: dict[str, ValueDictionary]
) -> float:
    """Share of gold literals that the question, the schema or the dictionary offers, in percent."""
    found = total = 0
    for example in examples:
        schema, dictionary = schemas[example.db_id], dictionaries.get(example.db_id)
        candidates = find_candidates(example.question, schema, dictionary)
        literals = gold_literals(example.sql or "", schema)
        outcome = literal_recall(literals, example.question, candidates, schema, dictionary)
        total += len(outcome.explained)
        found += len(outcome.explained) - len(outcome.missing)
    return 100 * found / max(total, 1)


def database_of(folder: Path) -> Path | None:
    """The databases that come with a data set, if any."""
    files = [*folder.glob("*.sqlite.gz"), *folder.glob("*.sqlite")]
    return folder / "databases" if (folder / "databases").is_dir() else files[0] if files else None


def measure(folder: Path, tokenizer: Tokenizer, limit: int | None) -> dict[str, Any]:
    """All figures of a data set, by split."""
    splits = {
        p.name.split(".")[0]: p
        for p in sorted(folder.glob("*.json*"))
        if p.name.split(".")[0] in ("train", "valid", "dev")
    }
    data = {
        name: [e for e in read_examples(path) if e.sql is not None][:limit] for name, path in splits.items()
    }
    db_ids = {e.db_id for examples in data.values() for e in examples}
    plain = read_schemas(folder / "schemas.json", databases=db_ids)
    figures: dict[str, Any] = {}
    with DatabaseFiles(database_of(folder), db_ids) as databases:
        paths = {db_id: path for db_id in db_ids if (path := databases.path(db_id)) is not None}
        schemas = {
            db_id: with_database_values(schema, paths[db_id]) if db_id in paths else schema
            for db_id, schema in plain.items()
        }
        dictionaries = {
            db_id: ValueDictionary.from_database(path, schemas[db_id]) for db_id, path in paths.items()
        }
        taught = {
            db_id: schema.with_values(
                standing_values(
                    [(e.question, e.sql or "") for e in data.get("train", []) if e.db_id == db_id], schema
                )
            )
            for db_id, schema in schemas.items()
        }
        bound = {db_id: d.bound_to(taught[db_id]) for db_id, d in dictionaries.items()}
        now = NOW if folder.name == "ehrsql2024" else None
        for name, examples in data.items():
            figures[name] = {
                **round_trip(examples, plain, databases, now),
                **decisions(examples, taught, bound, tokenizer),
                "recall_plain": recall(examples, plain, {}),
                "recall_dictionary": recall(examples, schemas, dictionaries),
                "recall": recall(examples, taught, bound),
            }
    return figures


ROWS = (
    ("queries", "queries"),
    ("converted", "converted to programs, %"),
    ("same_rows", "round trip with the same rows, %"),
    ("same_form", "round trip with the same canonical form, %"),
    ("traceable", "traceable from the question, %"),
    ("recall_plain", "gold literals: question and schema alone, %"),
    ("recall_dictionary", "gold literals: with the database's values, %"),
    ("recall", "gold literals: with the lexicon of train, too, %"),
)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--set", default="ehrsql2024", help="folder of the data set under FASTSQL_DATA (default: %(default)s)"
    )
    parser.add_argument(
        "--model", type=Path, default=BUNDLED / DEFAULT_MODEL, help="bundle whose tokenizer is used"
    )
    parser.add_argument("--limit", type=int, help="only the first N queries of a split")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    if "FASTSQL_DATA" not in os.environ:
        parser.error("set FASTSQL_DATA to the folder of the data sets (docs/data.md)")
    folder = Path(os.environ["FASTSQL_DATA"]) / options.set
    figures = measure(folder, open_bundle(options.model).tokenizer(), options.limit)
    print(f"{options.set:<50}" + "".join(f"{name:>10}" for name in figures))
    for key, label in ROWS:
        cells = "".join(
            "         -" if f[key] is None else f"{f[key]:>10.2f}" if key != "queries" else f"{f[key]:>10,}"
            for f in figures.values()
        )
        print(f"{label:<50}{cells}")
    for key in ("p50", "p95", "max"):
        print(
            f"{'decisions, ' + key:<50}" + "".join(f"{f['decisions'][key]:>10.0f}" for f in figures.values())
        )
    for name, split in figures.items():
        for reason, count in split["not_said"].items():
            print(f"  not said, {name}: {reason} ({count})")
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
