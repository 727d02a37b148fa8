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
    members = None if clusters is None else _Members(clusters)
    drawn = []
    for _ in range(rounds):
        if members is None:
            indices = random.integers(size, size=size)
        else:
            indices = members.of(random.integers(members.clusters, size=members.clusters))
        drawn.append(statistics(indices))
    values = np.asarray(drawn, dtype=np.float64)
    ends = np.full((2, values.shape[1]), np.nan)
    for column in range(values.shape[1]):
        defined = values[~np.isnan(values[:, column]), column]
        if len(defined):
            ends[:, column] = np.percentile(defined, [(100 - level) / 2, (100 + level) / 2])
    return ends


class _Members:
    """The questions of each cluster, one cluster after the other, so that many are looked up at once."""

    def __init__(self, keys: Sequence[Hashable]) -> None:
        found: dict[Hashable, list[int]] = {}
        for index, key in enumerate(keys):
            found.setdefault(key, []).append(index)
        self.clusters = len(found)
        self._all = np.array([index for indices in found.values() for index in indices], dtype=np.intp)
        self._sizes = np.array([len(indices) for indices in found.values()], dtype=np.intp)
        self._starts = self._sizes.cumsum() - self._sizes

    def of(self, clusters: Indices) -> Indices:
        """The questions of these clusters, in their order."""
        sizes = self._sizes[clusters]
        ends = sizes.cumsum()
        # A question's place among all is its cluster's start, and as much further as it is behind its cluster's first here.
        behind = (self._starts[clusters] - (ends - sizes)).repeat(sizes)
        found: Indices = self._all[behind + np.arange(len(behind))]
        return found
