"""What do labels that a profile derives from names do to a model that was trained on other labels?

    python benchmarks/profile_labels.py --questions 150 --json profile_labels.json

FASTSQL_DATA names the folder of the data sets. Every label of a schema is thrown away, and the questions are asked with:

plain      labels that are the names, cut at underscores, blanks and camelCase, as readers make them where a source has none
label      labels cut and spelled out as a profile's are
synonym    plain labels, with the derived ones as synonyms, which link words of the question by name
described  the same, with the column's description as one more synonym; where a set has none, as synonym
given      the labels of the data set, for comparison

em is the share of answerable questions whose first query is gold's but for values. No database is read.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import fastsql
from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.evaluation import Options, evaluate
from fastsql.evaluation.sample import draw_sample
from fastsql.profile.words import Names
from fastsql.schema import Column, Schema, Table, label_from_name

sys.path.insert(0, str(Path(__file__).parent))
from record import save

SETS = {"spider": "dev", "ehrsql2024": "valid", "snails": "dev", "defog_sqleval": "dev", "omop_epi": "dev"}
WAYS = ("plain", "label", "synonym", "described", "given")
Item = TypeVar("Item", Table, Column)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en")
    parser.add_argument("--questions", type=int, default=150, help="of each set (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    console = Console(out=sys.stdout)
    data, model = Path(os.environ["FASTSQL_DATA"]), fastsql.load(options.model, suggest=False)
    rows: list[dict[str, object]] = []
    for name, split in SETS.items():
        examples = [one for one in read_examples(data / name / f"{split}.json") if one.sql is not None]
        examples = draw_sample(examples, options.questions, options.seed)
        databases = {example.db_id for example in examples}
        schemas = read_schemas(data / name / "schemas.json", databases=databases)
        row: dict[str, object] = {"set": name, "questions": len(examples)}
        for way in WAYS:
            row[way] = round(
                _em(model, examples, {one: said(schema, way) for one, schema in schemas.items()}), 2
            )
        rows.append(row)
    console.table(("set", "questions", *WAYS), [[str(cell) for cell in row.values()] for row in rows])
    save(options.json, {"sets": rows}, __file__, arguments)
    return 0


def _em(model: fastsql.Parser, examples: Sequence[Example], schemas: dict[str, Schema]) -> float:
    with DatabaseFiles(None, set(schemas)) as none:
        report = evaluate(model, examples, schemas, none, Options(values=False, resamples=0))
    return float(report.to_json()["em"])


def said(schema: Schema, way: str) -> Schema:
    """The schema with labels of one of `WAYS`."""
    if way == "given":
        return schema
    names = Names([one.name for one in schema.tables], [one.name for one in schema.columns])
    tables = tuple(_said(one, names.read(one.name, table=True).spelled, way) for one in schema.tables)
    columns = tuple(_said(one, names.read(one.name).spelled, way) for one in schema.columns)
    return replace(schema, tables=tables, columns=columns)


def _said(item: Item, derived: str, way: str) -> Item:
    plain = label_from_name(item.name)
    if way == "label":
        return replace(item, label=derived, synonyms=())
    said = [derived] if way in ("synonym", "described") and derived != plain else []
    said += [item.description] if way == "described" and item.description else []
    return replace(item, label=plain, synonyms=tuple(said))


if __name__ == "__main__":
    sys.exit(main())
