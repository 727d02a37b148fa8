"""Is a question with unrelated ones before it answered as it would be alone?

    python benchmarks/topics.py                       400 of EHRSQL 2024's valid questions, forty behind each other
    python benchmarks/topics.py --questions 100 --length 20 --seed 1 --json topics.json

Questions with an answer are drawn by a seed and asked in conversations, though none has anything to do with those before it;
and each alone, as an application without conversations asks it. Nothing is refused. Results are compared with gold's.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import fastsql
from fastsql import Schema
from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.evaluation.judge import Judges, Task
from fastsql.parser import Parser

sys.path.insert(0, str(Path(__file__).parent))
from record import machine, save

NOW = "2100-12-31 23:59:00"
REFERENCE = ("d_icd_diagnoses", "d_icd_procedures", "d_items", "d_labitems")
LATE = 10
"""Turns before a question from which it counts as late."""


@dataclass(frozen=True)
class Asked:
    """A question with the SQL that it gets alone and in a conversation, behind so many others."""

    example: Example
    behind: int
    alone: str | None
    conversing: str | None


def ask(parser: Parser, talks: Sequence[Sequence[Example]], schema: Schema, values: Path) -> Iterator[Asked]:
    """The questions of the conversations in their order."""
    for talk in Console().track(talks, "conversations", len(talks)):
        session = parser.session(schema, values, now=NOW)
        for behind, example in enumerate(talk):
            alone = parser.parse(example.question, schema, values=values, now=NOW)
            yield Asked(example, behind, alone.best, session.ask(example.question).best)


def figures(asked: Sequence[Asked], right: Sequence[tuple[bool, bool]]) -> dict[str, dict[str, float]]:
    """How many questions there are, the percentage right alone and in conversations, and how many got other SQL there."""
    found = {}
    for name, first in (("all", 0), (f"behind {LATE} or more", LATE)):
        rows = [(one, verdict) for one, verdict in zip(asked, right, strict=True) if one.behind >= first]
        if rows:
            found[name] = {
                "questions": len(rows),
                "alone": 100 * sum(alone for _, (alone, _) in rows) / len(rows),
                "conversing": 100 * sum(conversing for _, (_, conversing) in rows) / len(rows),
                "other_sql": sum(one.alone != one.conversing for one, _ in rows),
            }
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of EHRSQL 2024 (default: $FASTSQL_DATA/ehrsql2024)")
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--questions", type=int, default=400, metavar="N")
    parser.add_argument("--length", type=int, default=40, metavar="N", help="questions of a conversation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    data = options.data or Path(os.environ.get("FASTSQL_DATA", ".")) / "ehrsql2024"
    if not (data / "valid.json").is_file():
        print(f"{data} has no valid.json: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    examples = [example for example in read_examples(data / "valid.json") if example.sql]
    random.Random(options.seed).shuffle(examples)
    examples = examples[: options.questions]
    talks = [examples[start : start + options.length] for start in range(0, len(examples), options.length)]
    name = examples[0].db_id
    schema = read_schemas(data / "schemas.json")[name].with_reference_tables(*REFERENCE)
    with DatabaseFiles(data / "mimic_iv.sqlite.gz", [name]) as files, Judges({name: schema}, 1) as judges:
        database = files.path(name)
        assert database is not None
        asked = list(ask(fastsql.load(options.model, penalty=0), talks, schema, database))
        tasks = [
            Task(name, one.example.sql, sql, database=str(database), now=NOW)
            for one in asked
            for sql in (one.alone, one.conversing)
        ]
        correct = [verdict.correct is True for verdict in judges.verdicts(tasks)]
    found = figures(asked, list(zip(correct[::2], correct[1::2], strict=True)))
    print(f"{machine()}; conversations of {options.length} questions that have nothing to do with each other")
    print(f"{'':20}{'questions':>10}{'alone, %':>10}{'behind others, %':>18}{'other SQL':>11}")
    for kind, row in found.items():
        print(
            f"{kind:20}{row['questions']:10}{row['alone']:10.1f}{row['conversing']:18.1f}{row['other_sql']:11}"
        )
    content = {"model": options.model, "seed": options.seed, "length": options.length, "topics": found}
    save(options.json, content, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
