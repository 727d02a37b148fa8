"""Where nothing is run, a hypothesis that contradicts a reference table gives way to one that does not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fastsql.limits import DEFAULT
from fastsql.parser import assess as assess_module
from fastsql.parser.assess import Assessed, assess_consistent
from fastsql.parser.write import Written
from fastsql.refusal.contradictions import Contradiction
from fastsql.reliability.assess import Reliability
from fastsql.reliability.judges import Assessment


@pytest.fixture
def beam(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A beam whose hypotheses have these confidences; those that are named contradict a table, or do not verify."""

    def make(
        confidences: list[float], contradicted: set[int], faulty: frozenset[int] = frozenset()
    ) -> Written:
        def written(number: int) -> Any:
            others = [n for n in range(len(confidences)) if n != number]
            return SimpleNamespace(number=number, fault="no" if number in faulty else "", others=others)

        def assess(one: Any, reliability: Reliability) -> Assessed:
            found = Assessed(one, reliability, (), {1: Assessment(confidences[one.number])})
            return replace(
                found, contradictions=(Contradiction(0, ()),) if one.number in contradicted else ()
            )

        def runnable(first: Any, number: int, limits: object) -> Any:
            return None if number in faulty else written(number)

        monkeypatch.setattr(assess_module, "assess", assess)
        monkeypatch.setattr(assess_module, "runnable", runnable)
        return cast("Written", written(0))

    return make


@pytest.mark.parametrize(
    ("confidences", "contradicted", "faulty", "chosen"),
    [
        ([0.6, 0.3, 0.9], set(), frozenset(), 0),
        ([0.2, 0.3, 0.9], {0}, frozenset(), 2),
        ([0.2, 0.3, 0.9], {0, 2}, frozenset(), 1),
        ([0.2, 0.3, 0.9], {0}, frozenset({2}), 1),
        ([0.6, 0.3, 0.5], {0}, frozenset(), 0),
        ([0.2, 0.9], {0}, frozenset({0, 1}), 0),
        ([0.2], {0}, frozenset(), 0),
    ],
)
def test_the_likeliest_that_contradicts_nothing_is_chosen(
    beam: Any, confidences: list[float], contradicted: set[int], faulty: frozenset[int], chosen: int
) -> None:
    found = assess_consistent(beam(confidences, contradicted, faulty), Reliability(), DEFAULT)
    assert found.written.number == chosen
