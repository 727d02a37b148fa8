"""Shares of counts, and Wilson's interval of them."""

from __future__ import annotations

import pytest

from fastsql.evaluation.calibration import Bin
from fastsql.evaluation.shares import Share, wilson


def test_wilsons_interval_stays_within_0_and_1() -> None:
    # Wilson's interval of 10 of 10: 1 / (1 + z^2 / n) to 1.
    assert wilson(1.0, 10) == pytest.approx((10 / (10 + 1.959964**2), 1))
    low, high = wilson(0.0, 10)
    assert (low, high) == (pytest.approx(0, abs=1e-12), pytest.approx(1 - 10 / (10 + 1.959964**2)))
    # As Newcombe (1998) gives them for 81 of 263 and for 15 of 148.
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(15 / 148, 148) == pytest.approx((0.0624, 0.1605), abs=1e-4)


def test_a_bin_and_a_share_have_the_same_interval() -> None:
    ends = Share(81, 263).interval()
    assert ends == pytest.approx(tuple(100 * end for end in Bin(263, 0.3, 81 / 263).interval()), abs=1e-3)


def test_a_share_of_nothing_is_not_defined() -> None:
    assert (Share.of([]).percent, Share.of([]).interval()) == (None, None)
    assert Share.of([True, False, True]) == Share(2, 3)
    assert Share(2, 3).percent == 66.6667


@pytest.mark.parametrize(
    ("share", "few"),
    [
        (Share(20, 39), True),
        (Share(20, 40), False),
        (Share(4, 1000), True),
        (Share(996, 1000), True),
        (Share(1000, 1000), True),
        (Share(5, 1000), False),
    ],
)
def test_a_share_is_of_few_where_either_outcome_is_rare_or_questions_are(share: Share, few: bool) -> None:
    assert share.is_of_few is few
