"""Errors in the thousands: what models of other folds, each trained without a part of the data, make of that part.

A good model leaves few errors on the little that was held out of it, and a probability that is fitted on these few is a
guess. So the data are parted in folds, by template where a source asks of one database, by database where it asks of many;
a model is trained for each without it, from a clean start, and observed on it. Those models are weaker than the one that is
shipped, so what they say of themselves is brought to its scale by rank. The regressions are fitted on their errors; two
numbers each, a shift and a slope, are then fitted on what was held out of the shipped model itself (`.fit`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fastsql.datasets import read_examples
from fastsql.reliability.evidence import Evidence
from fastsql.training.calibration.logistic import Floats
from fastsql.training.calibration.observe import Observation
from fastsql.training.calibration.questions import FOREIGN, FOREIGN_MADE, SEEN, UNSEEN, Question
from fastsql.training.config import TrainConfig, expand_path
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.programs import template
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.split import HeldOut, PairKey

RANKED = ("sequence", "worst", "margin", "removed")
"""Evidence that says how sure a model is, and not what a question or its query is."""


def draw_folds(config: TrainConfig, corpus: Corpus, folds: int, seed: int = 0) -> tuple[HeldOut, ...]:
    """What each fold's model is trained without, beside all that `corpus` holds out already.

    Of every source whose held-out part counts (`dev`), the templates are dealt out where it asks of one database, and the
    databases where it asks of several.
    """
    by_key = {sample.pair.key: sample for sample in corpus.train}
    dealt: list[HeldOut] = [HeldOut() for _ in range(folds)]
    for source in config.data.sources:
        if not source.dev or source.generate or source.conversations:
            continue
        keys = [(item.db_id, item.id) for item in read_examples(expand_path(source.examples))]
        samples = [by_key[key] for key in keys if key in by_key]
        several = len({sample.pair.db_id for sample in samples}) > 1
        groups: dict[str, list[Sample]] = {}
        for sample in samples:
            groups.setdefault(sample.pair.db_id if several else template(sample.program), []).append(sample)
        names = sorted(groups)
        random.Random(f"{seed}/{source.examples}").shuffle(names)
        for place, name in enumerate(names):
            held = (
                HeldOut(databases=frozenset({name})) if several else HeldOut(frozenset(_keys(groups[name])))
            )
            dealt[place % folds] |= held
    return tuple(corpus.held_out | fold for fold in dealt)


def _keys(samples: Sequence[Sample]) -> list[PairKey]:
    return [sample.pair.key for sample in samples]


def of_fold(questions: Sequence[Question], fold: HeldOut, always: HeldOut) -> tuple[Question, ...]:
    """The questions that a fold's model is observed on: those that this fold alone holds out, not what all hold out."""
    templates, databases = fold.templates - always.templates, fold.databases - always.databases
    return tuple(
        question
        for question in questions
        if (question.part == UNSEEN and question.pair.key in templates)
        or (question.part in (FOREIGN, FOREIGN_MADE) and question.pair.db_id in databases)
    )


def on_scale(fold: Sequence[Observation], own: Sequence[Observation]) -> list[Observation]:
    """A fold's observations, with `RANKED` evidence as the bundle has it at the same rank of `own` questions of the kind.

    Questions of schemas that were trained on, and of others, are ranked apart; where `own` has none, nothing is replaced.
    """
    found = list(fold)
    for parts in ((SEEN, UNSEEN), (FOREIGN, FOREIGN_MADE)):
        here = [place for place, item in enumerate(found) if item.question.part in parts]
        # Templates that training has are easier than any of a fold's.
        like = [item for item in own if item.question.part in parts and item.question.part != SEEN]
        if not here or not like:
            continue
        for name in RANKED:
            scale = _Scale(
                [getattr(found[place].evidence, name) for place in here],
                [getattr(item.evidence, name) for item in like],
            )
            for place in here:
                found[place] = _moved(found[place], name, scale)
    return found


class _Scale:
    """From the values of one model to those of another at the same rank, straight between neighbours."""

    def __init__(self, values: Sequence[float], others: Sequence[float]) -> None:
        ranks = np.linspace(0.0, 1.0, 101)
        self._from: Floats = np.quantile(np.array(values), ranks)
        self._to: Floats = np.quantile(np.array(others), ranks)

    def __call__(self, value: float) -> float:
        """The value at the middle of the ranks that are equal to this one."""
        low = np.searchsorted(self._from, value, side="left")
        high = np.searchsorted(self._from, value, side="right")
        if high > low:
            return float(np.mean(self._to[low:high]))
        return float(np.interp(value, self._from, self._to))


def _moved(item: Observation, name: str, scale: _Scale) -> Observation:
    def moved(evidence: Evidence) -> Evidence:
        return replace(evidence, **{name: scale(getattr(evidence, name))})

    return replace(
        item,
        evidence=moved(item.evidence),
        inspected=None if item.inspected is None else moved(item.inspected),
        others=tuple((moved(evidence), right) for evidence, right in item.others),
    )
