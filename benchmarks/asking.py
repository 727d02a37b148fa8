"""The questions of a data set that have an answer, each with its database and what gold's query returns."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas, read_split_ids
from fastsql.errors import ExecutionError
from fastsql.evaluation.answers import AnswerRows, answer_rows
from fastsql.execution import ReadOnlyExecutor
from fastsql.schema import Schema


@dataclass(frozen=True)
class Question:
    """A question with SQL that runs: `gold` is what that returns."""

    example: Example
    schema: Schema
    database: Path
    executor: ReadOnlyExecutor
    gold: AnswerRows

    def answer(self, sql: str | None) -> AnswerRows | None:
        """What a query returns; None where there is none, it fails, or it returns more than may be read."""
        return _answer(self.executor, sql)


def add_data_set(parser: argparse.ArgumentParser) -> None:
    """Options that name a data set."""
    parser.add_argument("data", help="questions with SQL")
    parser.add_argument("--schemas", required=True)
    parser.add_argument("--databases", required=True)
    parser.add_argument("--split-ids", help="FILE:NAME of the questions or databases to take")


def questions(options: argparse.Namespace, console: Console) -> Iterator[Question]:
    """Those of the data set that `add_data_set`'s options name; their executors are open while they are asked."""
    ids = None if options.split_ids is None else read_split_ids(options.split_ids)
    examples = [one for one in read_examples(options.data, ids=ids) if one.sql is not None]
    db_ids = {one.db_id for one in examples}
    schemas = read_schemas(options.schemas, databases=db_ids)
    with DatabaseFiles(options.databases, db_ids) as databases:
        for example in console.track(examples, "asking", len(examples)):
            path = databases.path(example.db_id)
            if path is None:
                raise SystemExit(f"there is no database of {example.db_id}")
            with ReadOnlyExecutor(path, time_limit=3.0) as executor:
                gold = _answer(executor, example.sql)
                if gold is not None:
                    yield Question(example, schemas[example.db_id], path, executor, gold)


def _answer(executor: ReadOnlyExecutor, sql: str | None) -> AnswerRows | None:
    try:
        return None if sql is None else answer_rows(executor.run(sql))
    except ExecutionError:
        return None
