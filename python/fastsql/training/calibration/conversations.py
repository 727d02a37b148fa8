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

from fastsql.evaluation.calibration import calibration_error
from fastsql.evaluation.judge import Judges, Task
from fastsql.evaluation.made_contents import DATABASES
from fastsql.linking.question import clean_question
from fastsql.model.bundle import Bundle
from fastsql.parser import Parser
from fastsql.parser.assess import evidence_of
from fastsql.parser.link import link, with_turns
from fastsql.parser.parser import DEFAULT_BEAM
from fastsql.parser.write import verified, write
from fastsql.reliability.assess import Judge
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.regression import Regression
from fastsql.schema import Schema, names_digest
from fastsql.session.turn import Turn, TurnState
from fastsql.synthesis.generate import Report
from fastsql.training.batches.conversations import earlier_turns
from fastsql.training.calibration.logistic import fit_logistic
from fastsql.training.calibration.observe import is_right, open_databases
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.conversations import GIVEN
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample

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
    """What becomes of the turns that are held out, read as going on from those before, in so far as their query does.

    Others are judged as questions are that stand alone.
    """
    samples = sorted(corpus.dev_conversations, key=lambda sample: sample.pair.key)
    random.Random(config.seed).shuffle(samples)
    chosen = sorted([one for one in samples if one.earlier][:MOST], key=lambda one: one.pair.key)
    with ExitStack() as stack:
        sources = [source for source in config.data.sources if source.conversations == GIVEN]
        schemas, paths = open_databases(sources, stack)
        parser = _Observed(bundle, penalty=0, threads=threads, suggest=False)
        observed: list[Evidence] = []
        tasks: list[Task] = []
        for number, sample in enumerate(chosen, 1):
            db_id = sample.pair.db_id
            database = paths[db_id]
            found = parser.look(sample, schemas[db_id], database, now)
            if found is not None:
                evidence, sql = found
                observed.append(evidence)
                path = None if database is None else str(database)
                tasks.append(Task(db_id, sample.pair.sql, sql, database=path, now=now, made=DATABASES))
            if report is not None and (number % 50 == 0 or number == len(chosen)):
                report(f"{number} of {len(chosen)} turns of conversations parsed")
        verdicts = stack.enter_context(Judges(schemas, 1)).verdicts(tasks)
        return tuple(map(TurnObservation, observed, map(is_right, verdicts)))


class _Observed(Parser):
    """A parser that reads a question after turns that were answered rightly. Each of these is read once."""

    _questions: dict[tuple[str, str], Turn] | None = None

    def look(
        self, sample: Sample, schema: Schema, database: Path | None, now: str
    ) -> tuple[Evidence, str] | None:
        """The evidence and the SQL of the likeliest query; None where it refers to no turn, or is not valid."""
        history = self._answered(sample, schema, database)
        state, dictionary = self._sources.ready(schema, database)
        question = sample.pair.question
        text = clean_question(question, self.limits)
        alone = link(question, text, state, dictionary, self.engine, self.limits, turns=history)
        linked = with_turns(alone, self.engine)
        decoded = self.engine.decode(linked.prepared, linked.schema, linked.space, DEFAULT_BEAM)
        written = verified(write(linked, decoded, now=now), self.limits)
        if written.fault or not written.uses:
            return None
        evidence, _, _ = evidence_of(written, self.reliability)
        return evidence, written.sql

    def _answered(self, sample: Sample, schema: Schema, database: Path | None) -> tuple[Turn, ...]:
        """The turns before one as if each had been answered rightly."""
        programs = [program for _, program in sample.earlier]
        turns: list[Turn] = []
        for (question, program), earlier in zip(sample.earlier, earlier_turns(programs, schema), strict=True):
            read = self._read(sample.pair.db_id, question, schema, database)
            unread = np.zeros(self.bundle.config.model.d, dtype=np.float32)
            pooled = unread if read.state is None else read.state.earlier.pooled
            state = TurnState(
                replace(earlier, pooled=pooled), program, names_digest(schema), self.bundle.config.name
            )
            turns.append(replace(read, number=len(turns) + 1, abstained=False, state=state))
        return tuple(turns)

    def _read(self, db_id: str, question: str, schema: Schema, database: Path | None) -> Turn:
        known = self._questions = {} if self._questions is None else self._questions
        if (db_id, question) not in known:
            read = self.parse(question, schema, values=database, beam=1, history=())
            assert isinstance(read, Turn)
            known[db_id, question] = read.light
        return known[db_id, question]


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
