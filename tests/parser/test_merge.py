"""Hypotheses that become one query are one hypothesis."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastsql.decode import Hypothesis
from fastsql.engine import Decoded
from fastsql.grammar import sql_to_program
from fastsql.grammar.trace import trace_program
from fastsql.grammar.transitions import fill_in
from fastsql.parser.link import Linked
from fastsql.parser.merge import merged

from ..worlds.toy_bundle import load_toy
from ..worlds.training_ward import SCHEMA


def found(toy_bundle: Path, question: str, *beam: tuple[str, tuple[float, ...]]) -> tuple[Linked, Decoded]:
    """A question as linked, and a search that found queries with these conditions, their decisions as likely as is said."""
    written: Any = load_toy(toy_bundle).parse(question, SCHEMA).background.written  # type: ignore[union-attr]
    linked, decoded = written.linked, written.decoded
    finished = []
    for condition, scores in beam:
        program = sql_to_program(f"SELECT COUNT(*) FROM prescriptions WHERE {condition}", SCHEMA)
        actions = tuple(trace_program(program, linked.space).actions.tolist())
        scores = (*scores, *(0.0,) * (len(actions) - len(scores)))
        finished.append(
            Hypothesis(actions, scores, tuple(fill_in(actions, linked.space)), (0.0,) * len(actions))
        )
    return linked, replace(decoded, search=replace(decoded.search, finished=tuple(finished)))


def test_they_are_as_likely_as_they_were_together(toy_bundle: Path) -> None:
    linked, decoded = found(
        toy_bundle,
        "doses of at least 80",
        ("dose > 80", (-0.1, -1.0)),
        ("hadm_id > 80", (-0.1, -1.1)),
        ("dose >= 80", (-0.1, -1.2)),
        ("hadm_id < 80", (-0.1, -1.3)),
        ("dose < 80", (-0.1, -2.0)),
    )
    first, second = merged(linked, decoded).search.finished
    assert first.score == pytest.approx(-0.1 + math.log(sum(map(math.exp, (-1.0, -1.2, -2.0)))))
    assert second.score == pytest.approx(-0.1 + math.log(math.exp(-1.1) + math.exp(-1.3)))
    # The likeliest of each stands for it, and its surest decision stays as sure as it was.
    assert [first.path, second.path] == [one.path for one in decoded.search.finished[:2]]
    assert first.log_probabilities[0] == -0.1


def test_together_they_may_come_first(toy_bundle: Path) -> None:
    linked, decoded = found(
        toy_bundle,
        "doses of at least 80",
        ("hadm_id >= 80", (-1.0,)),
        ("dose > 80", (-1.2,)),
        ("dose < 80", (-1.2,)),
    )
    first, second = merged(linked, decoded).search.finished
    assert (first.path, second.path) == tuple(decoded.search.finished[place].path for place in (1, 0))


def test_no_probability_exceeds_one(toy_bundle: Path) -> None:
    linked, decoded = found(
        toy_bundle, "doses of at least 80", ("dose > 80", (-0.1,)), ("dose >= 80", (-0.1,))
    )
    (only,) = merged(linked, decoded).search.finished
    assert only.score == 0.0


@pytest.mark.parametrize("question", ["doses of 80", "doses of at least 80"])
def test_other_queries_stay_as_they_are(question: str, toy_bundle: Path) -> None:
    linked, decoded = found(toy_bundle, question, ("dose >= 80", (-0.1,)), ("hadm_id >= 80", (-0.2,)))
    assert merged(linked, decoded) is decoded


def test_what_is_not_said_keeps_its_rivals(toy_bundle: Path) -> None:
    linked, decoded = found(toy_bundle, "doses of 80", ("dose = 80", (-0.1,)), ("dose > 80", (-0.2,)))
    assert merged(linked, decoded) is decoded
