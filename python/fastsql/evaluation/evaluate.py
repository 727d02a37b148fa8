"""The evaluation of a parser on a data set: first every question is parsed and timed, then every prediction is judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastsql.datasets import DatabaseFiles, Example
from fastsql.datasets.interactions import as_interactions, is_conversational
from fastsql.errors import FastSQLError
from fastsql.evaluation.asking import Parsed, ParserLike, ask, ask_conversations, place_of, warm_up
from fastsql.evaluation.bootstrap import ROUNDS
from fastsql.evaluation.judge import Judges, Task
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.predictions import Prediction
from fastsql.evaluation.provenance import Provenance, facts_of
from fastsql.evaluation.report import Report
from fastsql.evaluation.skeleton import skeleton
from fastsql.execution import ReadOnlyExecutor
from fastsql.reliability.inspection import Inspector
from fastsql.schema import Schema

Progress = Callable[[Iterable[Any], str, int], Iterator[Any]]
"""Passes on what it is given, showing how far it is: ``track(items, label, total)``."""


@dataclass(frozen=True)
class Options:
    """How to evaluate.

    Attributes:
        now: the time that "now" means in gold and predicted SQL, ``YYYY-MM-DD HH:MM:SS``.
        jobs: processes that judge; None takes one a CPU, at most eight.
        time_limit: seconds that one query may run.
        values: whether the parser may look up values in the database.
        penalty: the penalty that the parser decided by, for the record; None for the parser's own.
        seen: skeletons of the training set; figures are then given for seen and unseen ones apart.
        resamples: draws of the bootstrap that gives the intervals; 0 leaves them out.
        inspect: whether the likeliest queries are run on the question's database before one is chosen.
        beam: hypotheses that a parse keeps; None leaves it to the parser.
        seed: of the bootstrap's draws, and of the sample where the examples are one.
        sampled_from: of how many examples these are a sample, for the record.
        command: that was typed, for the record.
        made: where there is no database, on how many that are made for each question results are compared.
    """

    now: str | None = None
    jobs: int | None = 1
    time_limit: float = 10.0
    values: bool = True
    penalty: float | None = None
    seen: Collection[str] | None = None
    resamples: int = ROUNDS
    inspect: bool = False
    beam: int | None = None
    seed: int = 0
    sampled_from: int | None = None
    command: str | None = None
    made: int = 0


def _pass_on(items: Iterable[Any], _label: str, _total: int) -> Iterator[Any]:
    return iter(items)


def training_skeletons(examples: Iterable[Example]) -> frozenset[str]:
    """The SQL skeletons of a training set, for :attr:`Options.seen`."""
    return frozenset(skeleton(example.sql) for example in examples if example.sql is not None)


def evaluate(
    parser: ParserLike | Mapping[str, Prediction],
    examples: Sequence[Example],
    schemas: Mapping[str, Schema],
    databases: DatabaseFiles | None = None,
    options: Options | None = None,
    track: Progress = _pass_on,
) -> Report:
    """Evaluate a parser, or predictions made before, given by example id.

    Questions on which the parser raises a :class:`FastSQLError` count as refused; the kinds of errors are in the report.

    Conversations (`is_conversational`) are asked one after the other, each question with the turns before it as the parser
    answered them: never with gold, so that errors are carried on, and with the best hypothesis even where it was refused.

    Raises:
        FastSQLError: `schemas` lacks a schema, predictions lack an example, a worker process died, the turns of a
            conversation are out of order, or the parser takes no history.
    """
    options = options or Options()
    missing = sorted({example.db_id for example in examples}.difference(schemas))
    if missing:
        raise FastSQLError(
            "there is no schema of it", where=f"database {missing[0]!r}", remedy="Give all schemas."
        )
    talks = as_interactions(examples, "the examples") if is_conversational(examples) else None
    paths = {db_id: databases.path(db_id) if databases else None for db_id in schemas}
    if isinstance(parser, Mapping):
        parsed = _given(parser, examples)
    else:
        with _settings(paths, options) as settings:
            warm_up(parser, examples, schemas, settings)
            if talks is None:
                one_by_one = (ask(parser, example, schemas, settings) for example in examples)
                parsed = list(track(one_by_one, "parsing", len(examples)))
            else:
                turns = dict(
                    track(ask_conversations(parser, talks, schemas, settings), "parsing", len(examples))
                )
                parsed = [turns[place_of(example)] for example in examples]
    tasks = [
        _task(example, item.prediction, paths, options)
        for example, item in zip(examples, parsed, strict=True)
    ]
    jobs = options.jobs or min(os.cpu_count() or 1, 8)
    with Judges({example.db_id: schemas[example.db_id] for example in examples}, jobs) as judges:
        verdicts = list(track(judges.verdicts(tasks), "running SQL", len(tasks)))
    judged = tuple(
        Judged(
            example, item.prediction, verdict, _is_seen(example, options.seen), item.latency_ms, item.kinds
        )
        for example, item, verdict in zip(examples, parsed, verdicts, strict=True)
    )
    errors = tuple(item.error for item in parsed if item.error)
    return Report(judged, _provenance(parser, options), errors, options.resamples)


def _provenance(parser: ParserLike | Mapping[str, Prediction], options: Options) -> Provenance:
    facts: dict[str, Any] = {"penalty": options.penalty}
    if not isinstance(parser, Mapping):
        asked = {name: value for name in ("penalty", "beam") if (value := getattr(options, name)) is not None}
        facts = {**facts_of(parser), **asked, "values": options.values, "inspected": options.inspect}
    return Provenance(
        **facts,
        now=options.now,
        made=options.made or None,
        sampled_from=options.sampled_from,
        seed=options.seed,
        command=options.command,
    )


def _given(predictions: Mapping[str, Prediction], examples: Sequence[Example]) -> list[Parsed]:
    missing = [example.id for example in examples if example.id not in predictions]
    if missing:
        what = f"{len(missing)} of {len(examples)} examples have no prediction, such as {missing[0]!r}"
        raise FastSQLError(what, where="predictions", remedy="Give the predictions of this data set.")
    return [Parsed(predictions[example.id]) for example in examples]


@contextmanager
def _settings(paths: Mapping[str, Path | None], options: Options) -> Iterator[Mapping[str, dict[str, Any]]]:
    """The keyword arguments of `parse`, by database."""
    settings: dict[str, dict[str, Any]] = {}
    with ExitStack() as executors:
        for db_id, path in paths.items():
            settings[db_id] = {"values": path if options.values else None, "now": options.now}
            if options.beam is not None:
                settings[db_id]["beam"] = options.beam
            if options.inspect and path is not None:
                executor = executors.enter_context(ReadOnlyExecutor(path, time_limit=options.time_limit))
                settings[db_id]["inspector"] = Inspector(executor)
        yield settings


def _task(
    example: Example, prediction: Prediction, paths: Mapping[str, Path | None], options: Options
) -> Task:
    database = paths[example.db_id]
    return Task(
        db_id=example.db_id,
        gold=example.sql,
        predicted=prediction.sql,
        answer=example.answer if options.now else None,
        database=None if database is None else str(database),
        gold_runs=example.runs,
        now=options.now,
        time_limit=options.time_limit,
        made=options.made,
    )


def _is_seen(example: Example, seen: Collection[str] | None) -> bool | None:
    return None if seen is None or example.sql is None else skeleton(example.sql) in seen
