"""What went wrong, question by question. Several categories may hold at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastsql.evaluation.clauses import CLAUSES
from fastsql.evaluation.judged import Judged

DECISIONS: Mapping[str, str] = {
    "answered wrongly": "a wrong answer to a question that has one",
    "answered the unanswerable": "a question without an answer was answered",
    "refused though right": "the best hypothesis was right, but refused",
    "refused and wrong": "the best hypothesis was wrong, and refused",
}
"""How the decision to answer or refuse went wrong, or made good a wrong hypothesis."""

QUERIES: Mapping[str, str] = {
    "no query": "no hypothesis, or an error of the parser",
    "does not run": "SQLite rejects the query, or it fails",
    "out of time": "the query was stopped at the time limit",
    "not comparable": "gold or the query has no canonical form: it does not fit the schema, or is too large",
    **CLAUSES,
    "same form": "the same form as gold, but another result: ties in an order, or rows beyond those compared",
}
"""What is wrong with wrong best hypotheses, refused or not. The clauses are those of `fastsql.evaluation.clauses`."""


def decision_of(item: Judged) -> str | None:
    """The key of `DECISIONS` that holds, if any."""
    if not item.answerable:
        return None if item.prediction.abstained else "answered the unanswerable"
    if item.prediction.abstained:
        return "refused though right" if item.right else "refused and wrong"
    return None if item.right else "answered wrongly"


def faults_of(item: Judged) -> tuple[str, ...]:
    """The keys of `QUERIES` that hold for the best hypothesis; none if it is right, or there is no gold to compare with."""
    if not item.answerable or item.right:
        return ()
    if item.prediction.sql is None:
        return ("no query",)
    verdict = item.verdict
    faults = ["out of time" if verdict.timed_out else "does not run"] if verdict.runs is False else []
    if verdict.differences is None:
        faults.append("not comparable")
    else:
        faults += verdict.differences or (() if faults else ("same form",))
    return tuple(faults)


def sort_by_category(judged: Iterable[Judged]) -> dict[str, dict[str, list[Judged]]]:
    """The questions of every category under "decisions" and "queries", the most confident first; empty ones are left out."""
    decisions: dict[str, list[Judged]] = {name: [] for name in DECISIONS}
    queries: dict[str, list[Judged]] = {name: [] for name in QUERIES}
    for item in sorted(judged, key=lambda item: -item.prediction.confidence):
        decision = decision_of(item)
        if decision is not None:
            decisions[decision].append(item)
        for fault in faults_of(item):
            queries[fault].append(item)
    sorted_out = {"decisions": decisions, "queries": queries}
    return {
        kind: {name: items for name, items in found.items() if items} for kind, found in sorted_out.items()
    }
