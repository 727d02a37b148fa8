"""The reasons of literals, in words."""

from __future__ import annotations

from fastsql.explanation.reasons import literal_reason
from fastsql.result import Literal


def test_a_literal_of_an_earlier_question_says_so() -> None:
    reason = literal_reason(Literal("bern", "turn", column="patients.city"), "How many are women?")
    assert (reason.target, reason.why) == ("patients.city = 'bern'", "of an earlier turn")
