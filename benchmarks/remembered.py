"""What do pairs bring that a parser remembers, without training?

    python benchmarks/remembered.py $FASTSQL_DATA/sm3_synthea synthea_sm3.sqlite --json remembered.json

The folder holds train.json, dev.json and schemas.json of one schema. Pairs of train are drawn and remembered, and all other
questions of train are asked, those without an answer among them. "met" are the questions whose query has the form of a
remembered one: the same but for literals. The last row asks dev with all pairs of train remembered.

right   best hypotheses that are right, of answerable questions, in percent
given   answers at penalty 10; of these, those that are right
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import fastsql
from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.errors import ExampleError
from fastsql.evaluation import Options, evaluate
from fastsql.evaluation.judged import Judged
from fastsql.grammar import ConversionError, Program, sql_to_program
from fastsql.grammar.program import masked
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from record import save

COLUMNS = ("remembered", "asked", "n", "right", "given", "of them right", "calibration error", "ms")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("database", type=Path)
    parser.add_argument("--model", default="ehr-en")
    parser.add_argument("--pairs", type=int, nargs="+", default=[10, 50, 200])
    parser.add_argument("--draws", type=int, default=3, help="times that so many pairs are drawn")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    train, dev = (read_examples(options.data / f"{part}.json") for part in ("train", "dev"))
    (schema,) = read_schemas(options.data / "schemas.json", databases={train[0].db_id}).values()
    asking = Asking(schema, options.database, fastsql.load(options.model, suggest=False))
    rows = [asking.row("", "train", asking.judged((), train))]
    for pairs in options.pairs:
        met: list[Judged] = []
        others: list[Judged] = []
        for draw in range(options.draws):
            drawn = random.Random(draw).sample([one for one in train if one.sql is not None], pairs)
            forms = {asking.form(one) for one in drawn} - {None}
            for one in asking.judged(drawn, [one for one in train if one not in drawn]):
                (met if asking.form(one.example) in forms else others).append(one)
        rows += [asking.row(str(pairs), "met", met), asking.row(str(pairs), "not met", others)]
        rows.append(asking.row(str(pairs), "all", [*met, *others]))
    rows.append(asking.row("", "dev", asking.judged((), dev)))
    rows.append(asking.row("train", "dev", asking.judged(train, dev)))
    Console(out=sys.stdout).table(COLUMNS, [[str(cell) for cell in row] for row in rows])
    save(options.json, {"rows": [dict(zip(COLUMNS, row, strict=True)) for row in rows]}, __file__, arguments)
    return 0


class Asking:
    """A parser over one schema, asked with pairs remembered."""

    def __init__(self, schema: Schema, database: Path, parser: fastsql.Parser) -> None:
        self.schema = schema
        self.database = database
        self.parser = parser

    def form(self, example: Example) -> Program | None:
        """A query without literals; None where there is none that the grammar can say."""
        try:
            return None if example.sql is None else masked(sql_to_program(example.sql, self.schema))
        except ConversionError:
            return None

    def judged(self, pairs: Sequence[Example], asked: Sequence[Example]) -> tuple[Judged, ...]:
        """What came of questions with pairs remembered, as far as they can be."""
        self.parser.forget(self.schema)
        for one in pairs:
            if one.sql is not None:
                try:
                    self.parser.remember(one.question, one.sql, self.schema, values=self.database)
                except ExampleError:  # of which there are few: the grammar does not say SELECT *, for one
                    continue
        db_id = asked[0].db_id
        with DatabaseFiles(self.database, {db_id}) as files:
            settings = Options(jobs=None, resamples=0)
            return evaluate(self.parser, asked, {db_id: self.schema}, files, settings).judged

    def row(self, remembered: str, asked: str, judged: Sequence[Judged]) -> tuple[str | float, ...]:
        """The figures of some questions, as in `COLUMNS`."""
        answerable = [one for one in judged if one.answerable]
        given = [one for one in judged if not one.prediction.abstained]
        times = sorted(one.latency_ms for one in judged if one.latency_ms is not None)
        bins = [
            [one for one in judged if int(one.prediction.confidence * 9.999) == part] for part in range(10)
        ]
        error = sum(abs(sum(one.right - one.prediction.confidence for one in part)) for part in bins)
        return (
            remembered,
            asked,
            len(judged),
            round(100 * sum(one.right for one in answerable) / max(len(answerable), 1), 1),
            len(given),
            sum(one.right for one in given),
            round(error / max(len(judged), 1), 3),
            round(times[len(times) // 2], 1) if times else 0.0,
        )


if __name__ == "__main__":
    sys.exit(main())
