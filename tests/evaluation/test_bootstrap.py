"""Bootstrap intervals are reproducible, of the right width, and wider where questions hang together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastsql.evaluation.bootstrap import Indices, bootstrap

OUTCOMES = np.array([1.0] * 80 + [0.0] * 20)


def mean(indices: Indices) -> list[float]:
    return [float(OUTCOMES[indices].mean())]


def test_the_interval_of_a_share_is_that_of_the_binomial() -> None:
    low, high = bootstrap(mean, len(OUTCOMES), rounds=4000)[:, 0]
    half = 1.96 * math.sqrt(0.8 * 0.2 / 100)
    assert (low, high) == (pytest.approx(0.8 - half, abs=0.02), pytest.approx(0.8 + half, abs=0.02))


def test_equal_seeds_give_equal_intervals_and_others_do_not() -> None:
    one, same, other = (bootstrap(mean, len(OUTCOMES), rounds=200, seed=seed) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_questions_of_one_template_are_drawn_together() -> None:
    sizes: set[int] = set()

    def remember(indices: Indices) -> list[float]:
        counts = np.bincount(indices, minlength=6)
        assert len(set(counts[:4])) == 1
        sizes.add(len(indices))
        return [0.0]

    bootstrap(remember, 6, ["a", "a", "a", "a", "b", "c"], rounds=50)
    assert min(sizes) == 3
    assert max(sizes) > 6


def test_templates_widen_the_interval() -> None:
    templates = [number // 10 for number in range(len(OUTCOMES))]
    single, clustered = (
        np.ptp(bootstrap(mean, len(OUTCOMES), clusters, rounds=1000)[:, 0]) for clusters in (None, templates)
    )
    assert clustered > 2 * single


def test_a_cluster_for_each_question_is_the_same_as_no_clusters() -> None:
    plain = bootstrap(mean, len(OUTCOMES), rounds=100)
    assert (bootstrap(mean, len(OUTCOMES), range(len(OUTCOMES)), rounds=100) == plain).all()


def test_draws_in_which_a_figure_is_undefined_do_not_count() -> None:
    def sometimes(indices: Indices) -> list[float]:
        return [1.0 if indices[0] else math.nan, math.nan]

    (low, never), (high, _) = bootstrap(sometimes, 2, rounds=100)
    assert (low, high) == (1, 1)
    assert math.isnan(never)
