"""How often a query that refers to earlier turns is right where these are, on conversations that nothing was trained on.

On schemas never seen, recorded and written conversations tell. On those trained on, most turns that are held out are made
of single questions, and nearly all right: that says how they are made, too, so that those which people wrote, however few,
count as much as they do.

The questions before a turn are taken as answered rightly, so that what is fitted is the probability of the turn's own part;
a parser multiplies it with those of the turns that it uses. Whether such a question has an answer at all is not told apart:
what a query rests on was asked before.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastsql.evaluation.calibration import calibration_error
from fastsql.evaluation.judge import Judges, Task
from fastsql.evaluation.made_contents import DATABASES
from fastsql.model.bundle import Bundle
from fastsql.parser import Parser
from fastsql.parser.assess import Assessed, evidence_of
from fastsql.reliability.evidence import RERANKED, Evidence
from fastsql.reliability.judges import Judge
from fastsql.reliability.regression import Regression
from fastsql.schema import Schema
from fastsql.session.turn import Turn
from fastsql.synthesis.generate import Report
from fastsql.synthesis.hospital.everyday import HOSPITAL
from fastsql.training.batches.conversations import answered, earlier_turns
from fastsql.training.calibration.logistic import fit_logistic
from fastsql.training.calibration.observe import is_right, open_databases
from fastsql.training.calibration.questions import EVERYDAY, FOREIGN
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.conversations import MADE
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample

TOLD = ("sequence", "removed")
"""What the probability is told from. Across folds, neither words, of which such questions have few, nor the rest of what the
search gives tells more."""
MOST = 600
"""Turns of a part that are observed."""
RATED = (*TOLD, *RERANKED)
"""What it is told from where a reranker was asked."""
FEWEST = 20
"""Wrong turns, and right ones, below which nothing is fitted."""
FOLDS = 10


@dataclass(frozen=True)
class TurnObservation:
    """What became of a question whose query refers to earlier turns, which were right.

    `part`: `FOREIGN`, or, on the schemas that were trained on, `EVERYDAY` or `MADE` of single questions.
    """

    evidence: Evidence
    right: bool
    part: str


def observe_turns(
    bundle: Bundle,
    config: TrainConfig,
    corpus: Corpus,
    *,
    now: str,
    threads: int = 0,
    foreign: bool = False,
    report: Report | None = None,
) -> tuple[TurnObservation, ...]:
    """What becomes of the turns that are held out, parsed as in use, where the query that is given refers to earlier ones.

    Others are judged as questions are that stand alone. With `foreign`, only turns over schemas that were not trained on
    are observed.
    """
    samples = sorted(corpus.dev_conversations, key=lambda sample: sample.pair.key)
    random.Random(config.seed).shuffle(samples)
    parts: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        part = _part(sample, corpus)
        if sample.earlier and (part == FOREIGN or not foreign):
            parts[part].append(sample)
    first = [(part, sample) for part, known in parts.items() for sample in known[:MOST]]
    chosen = sorted(first, key=lambda one: one[1].pair.key)
    with ExitStack() as stack:
        sources = [source for source in config.data.sources if source.conversations]
        schemas, paths = open_databases(sources, stack)
        parser = _Observed(bundle, penalty=0, threads=threads, suggest=False)
        observed: list[tuple[str, Evidence]] = []
        tasks: list[Task] = []
        for number, (part, sample) in enumerate(chosen, 1):
            db_id = sample.pair.db_id
            database = paths[db_id]
            found = parser.look(sample, schemas[db_id], database, now)
            if found is not None:
                evidence, sql = found
                observed.append((part, evidence))
                path = None if database is None else str(database)
                tasks.append(Task(db_id, sample.pair.sql, sql, database=path, now=now, made=DATABASES))
            if report is not None and (number % 50 == 0 or number == len(chosen)):
                report(f"{number} of {len(chosen)} turns of conversations parsed")
        verdicts = stack.enter_context(Judges(schemas, 1)).verdicts(tasks)
        return tuple(
            TurnObservation(evidence, right, part)
            for (part, evidence), right in zip(observed, map(is_right, verdicts), strict=True)
        )


def _part(sample: Sample, corpus: Corpus) -> str:
    if sample.pair.db_id in corpus.held_out.databases:
        return FOREIGN
    return EVERYDAY if sample.pair.db_id == HOSPITAL else MADE


class _Observed(Parser):
    """A parser that reads a question after turns that were answered rightly. Each of these is read once."""

    _questions: dict[tuple[str, str], Turn] | None = None

    def look(
        self, sample: Sample, schema: Schema, database: Path | None, now: str
    ) -> tuple[Evidence, str] | None:
        """The evidence and the SQL of the query that is given; None where it refers to no turn, or is not valid."""
        history = self._answered(sample, schema, database)
        turn = self.parse(sample.pair.question, schema, values=database, now=now, history=history)
        assert isinstance(turn, Turn)
        assessed = cast("Assessed | None", turn.background)
        if assessed is None or assessed.written.fault or not assessed.written.uses:
            return None
        evidence, _, _ = evidence_of(assessed.written, self.reliability)
        return evidence, assessed.written.sql

    def _answered(self, sample: Sample, schema: Schema, database: Path | None) -> tuple[Turn, ...]:
        """The turns before one as if each had been answered rightly."""
        programs = [program for _, program in sample.earlier]
        turns: list[Turn] = []
        for (question, program), earlier in zip(sample.earlier, earlier_turns(programs, schema), strict=True):
            read = self._read(sample.pair.db_id, question, schema, database)
            turns.append(answered(read, earlier, program, len(turns) + 1, schema, self.bundle))
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
    intercept, weights = fit_logistic(features, right, _mass(observed))
    return Judge(Regression(float(intercept), dict(zip(names, map(float, weights), strict=True))))


def fit_sides(observed: Sequence[TurnObservation]) -> tuple[Judge | None, Judge | None]:
    """The judges of turns over schemas that were trained on, and over others; where there are too few of either, of all."""
    known = fit_turns([one for one in observed if one.part != FOREIGN])
    others = fit_turns([one for one in observed if one.part == FOREIGN])
    if known is None or others is None:
        known = others = fit_turns(observed)
    return known, others


def fit_rated(observed: Sequence[TurnObservation]) -> Judge | None:
    """The judge of turns over schemas that were not trained on, about which a reranker was asked; None for too few."""
    return fit_turns([one for one in observed if one.evidence.rating], RATED)


def _mass(observed: Sequence[TurnObservation]) -> NDArray[np.float64]:
    """What each turn counts, 1 on average: each part as much as another."""
    counts = Counter(one.part for one in observed)
    share = [1 / counts[one.part] for one in observed]
    mass: NDArray[np.float64] = np.array(share) * len(share) / sum(share)
    return mass


def turn_figures(observed: Sequence[TurnObservation]) -> dict[str, dict[str, Any]]:
    """By part, how many turns there were and were right, and how well p tells: ECE, and AUC of right against wrong.

    These are across folds, and None where nothing was fitted, or all were right.
    """
    found: dict[str, dict[str, Any]] = {}
    for side in (
        [one for one in observed if one.part != FOREIGN],
        [one for one in observed if one.part == FOREIGN],
    ):
        p = _predicted(side)
        for part in sorted({one.part for one in side}):
            rows = [row for row, one in enumerate(side) if one.part == part]
            right = np.array([side[row].right for row in rows], dtype=bool)
            found[part] = {"count": len(right), "right": int(right.sum()), "ece": None, "auc": None}
            if p is not None:
                found[part]["ece"] = float(calibration_error(p[rows], right))
                wins = p[rows][right][:, None] - p[rows][~right][None, :]
                found[part]["auc"] = float(np.mean((wins > 0) + 0.5 * (wins == 0))) if wins.size else None
    return found


def _predicted(observed: Sequence[TurnObservation]) -> NDArray[np.float64] | None:
    """The p of turns across folds, of those that a reranker was asked about by what it says as well; None for too few."""
    p = _predicted_by(observed, TOLD)
    rated = [row for row, one in enumerate(observed) if one.evidence.rating]
    if p is not None and rated:
        told = _predicted_by([observed[row] for row in rated], RATED)
        if told is not None:
            p[rated] = told
    return p


def _predicted_by(observed: Sequence[TurnObservation], names: Collection[str]) -> NDArray[np.float64] | None:
    """The p of turns across folds by some of their evidence; None where there are too few to fit it."""
    if fit_turns(observed, names) is None:
        return None
    p = np.zeros(len(observed))
    place = np.arange(len(p)) * FOLDS // len(p)  # in blocks, so that conversations are not parted
    for fold in range(FOLDS):
        rest = [one for one, here in zip(observed, place, strict=True) if here != fold]
        judge = fit_turns(rest, names, fewest=1)
        if judge is None:
            return None
        for row in np.flatnonzero(place == fold).tolist():
            p[row] = judge(observed[row].evidence).confidence
    return p


def turn_lines(figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The same as lines for people."""
    lines = []
    for part, found in figures.items():
        line = f"turns that refer to earlier ones, {part}: {found['right']} of {found['count']} right"
        told = (
            "too few to fit a probability" if found["ece"] is None else f"across folds ECE {found['ece']:.3f}"
        )
        lines.append(f"{line}; {told}" + ("" if found["auc"] is None else f", AUC {found['auc']:.3f}"))
    return lines
