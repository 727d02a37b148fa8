"""Every wrong question is counted under what is wrong with it, and no right one."""

from __future__ import annotations

import pytest

from fastsql.evaluation.categories import DECISIONS, QUERIES, decision_of, faults_of, sort_by_category
from fastsql.evaluation.judged import Judged

from .judging import judged, right, wrong


@pytest.mark.parametrize(
    ("item", "decision"),
    [
        (right("a"), None),
        (right("a", abstained=True), "refused though right"),
        (wrong("a"), "answered wrongly"),
        (wrong("a", abstained=True), "refused and wrong"),
        (judged("a", gold=None, abstained=True), None),
        (judged("a", gold=None), "answered the unanswerable"),
    ],
)
def test_decisions_are_told_apart(item: Judged, decision: str | None) -> None:
    assert decision_of(item) == decision


@pytest.mark.parametrize(
    ("item", "faults"),
    [
        (right("a", abstained=True), ()),
        (wrong("a", "sources", "nesting"), ("sources", "nesting")),
        (wrong("a"), ("same form",)),
        (wrong("a", sql=None, abstained=True, runs=None), ("no query",)),
        (wrong("a", "filters", runs=False), ("does not run", "filters")),
        (wrong("a", "filters", runs=False, timed_out=True), ("out of time", "filters")),
        (wrong("a", runs=False), ("does not run",)),
        (wrong("a", runs=False, differences=None), ("does not run", "not comparable")),
        (judged("a", gold=None, sql="SELECT 1"), ()),
    ],
)
def test_faults_are_those_of_wrong_hypotheses(item: Judged, faults: tuple[str, ...]) -> None:
    assert faults_of(item) == faults


def test_without_a_database_the_form_decides_what_is_wrong() -> None:
    assert faults_of(judged("a", em=True, em_values=False, differences=("values",))) == ("values",)
    assert faults_of(judged("a", em=True, em_values=True)) == ()


def test_questions_are_sorted_with_the_most_confident_first_and_may_lie_in_several_categories() -> None:
    items = [
        wrong("low", "filters", confidence=0.2),
        right("right"),
        wrong("high", "filters", "values", confidence=0.9),
    ]
    found = sort_by_category(items)
    names = {
        kind: {name: [item.prediction.id for item in part] for name, part in parts.items()}
        for kind, parts in found.items()
    }
    assert names == {
        "decisions": {"answered wrongly": ["high", "low"]},
        "queries": {"filters": ["high", "low"], "values": ["high"]},
    }


def test_categories_come_in_the_order_in_which_they_are_explained() -> None:
    items = [
        wrong("a", "values", "sources"),
        wrong("b", sql=None),
        right("c", abstained=True),
        judged("d", gold=None),
    ]
    found = sort_by_category(items)
    assert list(found["decisions"]) == [name for name in DECISIONS if name in found["decisions"]]
    assert list(found["queries"]) == [name for name in QUERIES if name in found["queries"]]
