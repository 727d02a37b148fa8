"""Judging one prediction: run gold and predicted SQL, compare results and forms. Runs in worker processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache

from fastsql.errors import ExecutionError, VerificationError
from fastsql.evaluation.answers import AnswerRows, answer_rows, is_void, published_form
from fastsql.evaluation.comparison import compare, hardness_of
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.evaluation.made_contents import same_on_made
from fastsql.execution import QueryTimeoutError, ReadOnlyExecutor
from fastsql.schema import Schema
from fastsql.verification.verify import prepare


@dataclass(frozen=True)
class Task:
    """One question to judge: `gold` is None where a refusal is right, `database` where there is none to run on.

    Where there is none, results are compared on `made` databases that are made for the question (`made_contents`).
    """

    db_id: str
    gold: str | None
    predicted: str | None
    answer: str | None = None
    database: str | None = None
    gold_runs: bool = True
    now: str | None = None
    time_limit: float = 10.0
    made: int = 0


@dataclass(frozen=True)
class Verdict:
    """What came of it. None stands for what could not be asked: no database, no gold SQL, no prediction.

    `correct` compares results, or forms where databases were made and gold returns nothing on any of them; `runs` tells
    whether the prediction runs (or, without a database, whether SQLite prepares it on the schema); `published` whether gold
    gives the published answer; `gold_void` whether that is empty, NULL or 0. `hardness` is gold's, of
    `fastsql.evaluation.hardness.LEVELS`. `differences` are the clauses in which a wrong prediction differs from gold: none
    if the forms are equal, None if there was nothing wrong or nothing to compare.
    """

    correct: bool | None = None
    runs: bool | None = None
    timed_out: bool = False
    em: bool = False
    em_values: bool = False
    gold_failed: bool = False
    gold_void: bool | None = None
    published: bool | None = None
    hardness: str | None = None
    differences: tuple[str, ...] | None = None


class Judges:
    """Judges tasks in `jobs` processes, or in this one for a single job. Use as a context manager.

    Processes are spawned, so that they are the same on every platform and inherit no thread or lock.
    """

    def __init__(self, schemas: Mapping[str, Schema], jobs: int) -> None:
        self._schemas = dict(schemas)
        self._pool: ProcessPoolExecutor | None = None
        if jobs > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                jobs, context, initializer=_set_schemas, initargs=(self._schemas,)
            )

    def verdicts(self, tasks: Iterable[Task]) -> Iterator[Verdict]:
        """Verdicts in the order of the tasks.

        Raises:
            ExecutionError: a worker process died.
        """
        if self._pool is None:
            yield from (judge(task, self._schemas[task.db_id]) for task in tasks)
            return
        try:
            yield from self._pool.map(_judge_in_worker, tasks, chunksize=8)
        except BrokenProcessPool as error:
            remedy = "A query may have used up the memory: try --jobs 1."
            raise ExecutionError(
                "a worker process ended unexpectedly", where="evaluation", remedy=remedy
            ) from error

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *_details: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        else:
            _executor.cache_clear()


_worker_schemas: dict[str, Schema] = {}


def _set_schemas(schemas: dict[str, Schema]) -> None:
    _worker_schemas.update(schemas)


def _judge_in_worker(task: Task) -> Verdict:
    return judge(task, _worker_schemas[task.db_id])


def judge(task: Task, schema: Schema) -> Verdict:
    """Judge one prediction."""
    gold = None if task.gold is None else normalise_sql(task.gold, task.now)
    predicted = None if task.predicted is None else normalise_sql(task.predicted, task.now)
    runs, timed_out, rows = _run(predicted, task, schema)
    if gold is None:
        return Verdict(runs=runs, timed_out=timed_out)
    gold_rows, published = _gold_answer(gold, task)
    correct = None if task.database is None else gold_rows is not None and rows == gold_rows
    gold_void = None if gold_rows is None else is_void(gold_rows)
    comparison = compare(gold, predicted, schema)
    if task.database is None and task.made and task.gold_runs:
        same = same_on_made(gold, predicted, schema, task.made, now=task.now, time_limit=task.time_limit)
        correct, gold_void = comparison.em_values if same is None else same, same is None
    right = comparison.em_values if correct is None else correct
    return Verdict(
        correct=correct,
        runs=runs,
        timed_out=timed_out,
        em=comparison.em,
        em_values=comparison.em_values,
        gold_failed=task.database is not None and gold_rows is None,
        gold_void=gold_void,
        published=published,
        hardness=hardness_of(gold),
        differences=None if right else comparison.differences(),
    )


def _run(sql: str | None, task: Task, schema: Schema) -> tuple[bool | None, bool, AnswerRows | None]:
    """Whether it runs, whether it ran out of time, and its answer."""
    if sql is None:
        return None, False, None
    try:
        if task.database is None:
            prepare(sql, schema)
            return True, False, None
        with _executor(task.database, task.time_limit).cursor(sql) as cursor:
            return True, False, answer_rows(cursor)
    except QueryTimeoutError:
        return False, True, None
    except (ExecutionError, VerificationError):
        return False, False, None


def _gold_answer(sql: str, task: Task) -> tuple[AnswerRows | None, bool | None]:
    """The answer of gold SQL, and whether it is the published one."""
    if task.database is None or not task.gold_runs:
        return None, None
    try:
        with _executor(task.database, task.time_limit).cursor(sql) as cursor:
            if task.answer is None:
                return answer_rows(cursor), None
            rows = list(cursor)
    except ExecutionError:
        return None, None if task.answer is None else False
    return answer_rows(rows), published_form(rows) == task.answer


@lru_cache(maxsize=8)
def _executor(database: str, time_limit: float) -> ReadOnlyExecutor:
    return ReadOnlyExecutor(database, time_limit=time_limit)
