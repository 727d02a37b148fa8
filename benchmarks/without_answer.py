r"""Is a parser right as often as it says where some questions have no answer? Makes such ones of a data set.

    python benchmarks/without_answer.py $FASTSQL_DATA/spider/dev.json --schemas $FASTSQL_DATA/spider/schemas.json \
      --databases $FASTSQL_DATA/spider/databases --output strange
    fastsql eval strange/examples.json --schemas strange/schemas.json --databases strange/databases

The questions are those of EXAMPLES and, made of them, so many that are to be refused as make --share of all, in equal parts:

removed     over a schema that lacks a column or a table that the question needs
elsewhere   asked of another database, which has no word for what it is about
lacking     the name of a column that it needs gives way to that of a column of another database
another     the name of a table that it needs gives way to that of a table of another database

They are what is made to calibrate a bundle with, of other questions over other databases (docs/reliability.md), but for the
last, which is never calibrated with over a schema that was not trained on, and but for wordings that fit any database, which
are left out here. Questions whose query the grammar cannot express are kept, and nothing is made of them.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.errors import FastSQLError
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.write import write_pairs, write_rows
from fastsql.training.calibration.observe import without
from fastsql.training.calibration.unanswerable.made import Refusal, remove_needed
from fastsql.training.calibration.unanswerable.misplaced import (
    ANOTHER,
    LACKING,
    Asking,
    ask_elsewhere,
    ask_for_others,
    column_labels,
    table_labels,
)

SCHEMAS = 12
"""Of how many columns and tables, at most, a schema is asked without."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data set, and print how many questions of each kind it has."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", type=Path, help="a file of questions with their SQL")
    parser.add_argument("--schemas", type=Path, required=True, help="the schemas of their databases")
    parser.add_argument(
        "--databases", type=Path, required=True, help="their SQLite files, as fastsql eval takes them"
    )
    parser.add_argument("--output", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--share", type=float, default=0.2, help="of questions without an answer (default: 0.2)"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if not 0 < options.share < 1:
        parser.error("--share is above 0 and below 1")
    try:
        examples = [one for one in read_examples(options.examples) if one.answerable]
        if not examples:
            parser.error(f"{options.examples} has no question with SQL")
        schemas = read_schemas(options.schemas, databases={one.db_id for one in examples})
        wanted = round(len(examples) * options.share / (1 - options.share))
        made = refusals(examples, schemas, wanted, random.Random(options.seed))
        write(options.output, examples, made, schemas, options.databases)
    except FastSQLError as error:
        parser.error(str(error))
    console = Console(out=sys.stdout)
    kinds = Counter(one.kind for _, one in made)
    console.table(
        ("", "questions"),
        [("answerable", str(len(examples))), *((kind, str(n)) for kind, n in kinds.items())],
    )
    return 0


def refusals(
    examples: Sequence[Example], schemas: Mapping[str, Schema], wanted: int, rng: random.Random
) -> list[tuple[str, Refusal]]:
    """At most `wanted` questions without an answer, each with its database; as many of each kind and database as can be."""
    asked: defaultdict[str, list[Asking]] = defaultdict(list)
    for db_id, one in askings(examples, schemas):
        asked[db_id].append(one)
    each = -(-wanted // (4 * len(schemas)))
    made = []
    for db_id, schema in schemas.items():
        own = asked[db_id]
        others = [one for name, found in asked.items() if name != db_id for one in found]
        labels = column_labels({name: other for name, other in schemas.items() if name != db_id})
        made += [
            (db_id, refusal)
            for refusal in (
                *remove_needed([(one.question, one.program) for one in own], schema, each, SCHEMAS, rng),
                *ask_elsewhere(others, schema, each, rng),
                *ask_for_others(LACKING, own, labels, each, rng),
                *ask_for_others(ANOTHER, own, table_labels(others), each, rng),
            )
        ]
    return sorted(
        rng.sample(made, min(wanted, len(made))), key=lambda one: (one[1].kind, one[0], one[1].question)
    )


def askings(examples: Sequence[Example], schemas: Mapping[str, Schema]) -> Iterator[tuple[str, Asking]]:
    """The questions whose query the grammar can express, with their databases."""
    for one in examples:
        schema = schemas[one.db_id]
        try:
            yield one.db_id, Asking(one.question, sql_to_program(one.sql or "", schema), schema)
        except ConversionError:
            continue


def write(
    folder: Path,
    examples: Sequence[Example],
    made: Sequence[tuple[str, Refusal]],
    schemas: Mapping[str, Schema],
    databases: Path,
) -> None:
    """The questions, their schemas, and links to their databases; a schema that lacks something has a name of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "databases").mkdir(exist_ok=True)
    lacking: dict[tuple[str, frozenset[int]], str] = {}
    whole, origin = dict(schemas), {name: name for name in schemas}
    questions = list(examples)
    for number, (db_id, one) in enumerate(made):
        name = db_id
        if one.removed:
            name = lacking.setdefault((db_id, one.removed), f"{db_id}_lacking_{len(lacking)}")
            whole[name] = replace(without(schemas[db_id], one.removed), name=name)
            origin[name] = db_id
        questions.append(Example(f"{one.kind}-{number}", name, one.question, None, template=one.group))
    write_pairs(questions, folder / "examples.json")
    write_rows((schema.to_dict() for schema in whole.values()), folder / "schemas.json")
    with DatabaseFiles(databases, sorted(schemas)) as files:
        for name, db_id in origin.items():
            path, link = files.path(db_id), folder / "databases" / f"{name}.sqlite"
            link.unlink(missing_ok=True)
            if path is not None:
                link.symlink_to(path.resolve())


if __name__ == "__main__":
    raise SystemExit(main())
