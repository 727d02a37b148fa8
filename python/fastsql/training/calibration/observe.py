"""What becomes of questions that a model was not trained on: the evidence that its parser has, and whether it is right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastsql.datasets import DatabaseFiles, read_schemas
from fastsql.decode import Search
from fastsql.evaluation.judge import Judges, Task, Verdict
from fastsql.execution import ReadOnlyExecutor
from fastsql.grammar.program import Program
from fastsql.linking.selection import reduced
from fastsql.model.bundle import Bundle
from fastsql.parser import Parser
from fastsql.reliability.assess import Asked, Reliability
from fastsql.reliability.correspondence import SHARED, correspondence_figures
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.inspection import Finding, Inspector
from fastsql.reliability.names import names_of
from fastsql.result import Link
from fastsql.schema import Schema
from fastsql.training.calibration.questions import Question
from fastsql.training.config import TrainConfig, expand_path

EHRSQL_NOW = "2100-12-31 23:59:00"
"""The time of EHRSQL 2024's questions."""

Report = Callable[[str], None]
State = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Observation:
    """What became of a question.

    Attributes:
        question: the question.
        evidence: of the likeliest hypothesis, without what is yet to be fitted (`state`, `correspondence`).
        inspected: the same once answers are known; None where there is no database, or the query fails on it.
        state: the question's state in the graph, float32[d].
        shared: share of the question's words that the schema's names have.
        right: whether the hypothesis is right.
    """

    question: Question
    evidence: Evidence
    inspected: Evidence | None
    state: State
    shared: float
    right: bool


@dataclass(frozen=True, eq=False)
class _Seen:
    """What is seen of the likeliest hypothesis; `names` are the words of its schema."""

    evidence: Evidence
    state: State
    names: frozenset[str]


@dataclass
class _Notes:
    """What one parse lets be seen."""

    seen: _Seen | None = None
    inspected: Evidence | None = None
    sql: str | None = None


@dataclass(frozen=True)
class _Witness(Reliability):
    """Keeps the evidence that it is asked about, for the likeliest hypothesis."""

    notes: _Notes = field(default_factory=_Notes)

    def evidence(
        self, asked: Asked, search: Search, chosen: int, program: Program, links: Sequence[Link]
    ) -> Evidence:
        found = super().evidence(asked, search, chosen, program, links)
        if chosen == 0:
            state = np.asarray(asked.state, dtype=np.float32)
            self.notes.seen = _Seen(found, state, names_of(asked.links).words)
        return found

    def after_inspection(
        self, evidence: Evidence, search: Search, chosen: int, allies: Sequence[int], *, void: bool
    ) -> Evidence:
        found = super().after_inspection(evidence, search, chosen, allies, void=void)
        if chosen == 0:
            self.notes.inspected = found
        return found


@dataclass(frozen=True)
class _Looking(Inspector):
    """Keeps the SQL of the likeliest hypothesis, whichever is given in the end."""

    notes: _Notes = field(default_factory=_Notes)

    def inspect(self, queries: Iterable[str | None]) -> tuple[Finding, ...]:
        asked = list(queries)
        self.notes.sql = asked[0]
        return super().inspect(asked)


class _Observed(Parser):
    """A parser that lets one see what its decisions are made from."""

    def look(
        self, question: Question, schema: Schema, database: Path | None, now: str
    ) -> tuple[_Notes, str | None]:
        """The evidence for the likeliest hypothesis, and its SQL; None where nothing valid was written."""
        notes = _Notes()
        self._reliability = _Witness(familiarity=self._reliability.familiarity, notes=notes)
        values = database if question.values else None
        if database is None:
            return notes, self.parse(question.pair.question, schema, now=now).best
        with ReadOnlyExecutor(database, time_limit=5.0, row_limit=1_000) as executor:
            inspector = _Looking(executor, notes=notes)
            self.parse(question.pair.question, schema, values=values, now=now, inspector=inspector)
        return notes, notes.sql


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
            for db_id in here:
                schemas.setdefault(db_id, here[db_id])
                paths[db_id] = paths.get(db_id) or files.path(db_id)
        written: list[tuple[Question, _Seen, Evidence | None, str]] = []
        # Questions over one part of a schema follow each other, as a parser keeps few of its parts ready.
        order = sorted(questions, key=lambda question: (question.pair.db_id, sorted(question.removed)))
        for number, question in enumerate(order, 1):
            db_id = question.pair.db_id
            schema = without(schemas[db_id], question.removed)
            notes, sql = parser.look(question, schema, paths[db_id], now)
            if sql is not None and notes.seen is not None:
                written.append((question, notes.seen, notes.inspected, sql))
            if report is not None and (number % 50 == 0 or number == len(order)):
                report(f"{number} of {len(order)} parsed")
        tasks = [
            Task(question.pair.db_id, question.sql, sql, database=_text(paths[question.pair.db_id]), now=now)
            for question, _, _, sql in written
            if question.sql is not None
        ]
        judges = stack.enter_context(Judges(schemas, 1))
        verdicts = judges.verdicts(tasks)
        return tuple(
            _observation(question, seen, inspected, question.sql is not None and _is_right(next(verdicts)))
            for question, seen, inspected, _ in written
        )


def without(schema: Schema, columns: frozenset[int]) -> Schema:
    """The schema without some columns, and without tables that have no other."""
    if not columns:
        return schema
    return reduced(schema, [index for index in range(len(schema.columns)) if index not in columns]).schema


def _observation(question: Question, seen: _Seen, inspected: Evidence | None, right: bool) -> Observation:
    shared = correspondence_figures(question.pair.question, seen.names)[SHARED]
    return Observation(question, seen.evidence, inspected, seen.state, shared, right)


def _is_right(verdict: Verdict) -> bool:
    return verdict.em_values if verdict.correct is None else verdict.correct


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
