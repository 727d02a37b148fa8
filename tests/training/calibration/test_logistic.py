from __future__ import annotations

import numpy as np
import pytest

from fastsql.training.calibration.logistic import (
    area_under_curve,
    calibration_error,
    cross_fitted,
    fit_logistic,
    reliability_score,
    sigmoid,
)


def drawn(n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of a known regression: -1 + 2 a - 0.5 b."""
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(3, 1, n), rng.normal(-2, 4, n)])
    chance = sigmoid(-5 + 2 * features[:, 0] - 0.5 * features[:, 1])
    return features, rng.random(n) < chance


def test_a_regression_finds_the_weights_that_made_the_labels() -> None:
    features, labels = drawn()
    intercept, weights = fit_logistic(features, labels, np.ones(len(labels)))
    assert weights == pytest.approx([2.0, -0.5], rel=0.1)
    assert intercept == pytest.approx(-5.0, rel=0.1)


def test_counting_an_example_twice_is_having_it_twice() -> None:
    features, labels = drawn(60)
    mass = np.where(np.arange(60) < 20, 2.0, 1.0)
    # The ridge is measured in examples: with none of it, the two must agree exactly.
    once = fit_logistic(features, labels, mass, ridge=0)
    again = np.concatenate([np.arange(60), np.arange(20)])
    twice = fit_logistic(features[again], labels[again], np.ones(80), ridge=0)
    assert once[0] == pytest.approx(twice[0], rel=1e-3)
    assert once[1] == pytest.approx(twice[1], rel=1e-3)


def test_labels_that_a_feature_tells_apart_wholly_leave_finite_weights() -> None:
    features = np.array([[0.0, 1.0]] * 5 + [[1.0, 1.0]] * 5)
    intercept, weights = fit_logistic(features, np.arange(10) >= 5, np.ones(10))
    assert np.isfinite([intercept, *weights]).all()
    assert sigmoid(intercept + features @ weights)[[0, 9]] == pytest.approx([0.0, 1.0], abs=0.3)


def test_labels_all_alike_leave_a_finite_intercept() -> None:
    intercept, weights = fit_logistic(np.zeros((6, 1)), np.ones(6, dtype=bool), np.ones(6))
    assert 0.9 < sigmoid(np.array([intercept]))[0] < 1
    assert weights.tolist() == [0.0]


def test_no_example_of_a_group_judges_the_group() -> None:
    # One feature a group: only its own examples could tell that a group is right.
    groups = [f"group {i // 4}" for i in range(40)]
    features = np.eye(10)[np.arange(40) // 4]
    labels = np.arange(40) // 4 % 2 == 0
    found = cross_fitted(features, labels, np.ones(40), groups)
    assert area_under_curve(found, labels, np.ones(40)) <= 0.5
    intercept, weights = fit_logistic(features, labels, np.ones(40))
    assert area_under_curve(intercept + features @ weights, labels, np.ones(40)) == 1.0


def test_the_seed_alone_decides_the_folds() -> None:
    features, labels = drawn(100)
    groups = [str(i) for i in range(100)]
    one, other, third = (cross_fitted(features, labels, np.ones(100), groups, seed) for seed in (1, 1, 2))
    assert one.tolist() == other.tolist() != third.tolist()


def test_calibration_error_is_the_distance_of_confidence_and_accuracy() -> None:
    found = np.repeat([0.1, 0.9], 100)
    labels = np.concatenate([np.arange(100) < 10, np.arange(100) < 70])
    assert calibration_error(found, labels, np.ones(200), bins=2) == pytest.approx((0.0 + 0.2) / 2)
    # Only the second half counts.
    mass = np.repeat([1e-9, 1.0], 100)
    assert calibration_error(found, labels, mass, bins=1) == pytest.approx(0.2, abs=1e-6)


def test_the_area_under_the_curve_counts_pairs_in_order() -> None:
    found, labels = np.array([0.9, 0.4, 0.4, 0.1]), np.array([True, True, False, False])
    assert area_under_curve(found, labels, np.ones(4)) == pytest.approx(3.5 / 4)
    assert area_under_curve(found, labels, np.array([1.0, 0.0, 1.0, 1.0])) == pytest.approx(1.0)
    assert np.isnan(area_under_curve(found, labels | True, np.ones(4)))


def test_the_reliability_score_is_that_of_ehrsql() -> None:
    # right, wrong, refused; answered and refused though unanswerable
    answered = np.array([True, True, False, True, False])
    labels = np.array([True, False, False, False, False])
    answerable = np.array([True, True, True, False, False])
    for penalty, score in ((0, (1 + 0 + 0 + 0 + 1) / 5), (10, (1 - 10 + 0 - 10 + 1) / 5)):
        found = reliability_score(answered, labels, answerable, np.ones(5), penalty)
        assert found == pytest.approx(100 * score)


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]


def test_a_constant_gets_no_weight_even_where_its_mean_is_rounded() -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(30) < 0.5
    features = np.column_stack([np.full(30, 0.3), rng.normal(size=30)])
    intercept, weights = fit_logistic(features, labels, rng.random(30) + 0.1)
    assert weights[0] == pytest.approx(0.0, abs=1e-6)
    assert abs(intercept) < 10
