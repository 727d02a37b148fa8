"""The figures beyond the documented keys."""

from __future__ import annotations

import json

import pytest

from fastsql.evaluation import Report
from fastsql.evaluation.provenance import Provenance
from fastsql.evaluation.shares import Share

from .judging import judged, right, wrong

ITEMS = tuple(
    [right(f"r{number}", confidence=0.9, gold=f"SELECT c{number % 4}") for number in range(30)]
    + [wrong(f"w{number}", "filters", confidence=0.3, gold=f"SELECT c{number % 2}") for number in range(10)]
    + [judged(f"u{number}", gold=None, sql=None, confidence=0.05, abstained=True) for number in range(10)]
)


def test_intervals_hold_their_figures_and_are_wider_by_template() -> None:
    figures = Report(ITEMS, resamples=300).to_json()
    intervals = figures["details"]["intervals"]
    assert (intervals["level"], intervals["resamples"]) == (95, 300)
    figures.update({f"rs_{name}": value for name, value in figures["rs"].items()})
    for kind in ("by_example", "by_template"):
        for name in ("ex", "em", "em_values", "valid_sql", "rs_0", "rs_5", "rs_10", "rs_N"):
            low, high = intervals[kind][name]
            assert low <= figures[name] <= high, (kind, name)
    width = {
        kind: intervals[kind]["ex"][1] - intervals[kind]["ex"][0] for kind in ("by_example", "by_template")
    }
    assert width["by_template"] > width["by_example"]


def test_shares_of_few_have_wilsons_intervals_and_are_named() -> None:
    items = (*ITEMS, *(right(f"s{number}", confidence=0.9, gold="SELECT s") for number in range(10)))
    found = Report(items, resamples=50).to_json()["details"]["intervals"]
    # Ten questions without an answer, all refused; 50 with one, all answered; all SQL runs: a bootstrap would have no width.
    assert {"se", "sp", "valid_sql"} <= set(found["wilson"])
    assert "ex" not in found["wilson"]
    for kind in ("by_example", "by_template"):
        assert found[kind]["se"] == Share(10, 10).interval()
        assert found[kind]["valid_sql"] == Share(50, 50).interval()
    low, high = found["by_example"]["se"]
    assert (low, high) == (pytest.approx(72.25, abs=0.01), 100)


def test_seen_and_unseen_skeletons_have_intervals() -> None:
    items = [right(f"a{number}", seen=True) for number in range(3)] + [wrong("b", seen=False)]
    found = Report(tuple(items), resamples=20).to_json()["details"]["intervals"]
    assert found["by_template"]["seen.ex"] == Share(3, 3).interval()
    assert found["by_template"]["unseen.ex"] == Share(0, 1).interval()
    assert Report(ITEMS, resamples=20).to_json()["details"]["intervals"]["by_template"]["seen.ex"] is None


def test_the_seed_draws_the_bootstrap() -> None:
    def ends(seed: int) -> object:
        report = Report(ITEMS, Provenance(seed=seed), resamples=50)
        return report.to_json()["details"]["intervals"]["by_example"]["ece"]

    assert ends(1) == ends(1) != ends(2)


def test_intervals_are_the_same_on_every_run_and_can_be_left_out() -> None:
    one, same = (Report(ITEMS, resamples=50).to_json()["details"] for _ in range(2))
    assert one == same
    assert Report(ITEMS, resamples=0).to_json()["details"]["intervals"] is None


def test_refusals_are_counted_by_whether_there_was_an_answer() -> None:
    refused = [
        judged("a", gold=None, sql="SELECT 1", abstained=True),
        judged("b", gold=None, sql="SELECT 1"),
        judged("c", gold=None, sql=None, abstained=True),
        right("d", abstained=True, seen=False),
        right("e", seen=True),
        wrong("f", seen=True),
        wrong("g", abstained=True, seen=True),
        right("h", seen=False),
    ]
    details = Report(tuple(refused), resamples=50).to_json()["details"]
    assert (details["se"], details["sp"]) == (pytest.approx(66.6667), 60.0)
    assert (details["seen"]["sp"], details["seen"]["wrong"]) == (pytest.approx(66.6667), 1)
    assert (details["unseen"]["sp"], details["unseen"]["wrong"]) == (50.0, 0)
    low, high = details["intervals"]["by_example"]["sp"]
    assert low < 60 < high
    assert Report((right("a"),), resamples=0).to_json()["details"]["se"] is None


def test_an_interval_of_what_is_not_defined_is_null() -> None:
    items = [judged("a", em=True, em_values=True), judged("b", differences=("filters",))]
    found = Report(tuple(items), resamples=20).to_json()["details"]["intervals"]["by_example"]
    assert found["ex"] is None
    assert found["rs_10"] is None
    assert found["em"] is not None


def test_calibration_is_over_all_questions() -> None:
    found = Report(ITEMS, resamples=0).to_json()["details"]["calibration"]
    # All of 0.9 are right, all of 0.3 and 0.05 wrong; 15 bins of 50 questions cut between them here and there.
    assert found["ece"] == pytest.approx((30 * 0.1 + 10 * 0.3 + 10 * 0.05) / 50, abs=1e-4)
    assert sum(one["n"] for one in found["curve"]) == 50
    assert found["bins"] == 15
    assert found["coverage"] == {"90": 60.0, "95": 60.0, "99": 60.0}


def test_the_figures_hold_no_question_and_no_value() -> None:
    secret = wrong(
        "a",
        "values",
        question="Where is Maria Hyperion?",
        gold="SELECT x FROM t WHERE name = 'Hyperion'",
        sql="SELECT x FROM t WHERE name = 'Hyperion 2'",
        template="Where is Maria Hyperion?",
        extra={"q_tag": "Where is Maria Hyperion?"},
    )
    report = Report((secret,), resamples=10)
    assert "Hyperion" not in json.dumps(report.to_json())
    assert "Hyperion" not in repr(report)
