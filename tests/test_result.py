"""A result shows itself briefly, in full to a notebook, and can leave its process."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from fastsql.result import Alternative, Link, Literal, Result

QUESTION = "How many <women> got aspirin?"
ANSWER = Result(
    QUESTION,
    "SELECT COUNT(*) FROM patients WHERE gender = 'f'",
    0.93,
    links=(
        Link((22, 29), "aspirin?", "value", "prescriptions.drug = 'aspirin'"),
        Link((9, 16), "<women>", "column", "patients.gender"),
    ),
    values=(Literal("f", "schema", None, "patients.gender"),),
    timings={"encode": 3.25, "decode": 4.0},
    render_alternatives=lambda: (Alternative("SELECT 1", 0.04),),
)
REFUSAL = Result("Why?", "SELECT 1", 0.12, abstained=True, reason="not sure enough")


def test_an_answer_has_sql() -> None:
    assert ANSWER.sql == ANSWER.best
    assert ANSWER


def test_a_refusal_has_none_but_keeps_its_best_hypothesis() -> None:
    assert REFUSAL.sql is None
    assert REFUSAL.best == "SELECT 1"
    assert not REFUSAL


def test_repr_is_one_short_line() -> None:
    assert repr(ANSWER) == "Result(\"SELECT COUNT(*) FROM patients WHERE gender = 'f'\", confidence=0.93)"
    assert repr(REFUSAL) == "Result(abstained, confidence=0.12, reason='not sure enough')"
    assert len(repr(Result("?", "SELECT " + "x" * 1000, 1.0))) < 130


def test_alternatives_are_rendered_once_and_only_when_asked_for() -> None:
    calls: list[int] = []

    def render() -> tuple[Alternative, ...]:
        calls.append(1)
        return (Alternative("SELECT 2", 0.1),)

    result = Result("?", "SELECT 1", 0.9, render_alternatives=render)
    assert calls == []
    assert result.alternatives == result.alternatives == (Alternative("SELECT 2", 0.1),)
    assert calls == [1]


def test_a_result_can_be_pickled_with_its_alternatives() -> None:
    copy = pickle.loads(pickle.dumps(ANSWER))
    assert copy.alternatives == (Alternative("SELECT 1", 0.04),)
    assert (copy.sql, copy.links, dict(copy.timings)) == (ANSWER.sql, ANSWER.links, dict(ANSWER.timings))


def test_a_result_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ANSWER.confidence = 1.0  # type: ignore[misc]


def test_html_marks_the_links_and_escapes_everything() -> None:
    page = ANSWER._repr_html_()
    assert '<mark title="patients.gender">&lt;women&gt;</mark>' in page
    assert "<women>" not in page
    assert "gender = &#x27;f&#x27;" in page
    assert "encode 3.2 ms" in page


def test_html_of_a_refusal_says_why() -> None:
    assert "Refused: not sure enough" in REFUSAL._repr_html_()


def test_html_survives_overlapping_links() -> None:
    links = (Link((0, 4), "Why?", "value", "x"), Link((2, 4), "y?", "value", "z"))
    assert dataclasses.replace(REFUSAL, links=links)._repr_html_().count("<mark") == 1
