"""Fits the two numbers of a parse, p and u, in two layers, and says how good they are on what they were not fitted on.

First layer: the probe over question states and the correspondence model, fitted to tell unanswerable questions from
others, but for those whose schema lacks what they need: these read as answerable ones do. Second layer: the regressions of
`fastsql.reliability.assess`. It must not see what the first layer says of questions that this was fitted on, so it is given
predictions across folds; questions of one template or family are never parted. All figures are of a further round of folds
around both layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import FastSQLError
from fastsql.reliability.assess import Judge, Reliability
from fastsql.reliability.correspondence import (
    LENGTH,
    PER_CHARACTERS,
    SHARED,
    WIDEST,
    Correspondence,
    common_openings,
    openings_of,
)
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.familiarity import Familiarity
from fastsql.reliability.regression import Probe, Regression
from fastsql.training.logistic import Flags, Floats, cross_fitted, fit_logistic, folds_of, sigmoid
from fastsql.training.observe import Observation
from fastsql.training.questions import AS_WRITTEN, MADE, SEEN, UNANSWERABLE, UNSEEN
from fastsql.training.unanswerable import REMOVED

PRIOR: Mapping[str, float] = {SEEN: 0.8 * 0.72, UNSEEN: 0.8 * 0.28, UNANSWERABLE: 0.15, MADE: 0.05}
"""Shares of the kinds of questions in use. Training data has few unanswerable ones and the dev set's two parts are as large
as it was convenient to make them, so neither says what a user asks. These are the shares that EHRSQL 2024 states for what
its systems meet: 80 % of its valid questions can be answered, and 28 % of those have a SQL skeleton that training lacks. A
confidence is right for such a mix, and too high for one with more odd questions."""

RIGHT = ("sequence", "worst", "margin", "decisions")
"""What q, the probability of being right if there is an answer, is told from."""
UNANSWERED = (*RIGHT, "strangeness", "coverage", "named", "state")
"""What u is told from."""
STATE_RIDGE = 0.3
"""L2 penalty of the probe, in units of examples; chosen by its AUC across folds."""

_NAMES = tuple(field.name for field in fields(Evidence))
_STATE, _CORRESPONDENCE = _NAMES.index("state"), _NAMES.index("correspondence")
Numbers = NDArray[np.int_]


class CalibrationError(FastSQLError):
    """A confidence cannot be fitted."""


@dataclass(frozen=True, eq=False)
class Table:
    """Observations as arrays, n rows.

    `plain` and `inspected`: float[n, features], in the order of `Evidence`; `state` float[n, d]; `words` float[n, k]: the
    figures and openings of the correspondence model; `changed`: whether numbers were exchanged, the question as it was
    written being among the rows, too; `mass` float[n]: how much each counts.
    """

    parts: NDArray[np.str_]
    groups: tuple[str, ...]
    plain: Floats
    inspected: Floats
    state: Floats
    words: Floats
    openings: tuple[str, ...]
    right: Flags
    changed: Flags
    mass: Floats

    @property
    def unanswerable(self) -> Flags:
        """bool[n]: whether a refusal is right."""
        return ~np.isin(self.parts, (SEEN, UNSEEN))

    @property
    def telling(self) -> Floats:
        """What each counts for the first layer: nothing where a schema lacks something, which is not to be read there."""
        removed = [group.startswith(f"{REMOVED} ") for group in self.groups]
        return np.where(removed, 0.0, self.mass)

    def rows(self, chosen: Numbers | Flags) -> Table:
        """Some of the rows."""
        numbers = np.arange(len(self.parts))[chosen]
        cut = {
            name: getattr(self, name)[numbers]
            for name in ("parts", "plain", "inspected", "state", "words", "right", "changed", "mass")
        }
        return Table(groups=tuple(self.groups[i] for i in numbers), openings=self.openings, **cut)


def tabulate(observations: Sequence[Observation]) -> Table:
    """The observations as arrays. Raises CalibrationError where all answerable ones are right, or none is."""
    parts = np.array([item.question.part for item in observations])
    right = np.array([item.right for item in observations], dtype=bool)
    answerable = right[np.isin(parts, (SEEN, UNSEEN))]
    if not answerable.any() or answerable.all():
        raise CalibrationError(
            f"all of {len(answerable)} parses are {'right' if answerable.any() else 'wrong'}",
            where="calibration",
            remedy="Train longer, or take more questions.",
        )
    written = {item.question.pair.key for item in observations if item.question.part == AS_WRITTEN}
    texts = [item.question.pair.question for item in observations]
    openings = common_openings(texts)
    words = [
        [item.shared, len(text) / PER_CHARACTERS, *(opening in openings_of(text) for opening in openings)]
        for item, text in zip(observations, texts, strict=True)
    ]
    return Table(
        parts,
        tuple(item.question.group for item in observations),
        np.array([astuple(item.evidence) for item in observations], dtype=np.float64),
        # Where nothing was run, the evidence is what it was.
        np.array([astuple(item.inspected or item.evidence) for item in observations], dtype=np.float64),
        np.array([item.state for item in observations], dtype=np.float64),
        np.array(words, dtype=np.float64),
        openings,
        right,
        np.array(
            [
                item.question.part == UNANSWERABLE and item.question.pair.key in written
                for item in observations
            ]
        ),
        _mass(parts),
    )


def _mass(parts: NDArray[np.str_]) -> Floats:
    """What each question counts, so that the parts have the shares of `PRIOR`, a missing part's share going to its like."""
    counts = {part: int((parts == part).sum()) for part in PRIOR}
    share = dict(PRIOR)
    for one, other in ((UNANSWERABLE, MADE), (SEEN, UNSEEN)):
        for here, like in ((one, other), (other, one)):
            if not counts[here] and counts[like]:
                share[like] += share.pop(here)
                share[here] = 0.0
    mass = np.array([share.get(part, 0.0) / max(counts.get(part, 1), 1) for part in parts.tolist()])
    scaled: Floats = mass / mass.mean()
    return scaled


# ---------------------------------------------------------------- the two layers


def fit(
    table: Table, familiarity: Familiarity, unanswered: Sequence[str] = UNANSWERED, seed: int = 0
) -> Reliability:
    """The regressions of both layers, fitted on all rows but those that are only reported."""
    table = table.rows(table.parts != AS_WRITTEN)
    first = first_layer(table, across_folds=True, seed=seed)
    judges = [
        fit_judge(with_first(features, *first), table, names)
        for features, names in ((table.plain, unanswered), (table.inspected, (*unanswered, "void")))
    ]
    refuses = table.unanswerable.any()
    ran = bool((table.plain != table.inspected).any())
    return Reliability(
        judge=judges[0],
        inspected=judges[1] if ran else None,
        familiarity=familiarity,
        probe=_probe(table) if refuses and "state" in unanswered else None,
        correspondence=_correspondence(table) if refuses and "correspondence" in unanswered else None,
    )


def first_layer(
    table: Table, *, across_folds: bool, seed: int = 0, of: Table | None = None
) -> tuple[Floats, Floats]:
    """Log-odds of being unanswerable by state and by words, float[n] each; `of` other rows than those that are fitted on."""
    labels = table.unanswerable
    found = []
    for own, other, ridge, widest in (
        (table.state, None if of is None else of.state, STATE_RIDGE, Probe.WIDEST),
        (table.words, None if of is None else of.words, 1.0, WIDEST),
    ):
        if not labels.any():
            found.append(np.zeros(len(own if other is None else other)))
            continue
        if across_folds:
            odds = cross_fitted(own, labels, table.telling, table.groups, seed, ridge=ridge)
        else:
            intercept, weights = fit_logistic(own, labels, table.telling, ridge)
            odds = intercept + (own if other is None else other) @ weights
        found.append(np.clip(odds, -widest, widest))
    return found[0], found[1]


def with_first(features: Floats, state: Floats, correspondence: Floats) -> Floats:
    """The evidence with what the first layer says of it."""
    whole: Floats = features.copy()
    whole[:, _STATE], whole[:, _CORRESPONDENCE] = state, correspondence
    return whole


def fit_judge(features: Floats, table: Table, unanswered: Sequence[str]) -> Judge:
    """The regression of q, on answerable questions, and that of u, on all; without unanswerable ones, u is not known."""
    labels = table.unanswerable
    void = tuple(name for name in unanswered if name == "void")
    right = _regression(features[~labels], table.right[~labels], table.mass[~labels], (*RIGHT, *void))
    if not labels.any():
        return Judge(right)
    return Judge(right, _regression(features, labels, table.mass, unanswered))


def _regression(features: Floats, labels: Flags, mass: Floats, names: Sequence[str]) -> Regression:
    intercept, weights = fit_logistic(features[:, [_NAMES.index(name) for name in names]], labels, mass)
    return Regression(float(intercept), dict(zip(names, map(float, weights), strict=True)))


def _probe(table: Table) -> Probe:
    intercept, weights = fit_logistic(table.state, table.unanswerable, table.telling, STATE_RIDGE)
    return Probe(intercept, weights)


def _correspondence(table: Table) -> Correspondence:
    intercept, weights = fit_logistic(table.words, table.unanswerable, table.telling)
    shared, length, *rest = (float(weight) for weight in weights)
    return Correspondence(
        intercept, {SHARED: shared, LENGTH: length}, dict(zip(table.openings, rest, strict=True))
    )


# ---------------------------------------------------------------- what it says of what it was not fitted on


@dataclass(frozen=True, eq=False)
class Predicted:
    """p and u, float[n] each, of questions whose group had no part in either layer."""

    confidence: Floats
    unanswerable: Floats


def predict_across(
    table: Table, unanswered: Sequence[str] = UNANSWERED, *, inspected: bool = False, seed: int = 0
) -> Predicted:
    """Predictions for all rows. A question as it was written is in the fold of the same one with other numbers."""
    fold = folds_of(table.groups, seed)
    p, u = np.zeros(len(fold)), np.zeros(len(fold))
    names = (*unanswered, "void") if inspected else tuple(unanswered)
    for number in np.unique(fold):
        held = table.rows(fold == number)
        rest = table.rows((fold != number) & (table.parts != AS_WRITTEN))
        if rest.unanswerable.all():
            continue  # one template alone: nothing is left to fit on
        own, other = (rest.inspected, held.inspected) if inspected else (rest.plain, held.plain)
        judge = fit_judge(with_first(own, *first_layer(rest, across_folds=True, seed=seed)), rest, names)
        features = with_first(other, *first_layer(rest, across_folds=False, of=held))
        if judge.unanswerable is not None:
            u[fold == number] = sigmoid(_odds(judge.unanswerable, features))
        p[fold == number] = (1 - u[fold == number]) * sigmoid(_odds(judge.right, features))
    return Predicted(p, u)


def _odds(regression: Regression, features: Floats) -> Floats:
    columns = [_NAMES.index(name) for name in regression.weights]
    found: Floats = regression.intercept + features[:, columns] @ np.array(list(regression.weights.values()))
    return found
