"""The beam's figures: what they say, and what bounds them."""

from __future__ import annotations

import math
from typing import cast

import pytest

from fastsql.decode import Hypothesis, Search
from fastsql.grammar import State
from fastsql.reliability.evidence import BeamFigures, beam_figures


def hypothesis(*gains: float) -> Hypothesis:
    return Hypothesis(tuple(range(len(gains))), gains, cast("State", None))


BEST, NEXT = hypothesis(-0.1, -0.2, -0.1, -0.1), hypothesis(-1.0, -0.5)


def odds(log_probability: float) -> float:
    p = math.exp(log_probability)
    return math.log(p / (1 - p))


def figures(*finished: Hypothesis, unfinished: float = -math.inf, chosen: int = 0) -> BeamFigures:
    return beam_figures(Search(finished, unfinished), chosen)


def test_figures_are_what_they_are_called() -> None:
    found = figures(BEST, NEXT)
    assert found.sequence == pytest.approx(odds(-0.5))
    assert found.worst == pytest.approx(odds(-0.2))
    assert found.margin == pytest.approx(1.0)
    assert found.decisions == 2
    p = 1 / (1 + math.exp(-1.0))
    assert found.entropy == pytest.approx(-p * math.log(p) - (1 - p) * math.log(1 - p))


def test_a_worse_hypothesis_has_a_negative_margin() -> None:
    assert figures(BEST, NEXT, chosen=1).margin == pytest.approx(-1.0)


def test_an_unfinished_hypothesis_is_a_rival() -> None:
    assert figures(BEST, NEXT, unfinished=-0.7).margin == pytest.approx(0.2)
    assert figures(BEST, unfinished=-0.7).margin == pytest.approx(0.2)


def test_without_rivals_the_margin_is_as_wide_as_it_may_be_and_nothing_is_open() -> None:
    assert (figures(BEST).margin, figures(BEST).entropy) == (10, 0)
    assert figures(BEST, unfinished=-500.0).margin == 10


def test_a_query_without_decisions_is_certain() -> None:
    found = figures(hypothesis())
    assert (found.sequence, found.worst, found.decisions) == (10, 10, 0)


def test_evidence_tells_near_certainty_from_nearer_certainty() -> None:
    nine, more = (figures(hypothesis(math.log(p))) for p in (0.99, 0.999))
    assert more.sequence - nine.sequence == pytest.approx(math.log(999 / 99))


@pytest.mark.parametrize("gain", [1e-9, 0.0, -1e-12, -1e4])
def test_log_odds_are_bounded(gain: float) -> None:
    assert abs(figures(hypothesis(gain)).sequence) <= 10


def test_hypotheses_of_one_answer_count_together_and_are_no_rivals() -> None:
    other = hypothesis(-3.0)
    search = Search((BEST, NEXT, other), -math.inf)
    alone, together = beam_figures(search, 0), beam_figures(search, 0, (1,))
    whole = math.exp(-0.5) + math.exp(-1.5)
    assert together.sequence == pytest.approx(odds(math.log(whole)))
    assert together.margin == pytest.approx(math.log(whole) + 3.0)
    assert together.entropy < alone.entropy
    assert together.worst == alone.worst
