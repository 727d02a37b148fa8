"""How often a query that refers to earlier turns is right where these are, on conversations that nothing was trained on.

Only recorded conversations tell: what is made of single questions says nothing of how people go on from an answer, and a
model that was trained on such is right on them nineteen times in twenty.

The questions before a turn are taken as answered rightly, so that what is fitted is the probability of the turn's own part;
a parser multiplies it with those of the turns that it uses. Whether such a question has an answer at all is not told apart:
what a query rests on was asked before.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fastsql.datasets import DatabaseFiles, read_schemas
from fastsql.evaluation.calibration import calibration_error
from fastsql.evaluation.judge import Judges, Task
from fastsql.grammar.program import Program
from fastsql.linking.turns import EarlierTurn
from fastsql.model.bundle import Bundle
from fastsql.parser import Parser
from fastsql.reliability.assess import Assessment, Judge
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.regression import Regression
from fastsql.schema import Schema
from fastsql.session.turn import Turn, TurnState, names_digest
from fastsql.synthesis.generate import Report
from fastsql.training.batches.conversations import earlier_turns
from fastsql.training.calibration.logistic import fit_logistic
from fastsql.training.calibration.observe import Witness, is_right
from fastsql.training.config import TrainConfig, expand_path
from fastsql.training.corpus.conversations import GIVEN
from fastsql.training.corpus.corpus import Corpus, Sample

TOLD = ("sequence", "removed")
"""What the probability is told from. Across folds, neither words, of which such questions have few, nor the rest of what the
search gives tells more."""
MOST = 600
"""Turns that are observed."""
FEWEST = 20
"""Wrong turns, and right ones, below which nothing is fitted."""
FOLDS = 10


@dataclass(frozen=True)
class TurnObservation:
    """What became of a question whose query refers to earlier turns, which were right."""

    evidence: Evidence
    right: bool


def observe_turns(
    bundle: Bundle,
    config: TrainConfig,
    corpus: Corpus,
    *,
    now: str,
    threads: int = 0,
    report: Report | None = None,
) -> tuple[TurnObservation, ...]:
    """What becomes of the turns that are held out, in so far as their query refers to earlier ones.

    Others are judged as questions are that stand alone.
    """
    samples = sorted(corpus.dev_conversations, key=lambda sample: sample.pair.key)
    random.Random(config.seed).shuffle(samples)
    chosen = sorted([one for one in samples if one.earlier][:MOST], key=lambda one: one.pair.key)
    with ExitStack() as stack:
        schemas, paths = _databases(config, stack)
        parser = Parser(bundle, penalty=0, threads=threads, suggest=False)
        histories = _Histories(parser)
        asked: list[tuple[Evidence, Task]] = []
        for number, sample in enumerate(chosen, 1):
            db_id = sample.pair.db_id
            found = _ask(parser, histories, sample, schemas[db_id], paths[db_id], now)
            if found is not None:
                evidence, sql = found
                task = Task(db_id, sample.pair.sql, sql, database=_text(paths[db_id]), now=now)
                asked.append((evidence, task))
            if report is not None and (number % 50 == 0 or number == len(chosen)):
                report(f"{number} of {len(chosen)} turns of conversations parsed")
        verdicts = stack.enter_context(Judges(schemas, 1)).verdicts([task for _, task in asked])
        return tuple(
            TurnObservation(evidence, is_right(verdict))
            for (evidence, _), verdict in zip(asked, verdicts, strict=True)
        )


def _databases(
    config: TrainConfig, stack: ExitStack
) -> tuple[Mapping[str, Schema], Mapping[str, Path | None]]:
    schemas: dict[str, Schema] = {}
    paths: dict[str, Path | None] = {}
    for source in config.data.sources:
        if source.conversations != GIVEN:
            continue
        here = read_schemas(expand_path(source.schemas))
        database = expand_path(source.database) if source.database else None
        files = stack.enter_context(DatabaseFiles(database, list(here)))
        for db_id in here:
            schemas.setdefault(db_id, here[db_id].with_reference_tables(*source.reference))
            paths[db_id] = paths.get(db_id) or files.path(db_id)
    return schemas, paths


def _ask(
    parser: Parser, histories: _Histories, sample: Sample, schema: Schema, path: Path | None, now: str
) -> tuple[Evidence, str] | None:
    """The evidence and the SQL of a turn after turns that were answered rightly; None where it refers to none of them."""
    history = histories.of(sample, schema, path)
    witness = Witness.of(parser)
    turn = parser.parse(sample.pair.question, schema, values=path, now=now, history=history)
    assert isinstance(turn, Turn)
    if not turn.uses or turn.best is None or witness.notes.seen is None:
        return None
    return witness.notes.seen.evidence, turn.best


class _Histories:
    """The turns before a turn, as if they had been answered rightly. Each of their questions is read once."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._read: dict[tuple[str, str], Turn] = {}

    def of(self, sample: Sample, schema: Schema, path: Path | None) -> tuple[Turn, ...]:
        programs = [program for _, program in sample.earlier]
        return tuple(
            self._right(number, question, program, earlier, schema, path, sample.pair.db_id)
            for number, ((question, program), earlier) in enumerate(
                zip(sample.earlier, earlier_turns(programs, schema), strict=True), 1
            )
        )

    def _right(
        self,
        number: int,
        question: str,
        program: Program,
        earlier: EarlierTurn,
        schema: Schema,
        path: Path | None,
        db_id: str,
    ) -> Turn:
        key = (db_id, question)
        if key not in self._read:
            read = self._parser.parse(question, schema, values=path, beam=1, history=())
            assert isinstance(read, Turn)
            self._read[key] = read.light
        read = self._read[key]
        pooled = np.zeros_like(earlier.pooled) if read.state is None else read.state.earlier.pooled
        state = TurnState(
            EarlierTurn(earlier.turn, pooled),
            program,
            Assessment(1.0),
            names_digest(schema),
            self._parser.bundle.config.name,
        )
        return replace(read, number=number, abstained=False, state=state, standing={number: Assessment(1.0)})


def fit_turns(
    observed: Sequence[TurnObservation], names: Collection[str] = TOLD, fewest: int = FEWEST
) -> Judge | None:
    """The judge of queries that refer to earlier turns; None where too few were right, or wrong, to fit one."""
    right = np.array([one.right for one in observed])
    if right.sum() < fewest or (~right).sum() < fewest:
        return None
    features = np.array([[getattr(one.evidence, name) for name in names] for one in observed])
    intercept, weights = fit_logistic(features, right, np.ones(len(right)))
    return Judge(Regression(float(intercept), dict(zip(names, map(float, weights), strict=True))))


def turn_figures(observed: Sequence[TurnObservation]) -> dict[str, Any]:
    """How many turns there were and were right, and how well p tells, across folds: ECE, and AUC of right against wrong.

    The latter are None where nothing was fitted.
    """
    right = np.array([one.right for one in observed], dtype=bool)
    figures: dict[str, Any] = {"count": len(right), "right": int(right.sum()), "ece": None, "auc": None}
    if fit_turns(observed) is None:
        return figures
    p = np.zeros(len(right))
    place = np.arange(len(right)) * FOLDS // len(right)  # in blocks, so that conversations are not parted
    for fold in range(FOLDS):
        judge = fit_turns([one for one, here in zip(observed, place, strict=True) if here != fold], fewest=1)
        if judge is None:
            return figures
        for row in np.flatnonzero(place == fold).tolist():
            p[row] = judge(observed[row].evidence).confidence
    wins = p[right][:, None] - p[~right][None, :]
    figures["auc"] = float(np.mean((wins > 0) + 0.5 * (wins == 0)))
    figures["ece"] = float(calibration_error(p, right))
    return figures


def turn_line(figures: Mapping[str, Any]) -> str:
    """The same as a line for people."""
    line = f"turns that refer to earlier ones: {figures['right']} of {figures['count']} right"
    if figures["ece"] is None:
        return f"{line}; too few to fit a probability"
    return f"{line}; across folds ECE {figures['ece']:.3f}, AUC {figures['auc']:.3f}"


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
