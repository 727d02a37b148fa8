"""Percentile bootstrap intervals (Efron and Tibshirani, 1993, chapter 13), by question or by template.

Questions made from one template are answered right or wrong together, so intervals that draw single questions are too
narrow. Drawing whole templates with all their questions (the cluster bootstrap) says how the figure would vary over other
templates of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = "NDArray[np.intp]"
Floats: TypeAlias = "NDArray[np.float64]"

ROUNDS = 1_000
LEVEL = 95.0


def bootstrap(
    statistics: Callable[[Indices], Sequence[float]],
    size: int,
    clusters: Sequence[Hashable] | None = None,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    level: float = LEVEL,
) -> Floats:
    """Intervals of several statistics at once: float64[2, statistics], the lower ends and the upper ones.

    Args:
        statistics: figures of the questions with these indices; an index may occur several times. NaN where a figure is not
            defined, and then that draw does not count for it.
        size: number of questions.
        clusters: a key for every question; questions of one key are drawn together. None draws single questions.
        rounds: how often is drawn.
        seed: of the draws; equal seeds give equal intervals.
        level: the interval's coverage in percent.
    """
    random = np.random.default_rng(seed)
    members = None if clusters is None else _members(clusters)
    drawn = []
    for _ in range(rounds):
        if members is None:
            indices = random.integers(size, size=size)
        else:
            indices = np.concatenate(
                [members[one] for one in random.integers(len(members), size=len(members))]
            )
        drawn.append(statistics(indices))
    values = np.asarray(drawn, dtype=np.float64)
    ends = np.full((2, values.shape[1]), np.nan)
    for column in range(values.shape[1]):
        defined = values[~np.isnan(values[:, column]), column]
        if len(defined):
            ends[:, column] = np.percentile(defined, [(100 - level) / 2, (100 + level) / 2])
    return ends


def _members(clusters: Sequence[Hashable]) -> list[Indices]:
    found: dict[Hashable, list[int]] = {}
    for index, key in enumerate(clusters):
        found.setdefault(key, []).append(index)
    return [np.array(indices, dtype=np.intp) for indices in found.values()]
