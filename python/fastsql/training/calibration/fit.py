"""Fits the two numbers of a parse, p and u, in two layers, and says how good they are on what they were not fitted on.

First layer: the probe over question states and the correspondence model, fitted to tell unanswerable questions from
others, but for those whose schema lacks what they need: these read as answerable ones do. Second layer: the regressions of
`fastsql.reliability.assess`. It must not see what the first layer says of questions that this was fitted on, so it is given
predictions across folds; questions of one template or family are never parted. All figures are of a further round of folds
around both layers.

Schemas that were trained on and others have regressions of their own. The first layer is of the former alone: it has 256
weights and knows the schemas that it met.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fastsql.reliability.assess import Reliability
from fastsql.reliability.correspondence import LENGTH, SHARED, WIDEST, Correspondence
from fastsql.reliability.evidence import LOOKED, RERANKED, SECONDED
from fastsql.reliability.familiarity import Familiarity
from fastsql.reliability.judges import Doubted, Elsewhere, Judge, Second, SecondModels, weights_of
from fastsql.reliability.regression import Probe, Regression
from fastsql.training.calibration.logistic import Flags, Floats, cross_fitted, fit_logistic, folds_of, sigmoid
from fastsql.training.calibration.questions import AS_WRITTEN, PLAIN
from fastsql.training.calibration.table import NAMES, Table

SEARCH = ("sequence", "worst", "margin", "decisions")
"""What the search gives that p and u are told from."""
RIGHT = (*SEARCH, "removed", "left_out")
"""What q, the probability of being right if there is an answer, is told from."""
UNANSWERED = (
    *SEARCH,
    "contradicted",
    "removed",
    "strangeness",
    "coverage",
    "named",
    "unmet_at_home",
    "unsaid",
    "state",
)
"""What u is told from."""
RIGHT_ELSEWHERE = (
    "sequence",
    "margin",
    "decisions",
    "coverage",
    "unexplained",
    "unsaid",
    "unused",
    "left_out",
    *SECONDED,
)
UNANSWERED_ELSEWHERE = (
    *SEARCH,
    "removed",
    "strangeness",
    "coverage",
    "named",
    "unmet",
    "unexplained",
    "left_out",
    "unsaid",
    *SECONDED,
)
"""The same on schemas that were not trained on. `state` and `correspondence` know the schemas that they were fitted on and
nothing of others. What a second opinion says (`SECONDED`)
tells where it was asked for."""
UNANSWERED_LOOKED = ("void",)
"""What u is told from beside these once answers are known; q is told from all of `LOOKED`."""
UNANSWERED_INSPECTED = (*SEARCH, "contradicted", "strangeness", "coverage")
"""What u is told from in place of `UNANSWERED` then: across folds, the rest of it makes u worse."""
OTHER = 0.1
"""What a hypothesis that was not the likeliest counts beside one that was, where q of inspected queries is fitted. Nearly
all parses of the held-out questions are right: what a void answer says of wrong ones is learnt from the others."""
SLOPE_RIDGE = 5.0
"""L2 penalty of the slope that errors of other folds' models are recalibrated with, in units of examples."""
STATE_RIDGE = 0.3
"""L2 penalty of the probe, in units of examples; chosen by its AUC across folds."""

_STATE, _CORRESPONDENCE = NAMES.index("state"), NAMES.index("correspondence")


# ---------------------------------------------------------------- the two layers


def fit(
    table: Table,
    familiarity: Familiarity,
    unanswered: Sequence[str] = UNANSWERED,
    seed: int = 0,
    known: frozenset[str] = frozenset(),
    second: SecondModels | None = None,
) -> Reliability:
    """The regressions of both layers, fitted on all rows but those that are only reported.

    `known`: "table.column" of the schemas that were trained on and are asked about. Rows of other schemas have regressions
    of their own; none where their parses are all right, or all wrong. `second` are the models that were asked about them.
    """
    table = table.rows(table.parts != AS_WRITTEN)
    own, others = table.rows(~table.foreign), table.rows(table.foreign)
    first = first_layer(own, across_folds=True, seed=seed)
    judge, inspected = _judges(
        own, with_first(own.plain, *first), with_first(own.inspected, *first), unanswered
    )
    refuses = own.unanswerable.any()
    elsewhere = fit_elsewhere(others, judge, known, second)
    asks = elsewhere is not None and elsewhere.second is not None
    doubted = _doubted(own, *first, unanswered) if asks else None
    return Reliability(
        judge=judge,
        inspected=inspected,
        familiarity=familiarity,
        probe=_probe(own) if refuses and "state" in unanswered else None,
        correspondence=_correspondence(own) if refuses and "correspondence" in unanswered else None,
        elsewhere=elsewhere,
        doubted=None if doubted is None else Doubted(*doubted),
    )


def fit_elsewhere(
    others: Table, own: Judge, known: frozenset[str], second: SecondModels | None
) -> Elsewhere | None:
    """The judges of schemas that were not trained on, as `fit` has them; `own` is that of those that were."""
    if len(set(others.right[~others.unanswerable].tolist())) < 2:
        return None
    strange, looked = _judges_elsewhere(others, own, without=SECONDED)
    told = None
    if second is not None and others.seconded.any():
        # Other folds' models, whose errors are far more, were asked alone.
        asked = replace(others.rows(others.seconded), errors=None)
        without = RERANKED if second.reranker is None else ()
        told = Second(second, weights_of(second), *_judges_elsewhere(asked, own, without))
    return Elsewhere(strange, looked, known, told)


def _judges(
    table: Table,
    plain: Floats,
    inspected: Floats,
    unanswered: Sequence[str],
    right: Sequence[str] = RIGHT,
    without: Collection[str] = (),
) -> tuple[Judge, Judge | None]:
    """The judge of queries as they are, and that of those whose answers were looked at, if any were.

    Neither is told from features that are `without`.

    A query that contradicts a reference table has a part without rows, and so an answer that is void and hollow. It weighs
    as much for q: that is fitted on many hypotheses, and none of the likeliest ones to answerable questions is contradicted.
    """
    known = unanswered
    if set(unanswered) - set(SECONDED) == set(UNANSWERED):
        known = (*UNANSWERED_INSPECTED, *(name for name in unanswered if name in SECONDED))

    def kept(*names: str) -> list[str]:
        return [name for name in names if name not in without]

    judge = fit_judge(plain, table, kept(*unanswered), kept(*right))
    if not (table.plain != table.inspected).any():
        return judge, None
    looked = fit_judge(inspected, table, kept(*known, *UNANSWERED_LOOKED), kept(*right, *LOOKED), others=True)
    if "contradicted" in without:
        return judge, looked
    weights = {**judge.right.weights, "contradicted": sum(looked.right.weights[name] for name in LOOKED)}
    return replace(judge, right=replace(judge.right, weights=weights)), looked


def _doubted(
    own: Table,
    state: Floats,
    correspondence: Floats,
    unanswered: Sequence[str],
    without: Collection[str] = (),
) -> tuple[Judge, Judge | None] | None:
    """The judges of queries in doubt over schemas trained on; None where a second opinion was asked about none, or too few.

    `state` and `correspondence` are what the first layer says of `own` rows.
    """
    asked = own.in_use.seconded
    rows, first = own.in_use.rows(asked), (state[asked], correspondence[asked])
    if len(set(rows.right[~rows.unanswerable & (rows.parts != PLAIN)].tolist())) < 2:
        return None
    shown, looked = with_first(rows.plain, *first), with_first(rows.inspected, *first)
    return _judges(rows, shown, looked, (*unanswered, *SECONDED), (*RIGHT, *SECONDED), without)


def _judges_elsewhere(table: Table, own: Judge, without: Collection[str] = ()) -> tuple[Judge, Judge | None]:
    """The same for schemas never seen; `own` is the judge of the others."""
    judge, looked = _judges(
        table, table.plain, table.inspected, UNANSWERED_ELSEWHERE, RIGHT_ELSEWHERE, without
    )
    return _with_contradictions(judge, own), looked


def _with_contradictions(judge: Judge, own: Judge) -> Judge:
    """The judge of schemas never seen, of which none has reference tables: a contradiction tells it what it tells `own`."""
    weight = 0.0 if own.unanswerable is None else own.unanswerable.weights.get("contradicted", 0.0)
    if judge.unanswerable is None or not weight:
        return judge
    weights = {**judge.unanswerable.weights, "contradicted": weight}
    return replace(judge, unanswerable=replace(judge.unanswerable, weights=weights))


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


def fit_judge(
    features: Floats,
    table: Table,
    unanswered: Sequence[str],
    told_right: Sequence[str] = RIGHT,
    *,
    others: bool = False,
) -> Judge:
    """The regression of q, on answerable questions, and that of u, on all; without unanswerable ones, u is not known.

    With `others`, q is fitted on the hypotheses that were not the likeliest as well, which the first layer says nothing of.
    """
    right = _regression(*_told_right(table, features, others), told_right)
    errors = table.like
    if errors is not None:
        wide = _regression(
            *_told_right(errors, errors.inspected if others else errors.plain, others), told_right
        )
        right = recalibrated(wide, *_told_right(table, features, False))
    if not table.unanswerable.any():
        return Judge(right)
    return Judge(right, _unanswerable(features, table, errors, unanswered, others))


def _told_right(table: Table, features: Floats, others: bool) -> tuple[Floats, Flags, Floats]:
    """Features, labels and weights of the questions that have an answer; with `others`, of further hypotheses, too."""
    # What was made says nothing of how often a query is right: the same grammar made what was trained on.
    asked = ~table.unanswerable & (table.parts != PLAIN)
    shown, right, mass = features[asked], table.right[asked], table.mass[asked]
    if others:
        more = table.others
        shown = np.concatenate([shown, more.inspected])
        right = np.concatenate([right, more.right])
        mass = np.concatenate([mass, OTHER * table.mass[more.rows]])
    return shown, right, mass


def _unanswerable(
    features: Floats, table: Table, errors: Table | None, names: Sequence[str], inspected: bool
) -> Regression:
    """The regression of u.

    Errors of other folds tell of it on schemas never seen alone: elsewhere `state` tells, which is each model's own.
    """
    if errors is None or not errors.unanswerable.any():
        return _regression(features, table.unanswerable, table.mass, names)
    wide = _regression(
        errors.inspected if inspected else errors.plain, errors.unanswerable, errors.mass, names
    )
    return recalibrated(wide, features, table.unanswerable, table.mass)


def _regression(features: Floats, labels: Flags, mass: Floats, names: Sequence[str]) -> Regression:
    intercept, weights = fit_logistic(features[:, [NAMES.index(name) for name in names]], labels, mass)
    return Regression(float(intercept), dict(zip(names, map(float, weights), strict=True)))


def recalibrated(wide: Regression, features: Floats, labels: Flags, mass: Floats) -> Regression:
    """A regression that was fitted elsewhere, with a shift and a slope that are fitted here (Platt, 1999)."""
    odds = _odds(wide, features)
    shift, (more,) = fit_logistic(odds[:, None], labels, mass, SLOPE_RIDGE, known=odds)
    slope = 1.0 + float(more)
    return Regression(
        shift + slope * wide.intercept, {name: slope * weight for name, weight in wide.weights.items()}
    )


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
    table: Table,
    unanswered: Sequence[str] = UNANSWERED,
    elsewhere: Sequence[str] = UNANSWERED_ELSEWHERE,
    *,
    inspected: bool = False,
    seed: int = 0,
    without: Collection[str] = (),
) -> Predicted:
    """Predictions for all rows; `elsewhere` names what u is told from on schemas that were not trained on.

    `without` are features that neither p nor u is told from.

    A question as it was written is in the fold of the same one with other numbers, and one of a schema that was not trained
    on in the fold of all others of that schema.
    """
    p, u = np.zeros(len(table.parts)), np.zeros(len(table.parts))
    for side, names in ((~table.foreign, unanswered), (table.foreign, elsewhere)):
        if side.any():
            found = _predict_side(table.rows(side), names, inspected=inspected, seed=seed, without=without)
            p[side], u[side] = found.confidence, found.unanswerable
    return Predicted(p, u)


def _predict_side(
    table: Table, unanswered: Sequence[str], *, inspected: bool, seed: int, without: Collection[str]
) -> Predicted:
    """Predictions for rows that are all of schemas that were trained on, or all of others."""
    foreign = bool(table.foreign.all())
    told_right = RIGHT_ELSEWHERE if foreign else RIGHT
    if foreign and not table.seconded.any():
        without = (*without, *SECONDED)
    elif foreign:
        table = replace(table, errors=None)  # other folds' models were asked alone: see `fit`
    fold = folds_of(table.groups, seed)
    p, u = np.zeros(len(fold)), np.zeros(len(fold))
    for number in np.unique(fold):
        held = table.rows(fold == number)
        rest = table.rows((fold != number) & (table.parts != AS_WRITTEN))
        if rest.unanswerable.all():
            continue  # one template alone: nothing is left to fit on
        in_use = held.in_use
        plain, looked, other = rest.plain, rest.inspected, in_use.inspected if inspected else in_use.plain
        doubted = None
        if not foreign:
            first = first_layer(rest, across_folds=True, seed=seed)
            plain, looked = with_first(plain, *first), with_first(looked, *first)
            other = with_first(other, *first_layer(rest, across_folds=False, of=held))
            doubted = _doubted(rest, *first, unanswered, without)
        judges = _judges(rest, plain, looked, unanswered, told_right, without)
        found = _predicted(judges, other, inspected=inspected)
        if doubted is not None:
            found = np.where(in_use.seconded, _predicted(doubted, other, inspected=inspected), found)
        p[fold == number], u[fold == number] = found
    return Predicted(p, u)


def _predicted(judges: tuple[Judge, Judge | None], features: Floats, *, inspected: bool) -> Floats:
    """What a judge says, p and u: float[2, n]; that of queries as they are, or of those whose answers were looked at."""
    judge = judges[1] if inspected and judges[1] is not None else judges[0]
    u = (
        np.zeros(len(features))
        if judge.unanswerable is None
        else sigmoid(_odds(judge.unanswerable, features))
    )
    found: Floats = np.stack([(1 - u) * sigmoid(_odds(judge.right, features)), u])
    return found


def _odds(regression: Regression, features: Floats) -> Floats:
    columns = [NAMES.index(name) for name in regression.weights]
    found: Floats = regression.intercept + features[:, columns] @ np.array(list(regression.weights.values()))
    return found
