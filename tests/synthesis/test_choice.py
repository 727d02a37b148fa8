"""The geometric median is where the sum of distances is least; what is nearest to it is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from fastsql.synthesis.choice import geometric_median, nearest_to_median

Points = NDArray[np.float64]

POINTS = st.tuples(st.integers(1, 9), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-100, 100, width=32))
)


def total(points: Points, centre: Points) -> float:
    return float(np.linalg.norm(points - centre, axis=1).sum())


@given(POINTS)
@example(np.array([[0.0, -4.0], [0.0, -5.0], [-5.0, -5.0], [-5.0, -5.0]]))
@settings(max_examples=60, deadline=None)
def test_no_point_and_no_mean_is_nearer_to_all_than_the_median(points: Points) -> None:
    least = total(points, geometric_median(points))
    slack = 1e-3 * (1 + float(np.abs(points - points.mean(axis=0)).max()))
    assert all(least <= total(points, other) + slack for other in (*points, points.mean(axis=0)))


@given(POINTS, st.floats(0.5, 3), st.floats(-50, 50))
@settings(max_examples=40, deadline=None)
def test_the_median_moves_and_grows_with_the_points(points: Points, factor: float, shift: float) -> None:
    moved = factor * points + shift
    there = factor * geometric_median(points) + shift
    extent = 1 + float(np.abs(moved - moved.mean(axis=0)).max())
    assert total(moved, there) == pytest.approx(total(moved, geometric_median(moved)), abs=1e-3 * extent)


@given(arrays(np.float64, (4, 3), elements=st.floats(-100, 100, width=32)), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_a_point_that_most_points_are_at_is_the_median(points: Points, most: int) -> None:
    crowded = np.concatenate([points, np.repeat(points[most : most + 1], 4, axis=0)])
    extent = 1 + float(np.abs(crowded - crowded.mean(axis=0)).max())
    np.testing.assert_allclose(geometric_median(crowded), points[most], atol=1e-3 * extent)


def test_the_middle_of_a_triangle_sees_its_sides_alike() -> None:
    """Fermat's point: 120 degrees between the points, whatever mean they have."""
    points = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])
    away = points - geometric_median(points)
    unit = away / np.linalg.norm(away, axis=1, keepdims=True)
    np.testing.assert_allclose(unit @ unit.T, np.where(np.eye(3) > 0, 1, -0.5), atol=1e-3)


def test_a_far_point_draws_the_median_less_than_the_mean() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1000.0, 0.0]])
    assert float(np.linalg.norm(geometric_median(points))) < 3


@given(POINTS, st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_as_many_are_chosen_as_asked_for_and_each_once(points: Points, k: int) -> None:
    chosen = nearest_to_median(points, k)
    assert len(chosen) == len(set(chosen)) == min(k, len(points))
    assert set(chosen) <= set(range(len(points)))


def test_the_odd_one_out_is_chosen_last() -> None:
    points = np.array([[0.0, 1.0], [0.1, 1.0], [-0.1, 1.0], [9.0, 9.0]])
    assert nearest_to_median(points, 4)[0] == 0
    assert nearest_to_median(points, 4)[-1] == 3 or 3 not in nearest_to_median(points, 3)


def test_of_nothing_nothing_is_chosen() -> None:
    assert nearest_to_median(np.zeros((0, 3)), 2) == []
