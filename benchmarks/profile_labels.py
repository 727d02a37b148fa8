"""Are names that are read in words worth it, and descriptions, beside the labels that a data set gives?

    python benchmarks/profile_labels.py --questions 150 --json profile_labels.json

FASTSQL_DATA names the folder of the data sets. Every label of a schema is thrown away, and the questions are asked with:

plain      labels that are the names, cut at underscores, blanks and camelCase, which the model reads as they are
words      the same labels, which it reads in words, cut and spelled out (`Schema.spelled`)
described  in words, with the column's description as one more synonym; where a set has none, as words
given      the labels of the data set

em is the share of answerable questions whose first query is gold's but for values. No database is read.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import fastsql
from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.evaluation import Options, evaluate
from fastsql.evaluation.sample import draw_sample
from fastsql.model.bundle import CONFIG, write_json, write_manifest
from fastsql.parser.bundles import open_model
from fastsql.schema import Column, Schema, Table, label_from_name

sys.path.insert(0, str(Path(__file__).parent))
from record import save

SETS = {"spider": "dev", "ehrsql2024": "valid", "snails": "dev", "defog_sqleval": "dev", "omop_epi": "dev"}
WAYS = ("plain", "words", "described", "given")
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
    data, rows = Path(os.environ["FASTSQL_DATA"]), list[dict[str, object]]()
    with tempfile.TemporaryDirectory() as folder:
        models = {
            spelled: fastsql.load(reading(options.model, Path(folder) / str(spelled), spelled), suggest=False)
            for spelled in (False, True)
        }
        for name, split in SETS.items():
            examples = [one for one in read_examples(data / name / f"{split}.json") if one.sql is not None]
            examples = draw_sample(examples, options.questions, options.seed)
            databases = {example.db_id for example in examples}
            schemas = read_schemas(data / name / "schemas.json", databases=databases)
            row: dict[str, object] = {"set": name, "questions": len(examples)}
            for way in WAYS:
                called = {one: said(schema, way) for one, schema in schemas.items()}
                row[way] = round(_em(models[way != "plain"], examples, called), 2)
            rows.append(row)
    console.table(("set", "questions", *WAYS), [[str(cell) for cell in row.values()] for row in rows])
    save(options.json, {"sets": rows}, __file__, arguments)
    return 0


def reading(model: str, folder: Path, spelled: bool) -> Path:
    """A copy of a bundle that reads names in words, or does not."""
    shutil.copytree(open_model(model).path, folder)
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config["model"]["spelled_names"] = spelled
    write_json(folder / CONFIG, config)
    write_manifest(folder)
    return folder


def _em(model: fastsql.Parser, examples: Sequence[Example], schemas: dict[str, Schema]) -> float:
    with DatabaseFiles(None, set(schemas)) as none:
        report = evaluate(model, examples, schemas, none, Options(values=False, resamples=0))
    return float(report.to_json()["em"])


def said(schema: Schema, way: str) -> Schema:
    """The schema with labels of one of `WAYS`."""
    if way == "given":
        return schema
    tables = tuple(_said(one, way) for one in schema.tables)
    return replace(schema, tables=tables, columns=tuple(_said(one, way) for one in schema.columns))


def _said(item: Item, way: str) -> Item:
    described = (item.description,) if way == "described" and item.description else ()
    return replace(item, label=label_from_name(item.name), synonyms=described)


if __name__ == "__main__":
    sys.exit(main())
