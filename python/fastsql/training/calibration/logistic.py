"""Weighted logistic regression, and how good its probabilities are.

Everything is weighted, because the questions at hand have other shares of easy, hard and unanswerable ones than use has.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RIDGE = 1.0
"""L2 penalty on the weights of standardised features, in units of examples."""
INTERCEPT_RIDGE = 1e-3
"""So little that it only matters where all labels are alike, and the intercept would run off."""
FOLDS = 5
BINS = 15
_STEPS = 50
_CLOSE = 1e-10


def sigmoid(z: Floats) -> Floats:
    """1 / (1 + exp(-z)), without overflow."""
    small = np.exp(-np.abs(z))
    result: Floats = np.where(z >= 0, 1, small) / (1 + small)
    return result


def fit_logistic(
    features: Floats, labels: Flags, mass: Floats, ridge: float = RIDGE, known: Floats | None = None
) -> tuple[float, Floats]:
    """Intercept and weights float64[k], for features as they are, by Newton's method.

    `features`: float64[n, k]; `mass`: float64[n], how much each example counts; `known`: float64[n], log-odds that the
    regression adds to.
    """
    mean = np.average(features, axis=0, weights=mass)
    spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=mass))
    # A constant's spread is a rounding error, not 0, and a weight in units of it would be worth nothing elsewhere.
    spread[spread <= _CLOSE * (1 + np.abs(mean))] = 1
    design = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = INTERCEPT_RIDGE
    mass = mass / mass.mean()
    target = labels.astype(np.float64)
    start = 0.0 if known is None else known

    def objective(weights: Floats) -> float:
        z = start + design @ weights
        return float(mass @ (np.logaddexp(0, z) - target * z) + penalty @ weights**2 / 2)

    weights = np.zeros(design.shape[1])
    best = objective(weights)
    for _ in range(_STEPS):
        found = sigmoid(start + design @ weights)
        gradient = design.T @ (mass * (found - target)) + penalty * weights
        curvature = design.T @ (design * (mass * found * (1 - found))[:, None]) + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        # Newton may overshoot where probabilities are near 0 or 1: halve until the objective falls.
        scale = 1.0
        while (value := objective(weights - scale * step)) > best and scale > _CLOSE:
            scale /= 2
        gain, best = best - value, min(best, value)
        weights = weights - scale * step
        if gain < _CLOSE:
            break
    own = weights[1:] / spread
    return float(weights[0] - own @ mean), own


def folds_of(groups: Sequence[str], seed: int = 0, folds: int = FOLDS) -> NDArray[np.int_]:
    """A fold for each example, int[n]; those of one group are in one fold."""
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)
    fold_of = {name: place % folds for place, name in enumerate(names)}
    return np.array([fold_of[group] for group in groups])


def cross_fitted(
    features: Floats,
    labels: Flags,
    mass: Floats,
    groups: Sequence[str],
    seed: int = 0,
    folds: int = FOLDS,
    ridge: float = RIDGE,
) -> Floats:
    """Log-odds float64[n], each by a regression that saw no example of the same group.

    Where all the others have one label, the log-odds are those of a regression over them all the same; where they count
    nothing, 0.
    """
    fold = folds_of(groups, seed, folds)
    found = np.zeros(len(labels))
    for number in range(folds):
        held = fold == number
        if held.all() or not held.any() or not mass[~held].any():
            continue
        intercept, weights = fit_logistic(features[~held], labels[~held], mass[~held], ridge)
        found[held] = intercept + features[held] @ weights
    return found


# ---------------------------------------------------------------- how good probabilities are


def calibration_error(found: Floats, labels: Flags, mass: Floats, bins: int = BINS) -> float:
    """Expected calibration error: mean distance of confidence and accuracy over bins of equal mass (Naeini et al., 2015)."""
    order = np.argsort(found, kind="stable")
    return binned_error(mass[order] / mass.sum(), found[order] - labels[order], bins)


def binned_error(share: Floats, apart: Floats, bins: int = BINS) -> float:
    """The same of what is in order already: the `share` of each example, and how far probability and label are `apart`."""
    place = np.minimum(((share.cumsum() - share / 2) * bins).astype(int), bins - 1)
    distance = np.bincount(place, share * apart, minlength=bins)
    return float(np.abs(distance).sum())


def area_under_curve(found: Floats, labels: Flags, mass: Floats) -> float:
    """Probability that a right example ranks above a wrong one, ties counting half; nan where one kind is missing."""
    right, wrong = found[labels], found[~labels]
    if not len(right) or not len(wrong):
        return float("nan")
    above = (right[:, None] > wrong[None, :]) + 0.5 * (right[:, None] == wrong[None, :])
    pairs = mass[labels][:, None] * mass[~labels][None, :]
    return float((above * pairs).sum() / pairs.sum())


def reliability_score(
    answered: Flags, labels: Flags, answerable: Flags, mass: Floats, penalty: float
) -> float:
    """RS(penalty) of EHRSQL 2024 in percent (Lee et al., 2024): right 1, wrong -penalty, refused 0, or 1 if rightly."""
    score = np.where(answered, np.where(labels, 1.0, -penalty), np.where(answerable, 0.0, 1.0))
    return float(100 * np.average(score, weights=mass))
