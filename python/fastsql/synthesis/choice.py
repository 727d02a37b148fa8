"""Which of several wordings to take: those nearest to the geometric median of their embeddings.

ScienceBenchmark, section 3.3.4: what most wordings say alike is likelier to be what the query says than what only one of
them says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.floating]

_STEPS = 200
_MOVED = 1e-7
"""A step shorter than this share of the points' extent is the last."""


def geometric_median(points: Points) -> NDArray[np.float64]:
    """The point [d] with the least sum of distances to `points` [n, d], n at least 1.

    Weiszfeld's steps (1937), with the mend of Vardi and Zhang (2000) for a step that ends on one of the points. Towards a
    median that is one of the points steps get ever shorter: so where they end, the points are looked at, too.
    """
    points = np.asarray(points, dtype=np.float64)
    centre: NDArray[np.float64] = points.mean(axis=0)
    extent = float(np.abs(points - centre).max(initial=0.0))
    for _ in range(_STEPS):
        away = points - centre
        distance = np.linalg.norm(away, axis=1)
        apart = distance > _MOVED * extent
        if not apart.any():
            break
        weights = 1 / distance[apart]
        pull = weights @ away[apart]
        resting = len(points) - int(
            apart.sum()
        )  # points that the centre lies on hold it with a force of 1 each
        force = float(np.linalg.norm(pull))
        if force <= resting:
            break
        step = pull / weights.sum() * (1 - resting / force)
        centre = centre + step
        if float(np.abs(step).max()) <= _MOVED * extent:
            break
    ends = np.vstack([centre, points])
    totals = np.linalg.norm(ends[:, None] - points, axis=-1).sum(axis=1)
    found: NDArray[np.float64] = ends[int(totals.argmin())]
    return found


def nearest_to_median(embeddings: Points, k: int) -> list[int]:
    """At most `k` of the `embeddings` [n, d], nearest first: each the one nearest to the median of those not yet chosen.

    Of equally near ones the first is taken.
    """
    left = list(range(len(embeddings)))
    chosen: list[int] = []
    while left and len(chosen) < k:
        points = np.asarray(embeddings, dtype=np.float64)[left]
        distance = np.linalg.norm(points - geometric_median(points), axis=1)
        chosen.append(left.pop(int(distance.round(9).argmin())))
    return chosen
