"""What becomes of questions that a model was not trained on: the evidence that its parser has, and whether it is right."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from fastsql.datasets import DatabaseFiles, read_examples, read_schemas
from fastsql.evaluation.judge import Judges, Task
from fastsql.model.bundle import Bundle
from fastsql.parser import Parser
from fastsql.reliability.confidence import Confidence
from fastsql.schema import Schema
from fastsql.training.config import SourceSettings, TrainConfig, expand_path
from fastsql.training.data import Corpus, Sample
from fastsql.training.programs import dump_program, mask
from fastsql.training.split import Pair, letters_only, remove_reported

SEEN, UNSEEN, UNANSWERABLE = "seen", "unseen", "unanswerable"
"""Parts of the questions: of a template that was trained on, of one that was not, and to be refused."""

EHRSQL_NOW = "2100-12-31 23:59:00"
"""The time of EHRSQL 2024's questions."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Question:
    """A question that was not trained on; `sql` is None where it is to be refused."""

    pair: Pair
    part: str
    group: str
    sql: str | None


@dataclass(frozen=True)
class Observation:
    """What became of a question: the beam's figures in the order of `FEATURES`, and whether the parse is right."""

    question: Question
    features: tuple[float, ...]
    right: bool


@dataclass(frozen=True)
class _Witness(Confidence):
    """Keeps the evidence that it is asked about."""

    seen: list[tuple[float, ...]] = field(default_factory=list)

    def __call__(self, features: Sequence[float]) -> float:
        self.seen.append(tuple(features))
        return super().__call__(features)


class _Observed(Parser):
    """A parser that lets one see what its confidence is computed from."""

    def features(
        self, question: str, schema: Schema, values: Path | None, now: str
    ) -> tuple[tuple[float, ...], str | None]:
        """The evidence for the first hypothesis, and its SQL; empty, None where nothing was written."""
        witness = _Witness()
        self._confidence = witness
        best = self.parse(question, schema, values=values, now=now).best
        return (witness.seen[0] if best is not None else ()), best


# ---------------------------------------------------------------- which questions


def held_out(
    config: TrainConfig, corpus: Corpus, limit: int | None = None, seed: int = 0
) -> tuple[Question, ...]:
    """The questions to fit on; with `limit`, at most so many of each part, drawn by `seed`."""
    parts = (
        [_answerable(sample, SEEN) for sample in corpus.dev_examples],
        [_answerable(sample, UNSEEN) for sample in corpus.dev_templates],
        [question for source in config.data.sources if source.dev for question in _unanswerable(source)],
    )
    rng = random.Random(seed)
    return tuple(
        question
        for part in parts
        for question in (part if limit is None or len(part) <= limit else rng.sample(part, limit))
    )


def _answerable(sample: Sample, part: str) -> Question:
    return Question(sample.pair, part, dump_program(mask(sample.program)), sample.pair.sql)


def _unanswerable(source: SourceSettings) -> Iterator[Question]:
    """Those of a source's training questions that are to be refused and are not reported on."""
    pairs = [
        Pair(item.id, item.question, "", item.db_id)
        for item in read_examples(expand_path(source.examples))
        if item.sql is None and item.runs
    ]
    reported = [item.question for path in source.report for item in read_examples(expand_path(path))]
    for pair in remove_reported(pairs, reported):
        yield Question(pair, UNANSWERABLE, letters_only(pair.question), None)


# ---------------------------------------------------------------- what becomes of them


def observe(
    bundle: Bundle,
    config: TrainConfig,
    questions: Sequence[Question],
    *,
    now: str = EHRSQL_NOW,
    threads: int = 0,
    report: Report | None = None,
) -> tuple[Observation, ...]:
    """Parses every question as in use, and compares results with gold's; canonical forms where there is no database.

    Questions for which nothing valid was written are left out: the parser refuses those by itself.
    """
    parser = _Observed(bundle, penalty=0, threads=threads)
    schemas: dict[str, Schema] = {}
    paths: dict[str, Path | None] = {}
    with ExitStack() as stack:
        for source in config.data.sources:
            here = read_schemas(expand_path(source.schemas))
            database = expand_path(source.database) if source.database else None
            files = stack.enter_context(DatabaseFiles(database, list(here)))
            schemas.update(here)
            paths.update({db_id: files.path(db_id) for db_id in here})
        written: list[tuple[Question, tuple[float, ...], str]] = []
        for number, question in enumerate(questions, 1):
            db_id = question.pair.db_id
            features, sql = parser.features(question.pair.question, schemas[db_id], paths[db_id], now)
            if sql is not None:
                written.append((question, features, sql))
            if report is not None and (number % 50 == 0 or number == len(questions)):
                report(f"{number} of {len(questions)} parsed")
        tasks = [
            Task(question.pair.db_id, question.sql, sql, database=_text(paths[question.pair.db_id]), now=now)
            for question, _, sql in written
        ]
        judges = stack.enter_context(Judges(schemas, 1))
        verdicts = list(judges.verdicts(tasks))
    return tuple(
        Observation(question, features, verdict.em_values if verdict.correct is None else verdict.correct)
        for (question, features, _), verdict in zip(written, verdicts, strict=True)
    )


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
