"""What of the observations can be fitted on, and what is said where there are too few of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastsql.errors import FastSQLError
from fastsql.training.calibration.observe import Observation
from fastsql.training.calibration.questions import (
    ANSWERABLE,
    AS_WRITTEN,
    BY_PEOPLE,
    FOREIGN,
    FOREIGN_MADE,
    PLAIN,
    SEEN,
    UNSEEN,
    Question,
)

LEAST = 5
"""Unanswerable questions below which u is not fitted: it has about ten weights."""
FEW = 20
"""Right parses, or wrong ones, below which p is said to be known roughly."""
_MORE = "Hold out more: data.dev_templates and data.dev_examples of the configuration."


class CalibrationError(FastSQLError):
    """A confidence cannot be fitted."""


def usable(observations: Sequence[Observation]) -> tuple[tuple[Observation, ...], tuple[str, ...]]:
    """The observations that can be fitted on, in their order, and for all that could not be fitted well, a sentence.

    Raises CalibrationError where p cannot be fitted: no question with an answer was parsed, all parses are right or all are
    wrong, or all are of one template, of which no fold could be held out.
    """
    own = [item for item in observations if item.question.part not in (FOREIGN, FOREIGN_MADE)]
    answerable = [item for item in own if item.question.part in BY_PEOPLE]
    plain = [item for item in own if item.question.part == PLAIN]
    unanswerable = [item for item in own if item.question.part not in ANSWERABLE]
    foreign = [item for item in observations if item.question.part == FOREIGN]
    made = [item for item in observations if item.question.part == FOREIGN_MADE]
    check_questions(item.question for item in observations)
    _check_right(answerable)
    said = []
    rarer = min((_right(answerable), "right"), (len(answerable) - _right(answerable), "wrong"))
    if rarer[0] < FEW:
        said.append(
            f"p is known roughly: of {len(answerable)} parses of questions with an answer, {rarer[0]} "
            f"{_is(rarer[0])} {rarer[1]}."
        )
    if reason := _too_few(unanswerable):
        said.append(f"u was NOT fitted, so every question is taken to have an answer: {reason}.")
        unanswerable = []
    if foreign and (reason := _alike(foreign)):
        said.append(
            f"Nothing was fitted for schemas never seen, which are judged as the others are: {reason}."
        )
        foreign = made = []
    elif foreign and (reason := _too_few(made)):
        said.append(f"u was NOT fitted for schemas never seen: {reason}.")
        made = []
    kept = set(map(id, (*answerable, *plain, *unanswerable, *foreign, *made)))
    return tuple(item for item in observations if id(item) in kept), tuple(said)


def check_questions(questions: Iterable[Question]) -> None:
    """Raises CalibrationError where p cannot be fitted on these questions, whatever becomes of them."""
    templates = [question.group for question in questions if question.part in (SEEN, UNSEEN)]
    if not templates:
        what = "no question with an answer was held out, or nothing valid was written for any"
        raise CalibrationError(what, where="calibration", remedy=_MORE)
    if len(set(templates)) < 2:
        what = f"all of {len(templates)} questions with an answer are of one template"
        raise CalibrationError(what, where="calibration", remedy=_MORE)


def _check_right(answerable: Sequence[Observation]) -> None:
    right = _right(answerable)
    if right in (0, len(answerable)):
        raise CalibrationError(
            f"all of {len(answerable)} parses are {'right' if right else 'wrong'}",
            where="calibration",
            remedy=_MORE if right else "Train longer, or take more questions.",
        )


def _too_few(unanswerable: Sequence[Observation]) -> str:
    """Why unanswerable questions do not do; "" where they do."""
    asked = [item for item in unanswerable if item.question.part != AS_WRITTEN]
    if not asked:
        return "no question without an answer was parsed"
    if len(asked) < LEAST:
        return f"{len(asked)} questions without an answer are too few ({LEAST} are needed)"
    return "all questions without an answer are of one kind" if len(_groups(asked)) < 2 else ""


def _alike(foreign: Sequence[Observation]) -> str:
    """Why questions over databases that were held out whole do not do; "" where they do."""
    if len(_groups(foreign)) < 2:
        return "one database held out whole is too few"
    right = _right(foreign)
    if right in (0, len(foreign)):
        return f"all of {len(foreign)} parses are {'right' if right else 'wrong'}"
    return ""


def _right(observations: Sequence[Observation]) -> int:
    return sum(item.right for item in observations)


def _groups(observations: Sequence[Observation]) -> set[str]:
    return {item.question.group for item in observations}


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
