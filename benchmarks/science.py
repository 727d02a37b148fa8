"""What does adapting bring over ScienceBenchmark's three databases (Zhang et al., PVLDB 2024, Table 5)?

    python benchmarks/science.py --into FOLDER --steps 200 --json science.json
    python benchmarks/science.py --into FOLDER --settings zero                   a minute; nothing is trained

The questions that people wrote as seeds are asked, since those that the paper reports on are not published with databases:
a fifth of the forms of queries at a time, by models that know the other four fifths at most.

zero         the bundle as it is
seeds        `fastsql adapt` with the seeds and a twentieth of the pairs that it makes otherwise
synthetic    `fastsql adapt` without seeds
both         `fastsql adapt` with the seeds

The databases weigh gigabytes, so their contents are made, and hold what gold's queries compare with. Results are compared on
two further databases that are made for each query. A cell of the table is one database, setting and fold; what is done lies
in FOLDER, and the same command goes on from there.

right   best hypotheses whose results are gold's, in percent; exact: whose form is, values included
given   answers at penalty 10; of these, those that are right
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fastsql
from fastsql import Schema
from fastsql.adapt.material import Amounts
from fastsql.cli.console import Console, note
from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.evaluation.calibration import calibration_error
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.evaluation.judge import Judges, Task
from fastsql.evaluation.made_contents import DATABASES, NOW, compared, rename_keys, write_rows
from fastsql.grammar import sql_to_program
from fastsql.linking.gold import parse_gold
from fastsql.model.bundle import manifest_digest
from fastsql.parser.bundles import open_model
from fastsql.schema.model import Value
from fastsql.synthesis.contents import make_rows, suggest
from fastsql.synthesis.contents.fillings import Choice, Each, Filling
from fastsql.training.corpus.programs import template

sys.path.insert(0, str(Path(__file__).parent))
from record import machine, save

SETTINGS = ("zero", "seeds", "synthetic", "both")
FEW = Amounts(pairs=300, conversations=40)
"""What is made where seeds count alone: enough to fit probabilities by."""
FOLDS = 5
PENALTY = 10.0
ROWS = 3.0
"""Rows of the contents, as a multiple of what is made otherwise: enough for all that queries compare with."""
HELD = 0.5
"""Share of the other rows that hold such a value, too."""
PAPER = {"cordis_temporary": 35, "skyserver_dr16_2020_11_30": 21, "oncomx_v1_0_25_small": 56}
"""Percentage right of the best of the paper's three models with seeds and synthetic pairs, of its development questions."""
COLUMNS = (
    "database",
    "setting",
    "folds",
    "n",
    "right",
    "exact",
    "given",
    "of them right",
    "calibration error",
    "paper",
)


def write_database(examples: Sequence[Example], schema: Schema, path: Path) -> None:
    """An SQLite file of a schema, in which everything stands that the examples' queries compare with. The same each time."""
    rng = random.Random(schema.name)
    literals: dict[int, dict[Value, None]] = {}
    for example in examples:
        for column, values in compared(parse_gold(normalise_sql(str(example.sql), NOW)), schema).items():
            literals.setdefault(column, {}).update(dict.fromkeys(values))
    fillings = list(suggest(schema, None, schema.name))
    full = {schema.columns[column].table for column in literals}
    for column, filling in enumerate(fillings):
        if schema.columns[column].table in full and isinstance(filling.drawn, Each):
            # As many rows as other tables have, not one for each value.
            fillings[column] = Filling(Choice(filling.drawn.values))
    made = make_rows(schema, fillings, schema.name, size=ROWS)
    rows = [[list(row) for row in table] for table in made]
    for column, found in sorted(literals.items()):
        values, table = tuple(found), schema.columns[column].table
        if schema.key_groups[column] >= 0 or column in schema.unique_columns:
            rename_keys(column, values, schema, rows)
            continue
        place = column - schema.tables[table].columns[0]
        for number, row in enumerate(rng.sample(rows[table], len(rows[table]))):
            if number < len(values):
                row[place] = values[number]
            elif rng.random() < HELD:
                row[place] = rng.choice(values)
    write_rows(rows, schema, path)


def folds_of(examples: Sequence[Example], schema: Schema) -> list[list[Example]]:
    """The examples in `FOLDS` parts of about one size; those whose queries differ in literals alone are in one part."""
    forms: dict[str, list[Example]] = {}
    for example in examples:
        forms.setdefault(template(sql_to_program(str(example.sql), schema)), []).append(example)
    folds: list[list[Example]] = [[] for _ in range(FOLDS)]
    order = sorted(forms)
    random.Random(0).shuffle(order)
    for form in sorted(order, key=lambda one: -len(forms[one])):
        min(folds, key=len).extend(forms[form])
    return folds


@dataclass(frozen=True)
class Amount:
    """How long each adaptation may take, or how many updates it makes, and with what."""

    minutes: float
    steps: int | None
    threads: int | None
    processes: int

    def __str__(self) -> str:
        return f"{self.minutes:g}min" if self.steps is None else f"{self.steps}steps"


@dataclass(frozen=True)
class Cell:
    """One database, setting and fold: which questions are asked, which are known, and what came of it."""

    schema: Schema
    setting: str
    asked: Sequence[Example]
    known: Sequence[Example]
    name: str

    def run(self, folder: Path, model: str, amount: Amount) -> list[dict[str, Any]]:
        """A row a question: whether it is right, exact and given, and its confidence; from `folder` where that is done."""
        trained = self.setting != "zero"
        of = f"{manifest_digest(open_model(model).path)[:12]}{f'.{amount}' if trained else ''}"
        done = folder / of / f"{self.name}.json"
        if done.exists():
            rows: list[dict[str, Any]] = json.loads(done.read_text(encoding="utf-8"))
            return rows
        done.parent.mkdir(exist_ok=True)
        database = folder / f"{self.schema.name}.sqlite"
        bundle = folder / of / self.name
        if trained and not bundle.exists():
            self._adapt(database, bundle, model, amount)
        rows = self._judged(str(bundle) if bundle.exists() else model, database)
        done.write_text(json.dumps(rows), encoding="utf-8")
        shutil.rmtree(bundle, ignore_errors=True)
        return rows

    def _adapt(self, database: Path, bundle: Path, model: str, amount: Amount) -> None:
        from fastsql.adapt.adapting import SUFFIX, WorseError, adapt  # imports torch, which asking needs not

        seeds = None
        if self.known:
            seeds = bundle.parent / f"{self.name}.seeds.json"
            content = [{"question": one.question, "sql": one.sql} for one in self.known]
            seeds.write_text(json.dumps(content), encoding="utf-8")
        try:
            adapt(
                database,
                bundle,
                schema=self.schema,
                seeds=seeds,
                base=model,
                minutes=amount.minutes,
                updates=amount.steps,
                threads=amount.threads,
                processes=amount.processes,
                amounts=FEW if self.setting == "seeds" else None,
                report=lambda line: note(f"{self.name}: {line}"),
            )
        except WorseError as error:  # as people would, the base is asked
            note(f"{self.name}: {error}")
            shutil.rmtree(bundle.with_name(f"{bundle.name}{SUFFIX}"))

    def _judged(self, model: str, database: Path) -> list[dict[str, Any]]:
        parser = fastsql.load(model, suggest=False)
        found = [
            parser.parse(one.question, self.schema, values=database, penalty=PENALTY) for one in self.asked
        ]
        tasks = [
            Task(one.db_id, one.sql, result.best, made=DATABASES, now=NOW)
            for one, result in zip(self.asked, found, strict=True)
        ]
        with Judges({self.asked[0].db_id: self.schema}, 1) as judges:
            return [
                {
                    "id": one.id,
                    "right": verdict.correct is True,
                    "exact": verdict.em_values,
                    "given": not result.abstained,
                    "confidence": result.confidence,
                }
                for one, result, verdict in zip(self.asked, found, judges.verdicts(tasks), strict=True)
            ]


def figures(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """How many questions there are, percentages right and exact, how many are given and how many of these right."""
    rows = list(rows)
    confidence = np.array([row["confidence"] for row in rows])
    right = np.array([row["right"] for row in rows])
    return {
        "n": len(rows),
        "right": round(100 * float(right.mean()), 1),
        "exact": round(100 * sum(row["exact"] for row in rows) / len(rows), 1),
        "given": sum(row["given"] for row in rows),
        "of them right": sum(row["given"] and row["right"] for row in rows),
        "calibration error": round(float(calibration_error(confidence, right)), 3),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, help="folder of ScienceBenchmark (default: $FASTSQL_DATA/sciencebenchmark)"
    )
    parser.add_argument("--into", type=Path, required=True, help="folder of contents and of what is done")
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--databases", nargs="+", help="names of databases (default: all three)")
    parser.add_argument(
        "--folds", type=int, nargs="+", default=list(range(FOLDS)), help="of 0 to 4 (default: all)"
    )
    parser.add_argument("--minutes", type=float, default=8.0, help="of each adaptation")
    parser.add_argument(
        "--steps", type=int, metavar="N", help="updates of each adaptation, in place of minutes"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="of each adaptation (default: all)")
    parser.add_argument("--processes", type=int, default=1, help="that train together")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    data = options.data or Path(os.environ.get("FASTSQL_DATA", ".")) / "sciencebenchmark"
    if not (data / "train.json").is_file():
        print(f"{data} has no train.json: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    amount = Amount(options.minutes, options.steps, options.threads, options.processes)
    options.into.mkdir(parents=True, exist_ok=True)
    schemas, examples = read_schemas(data / "schemas.json"), read_examples(data / "train.json")
    table = []
    for name in options.databases or schemas:
        schema, own = schemas[name], [one for one in examples if one.db_id == name]
        database = options.into / f"{schema.name}.sqlite"
        if not database.exists():
            write_database(own, schema, database)
        folds = folds_of(own, schema)
        chosen = {one.id for fold in options.folds for one in folds[fold]}
        for setting in options.settings:
            rows = []
            for cell in cells(schema, setting, folds, options.folds):
                rows += [row for row in cell.run(options.into, options.model, amount) if row["id"] in chosen]
            table.append({"database": name, "setting": setting, "folds": len(options.folds), **figures(rows)})
            table[-1]["paper"] = PAPER.get(name, "") if setting == "both" else ""
    print(f"{machine()}; {amount} each")
    Console(out=sys.stdout).table(COLUMNS, [[str(row[column]) for column in COLUMNS] for row in table])
    content = {"model": options.model, "amount": str(amount), "rows": table}
    save(options.json, content, __file__, arguments)
    return 0


def cells(
    schema: Schema, setting: str, folds: Sequence[Sequence[Example]], chosen: Sequence[int]
) -> list[Cell]:
    """The cells of a setting: one for each chosen fold, or one of all folds where seeds make no difference."""
    name = f"{schema.name}.{setting}"
    if setting in ("zero", "synthetic"):
        return [Cell(schema, setting, [one for fold in folds for one in fold], (), name)]
    return [
        Cell(
            schema,
            setting,
            folds[fold],
            [one for other, part in enumerate(folds) if other != fold for one in part],
            f"{name}.{fold}",
        )
        for fold in chosen
    ]


if __name__ == "__main__":
    sys.exit(main())
