"""Questions for programs, and how likely a question is: what callers may count on."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.errors import LimitError
from fastsql.grammar.program import ColumnRef, Literal, Production, TableRef
from fastsql.reverse.model import ReverseError

from ..worlds.toy_reverse import QUERIES, SCHEMA, make_model, program

OVER = make_model().over(SCHEMA)
PROGRAMS = [program(sql) for sql in QUERIES]


def test_every_program_gets_as_many_questions_as_were_asked_for() -> None:
    found = OVER.questions(PROGRAMS, 3)
    assert [len(questions) for questions in found] == [3] * len(PROGRAMS)
    assert all(isinstance(question, str) for questions in found for question in questions)


def test_a_seed_draws_the_same_and_another_does_not() -> None:
    assert OVER.questions(PROGRAMS, 2, seed=4, style=None) == OVER.questions(PROGRAMS, 2, seed=4, style=None)
    assert OVER.questions(PROGRAMS, 2, seed=4) != OVER.questions(PROGRAMS, 2, seed=5)


def test_a_beam_has_no_chance_in_it() -> None:
    assert OVER.best(PROGRAMS[:2]) == OVER.best(PROGRAMS[:2])


def test_likelihoods_do_not_depend_on_what_is_judged_beside() -> None:
    questions = ["how many patients?", "gender of patients", "诊断 as a list of things", "age"]
    together = OVER.log_probability(questions, PROGRAMS)
    assert together.dtype == np.float64
    assert (together < 0).all()
    for question, one, expected in zip(questions, PROGRAMS, together, strict=True):
        assert OVER.log_probability([question], [one])[0] == pytest.approx(expected, rel=1e-4)


def test_a_question_in_pieces_that_nobody_knows_has_a_likelihood() -> None:
    assert np.isfinite(OVER.log_probability(["ꦱꦶ ꦥꦱ 肺炎 ???"], PROGRAMS[:1])).all()
    assert np.isfinite(OVER.log_probability([""], PROGRAMS[:1])).all()


def test_nothing_is_judged_where_nothing_is_given() -> None:
    assert OVER.log_probability([], []).shape == (0,)
    assert OVER.questions([], 2) == []


def test_an_empty_program_is_refused() -> None:
    with pytest.raises(ReverseError, match="empty"):
        OVER.questions([()])
    with pytest.raises(ReverseError, match="empty"):
        OVER.log_probability(["?"], [()])


def test_a_huge_literal_is_asked_about_like_any_other() -> None:
    huge = (
        TableRef(0),
        Production("eq"),
        ColumnRef(1, 0),
        Literal("a " * 50_000),
        Production("count_all"),
        Production("end"),
    )
    assert len(OVER.questions([huge], 2)[0]) == 2


def test_a_question_that_is_too_long_is_refused_without_its_text() -> None:
    with pytest.raises(LimitError) as refused:
        OVER.log_probability(["jane doe " * 1000], PROGRAMS[:1])
    assert "jane" not in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        {"n": 0},
        {"temperature": 0.0},
        {"temperature": float("nan")},
        {"nucleus": 0.0},
        {"nucleus": 1.5},
        {"style": "baroque"},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ReverseError):
        OVER.questions(PROGRAMS, **options)  # type: ignore[arg-type]


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ReverseError, match="no pairs"):
        OVER.log_probability(["one"], PROGRAMS)
    with pytest.raises(ReverseError, match="beam"):
        OVER.best(PROGRAMS, beam=0)
