"""Between turns: which reading of a refused question was meant, where the next one says so ("yes", "the second")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastsql.limits import Limits
from fastsql.parser.assess import Assessed, assess
from fastsql.parser.write import program_of, runnable
from fastsql.refusal.corrections import confirmed
from fastsql.refusal.describe import describe
from fastsql.refusal.texts import language_of
from fastsql.reliability.judges import Assessment
from fastsql.session.turn import Turn

CERTAIN = Assessment(1.0, 0.0)
"""What was meant is for whoever asks to say: a reading that they confirm is no longer the model's guess."""


def confirmation(question: object, history: Sequence[object]) -> tuple[str | None, str]:
    """The refused question before this one and the description of the reading of it that is confirmed, if there is one."""
    last = history[-1]
    if not isinstance(last, Turn) or not last.abstained or not isinstance(question, str):
        return None, ""
    description = confirmed(question, last.suggestions)
    return (None, "") if description is None else (last.question, description)


def as_confirmed(assessed: Assessed, description: str, limits: Limits) -> Assessed:
    """The hypothesis that is described so, its own part certain; what was assessed where none is."""
    written = assessed.written
    linked, decoded = written.linked, written.decoded
    language = language_of(linked.question)
    for number in (written.number, *written.others):
        if describe(program_of(linked, decoded, number), written.schema, language) != description:
            continue
        found = assessed
        if number != written.number:
            other = runnable(written, number, limits)
            if other is None:
                break
            found = assess(other, assessed.reliability)
        return replace(found, standing={**found.standing, linked.number: CERTAIN}, confirmed=True)
    return assessed
