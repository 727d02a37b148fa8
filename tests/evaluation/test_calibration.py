"""Calibration and risk are what one computes by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastsql.evaluation.calibration import calibration_error, reliability_bins, risk_coverage


def test_the_error_is_the_mean_gap_over_bins_of_equal_mass() -> None:
    confidence = np.array([0.9, 0.1, 0.2, 0.8])
    right = np.array([True, False, True, True])
    # Bins (0.1, 0.2) and (0.8, 0.9): mean confidences 0.15 and 0.85, shares right 0.5 and 1.
    assert calibration_error(confidence, right, bins=2) == pytest.approx((0.35 + 0.15) / 2)
    assert [(one.n, one.confidence, one.accuracy) for one in reliability_bins(confidence, right, bins=2)] == [
        (2, pytest.approx(0.15), 0.5),
        (2, pytest.approx(0.85), 1.0),
    ]


@pytest.mark.parametrize("size", [1, 7, 15, 16, 100, 1163])
def test_the_error_is_that_of_the_bins(size: int) -> None:
    random = np.random.default_rng(size)
    confidence, right = random.random(size), random.random(size) < 0.5
    bins = reliability_bins(confidence, right)
    assert sum(one.n for one in bins) == size
    assert len(bins) == min(size, 15)
    expected = sum(one.n * abs(one.confidence - one.accuracy) for one in bins) / size
    assert calibration_error(confidence, right) == pytest.approx(expected)


def test_certainty_that_is_right_has_no_error_and_no_risk() -> None:
    confidence, right = np.array([0.0, 1.0, 1.0]), np.array([False, True, True])
    assert calibration_error(confidence, right) == 0
    curve = risk_coverage(confidence, right)
    assert curve.coverage.tolist() == [pytest.approx(2 / 3), 1]
    assert curve.risk.tolist() == [0, pytest.approx(1 / 3)]


def test_the_order_of_questions_does_not_matter_where_confidences_differ() -> None:
    random = np.random.default_rng(0)
    confidence, right = random.random(200), random.random(200) < 0.7
    shuffled = random.permutation(200)
    assert calibration_error(confidence[shuffled], right[shuffled]) == pytest.approx(
        calibration_error(confidence, right)
    )
    assert risk_coverage(confidence[shuffled], right[shuffled]).area == pytest.approx(
        risk_coverage(confidence, right).area
    )


def test_questions_of_one_confidence_are_answered_together() -> None:
    curve = risk_coverage(np.full(4, 0.5), np.array([True, False, False, True]))
    assert (curve.threshold.tolist(), curve.coverage.tolist(), curve.risk.tolist()) == ([0.5], [1], [0.5])
    assert curve.area == 0.5


def test_coverage_at_a_precision_is_the_most_that_can_be_answered() -> None:
    curve = risk_coverage(np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([True, True, False, True, False]))
    found = [curve.coverage_at(precision) for precision in (1.0, 0.75, 0.7, 0.6, 0.0)]
    assert found == pytest.approx(
        [0.4, 0.8, 0.8, 1.0, 1.0]
    )  # one wrong answer may be made up for by later ones
    assert risk_coverage(np.array([0.9, 0.8]), np.array([False, True])).coverage_at(0.95) == 0


def test_the_area_is_the_mean_risk_over_coverages() -> None:
    curve = risk_coverage(np.array([0.9, 0.8, 0.7]), np.array([True, False, True]))
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)


def test_nothing_to_measure_gives_nothing() -> None:
    none, no_flags = np.array([]), np.array([], dtype=bool)
    assert math.isnan(calibration_error(none, no_flags))
    assert reliability_bins(none, no_flags) == ()
    assert risk_coverage(none, no_flags).coverage.tolist() == []
