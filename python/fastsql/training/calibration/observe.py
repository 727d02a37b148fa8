"""What becomes of questions that a model was not trained on: the evidence that its parser has, and whether it is right."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastsql.datasets import DatabaseFiles
from fastsql.decode import Search
from fastsql.evaluation.judge import Judges, Task, Verdict
from fastsql.evaluation.made_contents import DATABASES
from fastsql.execution import ReadOnlyExecutor
from fastsql.grammar.program import Program
from fastsql.linking.selection import reduced
from fastsql.model.bundle import Bundle
from fastsql.parser import Parser
from fastsql.parser.link import Linked
from fastsql.parser.weigh import SecondOpinion
from fastsql.reliability.assess import LEFT_OUT_WEIGHT, Asked, Reliability, SecondModels, Weights, weights_of
from fastsql.reliability.correspondence import SHARED, correspondence_figures
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.inspection import Finding, Inspector
from fastsql.reliability.names import names_of
from fastsql.result import Link
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.training.calibration.questions import BY_PEOPLE, FOREIGN, FOREIGN_MADE, Question
from fastsql.training.config import SourceSettings, TrainConfig, expand_path
from fastsql.training.corpus.schemas import source_schemas

EHRSQL_NOW = "2100-12-31 23:59:00"
"""The time of EHRSQL 2024's questions."""

_PARTS = 4
"""Parts of the questions that a process gets, one after the other: they take unequally long."""
State = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Observation:
    """What became of a question.

    Attributes:
        question: the question.
        evidence: of the likeliest hypothesis, without what is yet to be fitted (`state`, `correspondence`).
        inspected: the same once answers are known; None where there is no database, or the query fails on it.
        others: what `inspected` is for the further hypotheses that ran, and whether each is right; of questions that have an
            answer, over the schemas trained on.
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
    others: tuple[tuple[Evidence, bool], ...] = ()


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
    inspected: dict[int, Evidence] = field(default_factory=dict)
    queries: list[str | None] = field(default_factory=lambda: [None])

    @property
    def sql(self) -> str | None:
        """The SQL of the likeliest hypothesis; None where nothing valid was written."""
        return self.queries[0]

    def others(self) -> list[tuple[Evidence, str]]:
        """The other hypotheses that ran."""
        return [
            (evidence, sql)
            for number, evidence in sorted(self.inspected.items())
            if number and (sql := self.queries[number]) is not None
        ]


@dataclass(frozen=True)
class _Witness(Reliability):
    """Keeps the evidence that it is asked about: before answers are known, for the likeliest hypothesis."""

    notes: _Notes = field(default_factory=_Notes)

    def evidence(
        self,
        asked: Asked,
        search: Search,
        chosen: int,
        program: Program,
        links: Sequence[Link],
        *,
        contradicted: bool = False,
    ) -> Evidence:
        found = super().evidence(asked, search, chosen, program, links, contradicted=contradicted)
        if chosen == 0:
            state = np.asarray(asked.state, dtype=np.float32)
            self.notes.seen = _Seen(found, state, names_of(asked.links).words)
        return found

    def after_inspection(
        self,
        evidence: Evidence,
        search: Search,
        chosen: int,
        allies: Sequence[int],
        *,
        void: bool,
        hollow: bool = False,
    ) -> Evidence:
        found = super().after_inspection(evidence, search, chosen, allies, void=void, hollow=hollow)
        self.notes.inspected[chosen] = found
        return found


@dataclass(frozen=True)
class _Looking(Inspector):
    """Keeps the SQL of all hypotheses, whichever is given in the end."""

    notes: _Notes = field(default_factory=_Notes)

    def inspect(
        self,
        queries: Iterable[str | None],
        parts: Callable[[int], Iterable[str]] = lambda _: (),
        look_ups: Callable[[int], Iterable[str]] = lambda _: (),
    ) -> tuple[Finding, ...]:
        self.notes.queries = list(queries)
        return super().inspect(self.notes.queries, parts, look_ups)


class _Observed(Parser):
    """A parser that lets one see what its decisions are made from."""

    models: SecondModels | None = None
    _foreign = False

    def _second_weights(self, linked: Linked, *, doubted: bool) -> Weights | None:
        return weights_of(self.models) if self.models is not None and (self._foreign or doubted) else None

    def look(
        self, question: Question, schema: Schema, database: Path | None, now: str
    ) -> tuple[_Notes, str | None]:
        """What is seen of the hypotheses, and the SQL of the likeliest; None where nothing valid was written."""
        notes = _Notes()
        self._foreign = question.part in (FOREIGN, FOREIGN_MADE)
        self._reliability = _Witness(
            familiarity=self._reliability.familiarity, left_out=LEFT_OUT_WEIGHT, notes=notes
        )
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
    second: SecondModels | None = None,
    processes: int = 1,
    report: Report | None = None,
) -> tuple[Observation, ...]:
    """Parses every question as in use, and compares results with gold's; where there is no database, on some that are made.

    Questions for which nothing valid was written are left out: the parser refuses those by itself. The models of
    `second`, which come with fastsql, are asked about hypotheses over schemas that were not trained on, and where others are
    in doubt. Several `processes`, each on one thread, give what one does.
    """
    # Questions over one part of a schema follow each other, as a parser keeps few of its parts ready.
    order = sorted(questions, key=lambda question: (question.pair.db_id, sorted(question.removed)))
    if processes == 1:
        return _observe(order, bundle, config, now, threads, second, report)
    ends = [len(order) * number // (_PARTS * processes) for number in range(_PARTS * processes + 1)]
    parts = [order[start:end] for start, end in pairwise(ends) if start < end]
    observe_part = partial(_observe, bundle=bundle, config=config, now=now, threads=1, second=second)
    found: list[Observation] = []
    done = 0
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for part, observed in zip(parts, pool.map(observe_part, parts), strict=True):
            found += observed
            done += len(part)
            if report is not None:
                report(f"{done} of {len(order)} parsed")
    return tuple(found)


def _observe(
    order: Sequence[Question],
    bundle: Bundle,
    config: TrainConfig,
    now: str,
    threads: int,
    second: SecondModels | None,
    report: Report | None = None,
) -> tuple[Observation, ...]:
    """What is seen of questions, one after the other."""
    parser = _Observed(bundle, penalty=0, threads=threads)
    parser.models = second
    parser._second = None if second is None else SecondOpinion.bundled(parser.engine, second)
    with ExitStack() as stack:
        wanted = {question.pair.db_id for question in order}
        schemas, paths = open_databases(config.data.sources, stack, wanted)
        written: list[tuple[Question, _Seen, _Notes, str]] = []
        # Without a database, an answerable question that is to be asked with its values and without is the same one twice.
        order = [one for one in order if one.values or one.sql is None or paths[one.pair.db_id] is not None]
        for number, question in enumerate(order, 1):
            db_id = question.pair.db_id
            schema = without(schemas[db_id], question.removed)
            notes, sql = parser.look(question, schema, paths[db_id], now)
            if sql is not None and notes.seen is not None:
                written.append((question, notes.seen, notes, sql))
            if report is not None and (number % 50 == 0 or number == len(order)):
                report(f"{number} of {len(order)} parsed")
        tasks = [
            Task(
                question.pair.db_id,
                question.sql,
                one,
                database=_text(paths[question.pair.db_id]),
                now=now,
                made=DATABASES,
            )
            for question, _, notes, sql in written
            if question.sql is not None
            for one in (sql, *(other for _, other in _others(question, notes)))
        ]
        judges = stack.enter_context(Judges(schemas, 1))
        verdicts = judges.verdicts(tasks)
        return tuple(_observation(question, seen, notes, verdicts) for question, seen, notes, _ in written)


def open_databases(
    sources: Sequence[SourceSettings], stack: ExitStack, wanted: Collection[str] | None = None
) -> tuple[dict[str, Schema], dict[str, Path | None]]:
    """The schemas of sources and their databases, where there are any, until `stack` is closed; all, or those `wanted`."""
    schemas: dict[str, Schema] = {}
    paths: dict[str, Path | None] = {}
    for source in sources:
        here = source_schemas(source)
        if wanted is not None:
            here = {db_id: schema for db_id, schema in here.items() if db_id in wanted}
        if not here:
            continue
        database = expand_path(source.database) if source.database else None
        files = stack.enter_context(DatabaseFiles(database, list(here)))
        for db_id in here:
            schemas.setdefault(db_id, here[db_id].with_reference_tables(*source.reference))
            paths[db_id] = paths.get(db_id) or files.path(db_id)
    return schemas, paths


def without(schema: Schema, columns: frozenset[int]) -> Schema:
    """The schema without some columns, and without tables that have no other."""
    if not columns:
        return schema
    return reduced(schema, [index for index in range(len(schema.columns)) if index not in columns]).schema


def _others(question: Question, notes: _Notes) -> list[tuple[Evidence, str]]:
    return notes.others() if question.part in BY_PEOPLE else []


def _observation(question: Question, seen: _Seen, notes: _Notes, verdicts: Iterator[Verdict]) -> Observation:
    """`verdicts` are of the likeliest hypothesis and of the others, where the question has an answer."""
    shared = correspondence_figures(question.pair.question, seen.names)[SHARED]
    right = question.sql is not None and is_right(next(verdicts))
    others = tuple((evidence, is_right(next(verdicts))) for evidence, _ in _others(question, notes))
    return Observation(question, seen.evidence, notes.inspected.get(0), seen.state, shared, right, others)


def is_right(verdict: Verdict) -> bool:
    """Whether a query is: by its answer where there is a database, otherwise by its form."""
    return verdict.em_values if verdict.correct is None else verdict.correct


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
