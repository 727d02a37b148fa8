"""What becomes of questions that a model was not trained on: the evidence that its parser has, and whether it is right."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
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
from fastsql.reliability.assess import LEFT_OUT_WEIGHT, Asked, Reliability
from fastsql.reliability.correspondence import SHARED, correspondence_figures
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.inspection import Finding, Inspector
from fastsql.reliability.judges import SecondModels, Weights, weights_of
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
        told: what becomes of it with a second opinion, where over a schema trained on the first hypothesis is in doubt.
    """

    question: Question
    evidence: Evidence
    inspected: Evidence | None
    state: State
    shared: float
    right: bool
    others: tuple[tuple[Evidence, bool], ...] = ()
    told: Observation | None = None

    @property
    def in_use(self) -> Observation:
        """What becomes of the question in use, where a second opinion is asked for in doubt."""
        return self.told or self


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


@dataclass(frozen=True, eq=False)
class _Look:
    """What is seen of a question for which something valid was written."""

    question: Question
    seen: _Seen
    notes: _Notes
    sql: str

    def tasks(self, database: Path | None, now: str) -> Iterator[Task]:
        """What is to be judged: the likeliest hypothesis and the others that tell; nothing where there is no answer."""
        if self.question.sql is None:
            return
        db_id, gold, path = self.question.pair.db_id, self.question.sql, _text(database)
        for sql in (self.sql, *(other for _, other in self.others())):
            yield Task(db_id, gold, sql, database=path, now=now, made=DATABASES)

    def others(self) -> list[tuple[Evidence, str]]:
        return self.notes.others() if self.question.part in BY_PEOPLE else []

    def observation(self, verdicts: Iterator[Verdict]) -> Observation:
        """With the `verdicts` of `tasks`."""
        question, seen = self.question, self.seen
        shared = correspondence_figures(question.pair.question, seen.names)[SHARED]
        right = question.sql is not None and is_right(next(verdicts))
        others = tuple((evidence, is_right(next(verdicts))) for evidence, _ in self.others())
        inspected = self.notes.inspected.get(0)
        return Observation(question, seen.evidence, inspected, seen.state, shared, right, others)


class _Observed(Parser):
    """A parser that lets one see what its decisions are made from.

    `doubted` is whether the latest question was in doubt, `asking` whether a second opinion is asked for.
    """

    models: SecondModels | None = None
    asking = doubted = False

    def _second_weights(self, linked: Linked, *, doubted: bool) -> Weights | None:
        self.doubted = doubted
        return weights_of(self.models) if self.models is not None and self.asking else None

    def looks(
        self, question: Question, schema: Schema, database: Path | None, now: str
    ) -> tuple[_Look, _Look | None] | None:
        """What is seen of a question, and what with a second opinion where the schema was trained on and it is in doubt.

        None where nothing valid was written.
        """
        self.asking = question.part in (FOREIGN, FOREIGN_MADE)
        first = self._look(question, schema, database, now)
        if first is None:
            return None
        if self.asking or self.models is None or not self.doubted:
            return first, None
        self.asking = True
        return first, self._look(question, schema, database, now)

    def _look(self, question: Question, schema: Schema, database: Path | None, now: str) -> _Look | None:
        notes = self._noted(question, schema, database, now)
        if notes.sql is None or notes.seen is None:
            return None
        return _Look(question, notes.seen, notes, notes.sql)

    def _noted(self, question: Question, schema: Schema, database: Path | None, now: str) -> _Notes:
        notes = _Notes()
        self._reliability = _Witness(
            familiarity=self._reliability.familiarity, left_out=LEFT_OUT_WEIGHT, notes=notes
        )
        values = database if question.values else None
        if database is None:
            notes.queries = [self.parse(question.pair.question, schema, now=now).best]
            return notes
        with ReadOnlyExecutor(database, time_limit=5.0, row_limit=1_000) as executor:
            inspector = _Looking(executor, notes=notes)
            self.parse(question.pair.question, schema, values=values, now=now, inspector=inspector)
        return notes


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
    `second`, which come with fastsql, are asked about hypotheses over schemas that were not trained on; where one over
    another schema is in doubt, it is parsed without them and with them. Several `processes`, each on one thread, give what
    one does.
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
        found: list[tuple[_Look, _Look | None]] = []
        # Without a database, an answerable question that is to be asked with its values and without is the same one twice.
        order = [one for one in order if one.values or one.sql is None or paths[one.pair.db_id] is not None]
        for number, question in enumerate(order, 1):
            db_id = question.pair.db_id
            schema = without(schemas[db_id], question.removed)
            looks = parser.looks(question, schema, paths[db_id], now)
            if looks is not None:
                found.append(looks)
            if report is not None and (number % 50 == 0 or number == len(order)):
                report(f"{number} of {len(order)} parsed")
        tasks = [
            task
            for looks in found
            for look in looks
            if look is not None
            for task in look.tasks(paths[look.question.pair.db_id], now)
        ]
        judges = stack.enter_context(Judges(schemas, 1))
        verdicts = judges.verdicts(tasks)
        return tuple(_observation(first, told, verdicts) for first, told in found)


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


def _observation(first: _Look, told: _Look | None, verdicts: Iterator[Verdict]) -> Observation:
    alone = first.observation(verdicts)
    return alone if told is None else replace(alone, told=told.observation(verdicts))


def is_right(verdict: Verdict) -> bool:
    """Whether a query is: by its answer where there is a database, otherwise by its form."""
    return verdict.em_values if verdict.correct is None else verdict.correct


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
