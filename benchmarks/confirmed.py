"""How many questions are answered rightly once their asker may say "yes"?

    python benchmarks/confirmed.py held/pairs.json.gz --schemas held/schemas.json --databases held/databases
    python benchmarks/confirmed.py ... --split-ids configs/ehr-en.held_out.json:databases

Each question begins a conversation. Where it is refused with what was probably meant, in words, "yes" is the next turn, or
"the first", "the second", "the third" where the refusal tells several readings; what is then answered is compared with what
gold's query returns. The asker here confirms what is right and nothing else, so the figures are an upper bound: people may
confirm what they misread.

In percent of the questions that have an answer:

given, right     answered at once, as gold does
given, wrong     answered at once, otherwise
"yes"            refused, and the one reading that was told is right
one of several   refused, and one of the readings that were told is right
none right       refused with readings of which none is right: what an asker has to turn down
no reading       refused without any
right in all     answered rightly at once, or once the right reading was confirmed
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import fastsql
from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas, read_split_ids
from fastsql.errors import ExecutionError
from fastsql.evaluation.answers import AnswerRows, answer_rows
from fastsql.execution import ReadOnlyExecutor
from fastsql.parser import Parser
from fastsql.refusal.suggestions import BestGuess, SeveralReadings
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from record import save

PLACES = ("the first", "the second", "the third")
GIVEN, WRONG = "given, right", "given, wrong"
YES, SEVERAL, NONE, SILENT = '"yes"', "one of several", "none right", "no reading"


def outcome(
    parser: Parser, example: Example, schema: Schema, path: Path, executor: ReadOnlyExecutor
) -> str | None:
    """What becomes of a question, at once or after one word more; None where gold does not run."""
    gold = answer(executor, example.sql)
    if gold is None:
        return None
    first = parser.parse(example.question, schema, history=[], values=path)
    if first.sql is not None:
        return GIVEN if answer(executor, first.sql) == gold else WRONG
    told = next((one for one in first.suggestions if isinstance(one, BestGuess | SeveralReadings)), None)
    if told is None:
        return SILENT
    said = ("yes",) if isinstance(told, BestGuess) else PLACES[: len(told.descriptions)]
    answers = [parser.parse(one, schema, history=[first], values=path).sql for one in said]
    if any(answer(executor, sql) == gold for sql in answers if sql is not None):
        return YES if isinstance(told, BestGuess) else SEVERAL
    return NONE


def answer(executor: ReadOnlyExecutor, sql: str | None) -> AnswerRows | None:
    """What a query returns; None where there is none, it fails, or it returns more than may be read."""
    try:
        return None if sql is None else answer_rows(executor.run(sql))
    except ExecutionError:
        return None


def counted(options: argparse.Namespace, console: Console) -> Counter[str]:
    """How often each outcome came about."""
    ids = None if options.split_ids is None else read_split_ids(options.split_ids)
    examples = [one for one in read_examples(options.data, ids=ids) if one.sql is not None]
    db_ids = {one.db_id for one in examples}
    schemas = read_schemas(options.schemas, databases=db_ids)
    parser, found = fastsql.load(options.model), Counter[str]()
    with DatabaseFiles(options.databases, db_ids) as databases:
        for example in console.track(examples, "asking", len(examples)):
            path = databases.path(example.db_id)
            if path is None:
                raise SystemExit(f"there is no database of {example.db_id}")
            with ReadOnlyExecutor(path, time_limit=3.0) as executor:
                became = outcome(parser, example, schemas[example.db_id], path, executor)
            if became is not None:
                found[became] += 1
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="questions with SQL")
    parser.add_argument("--schemas", required=True)
    parser.add_argument("--databases", required=True)
    parser.add_argument("--split-ids", help="FILE:NAME of the questions or databases to take")
    parser.add_argument("--model", default="ehr-en", help="a model's name, or a bundle's folder")
    parser.add_argument("--json", type=Path, help="write figures here")
    options = parser.parse_args(arguments)
    console = Console(out=sys.stdout)
    found = counted(options, console)
    total = found.total()
    shares = {name: 100 * found[name] / total for name in (GIVEN, WRONG, YES, SEVERAL, NONE, SILENT)}
    shares["right in all"] = shares[GIVEN] + shares[YES] + shares[SEVERAL]
    console.table(["", "%"], [[name, f"{share:.1f}"] for name, share in shares.items()])
    if options.json:
        save(options.json, {"questions": total, "shares": shares}, __file__, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
