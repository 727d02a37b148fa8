"""Where a question belongs to a conversation: the earlier turns that it is given, and the turn that it becomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.errors import ModelError, SchemaError
from fastsql.grammar.inlining import renumbered, turns_of
from fastsql.grammar.reading_turns import read_turn
from fastsql.grammar.render.references import render_references
from fastsql.grammar.turn_kinds import kinds_of
from fastsql.linking.turns import EarlierTurn
from fastsql.parser.assess import Assessed, assess
from fastsql.parser.link import called_turns
from fastsql.parser.write import Written, is_sensible, program_of, runnable
from fastsql.refusal.corrections import repaired
from fastsql.refusal.references import points_back, refers_back
from fastsql.reliability.assess import Assessment
from fastsql.result import Result
from fastsql.schema import names_digest
from fastsql.session.turn import Turn, TurnState, window

if TYPE_CHECKING:
    from fastsql.grammar.program import Program
    from fastsql.limits import Limits
    from fastsql.parser.link import Linked
    from fastsql.parser.parser import Parser
    from fastsql.schema import Schema


ALONE = 0.95
"""How sure a question of a conversation must be, read by itself, for its earlier turns not to be read as well."""
GOING_ON = math.e
"""What the odds of a reading that goes on from earlier turns count against those of the one by itself: "only over 60s" can
be read either way, and how sure single questions are does not say that it seldom stands alone."""

SURE = 0.9
"""How sure a question's own part must be for it not to be read as one text with earlier ones as well."""
ONE_TEXT = 0.4
"""What the probability of a query counts where it is that of the one text, beside the one that it has as going on."""

ONE_TEXT_KIND = ("modifying",)
"""The kind of a question that is one text with earlier ones: it asks anew what they ask, and changes it, in whatever way."""


def next_number(history: Sequence[Turn]) -> int:
    """The number of the turn after these."""
    return 1 + max((turn.number for turn in history), default=0)


def correction(question: object, history: Sequence[object]) -> str | None:
    """What is asked where a question puts the one before it right, which was refused; None where it does not."""
    last = history[-1]
    if not isinstance(last, Turn) or not last.abstained or not isinstance(question, str):
        return None
    meant = repaired(question, last.question, last.suggestions)
    before = last.question.removesuffix(last.asked) if _says_again(last) else ""
    return None if meant is None else meant.removeprefix(before)  # what it goes on from is read with it anew


def known_turns(history: Sequence[Turn], schema: Schema, parser: Parser) -> tuple[Turn, ...]:
    """The turns that a question is given: the latest that have a query, as far as the limits go.

    Raises TypeError for what is no turn, SchemaError for turns over other tables or columns, ModelError for those that
    another model has read.
    """
    names, limits = names_digest(schema), parser.limits
    for turn in history:
        if not isinstance(turn, Turn):
            raise TypeError(f"history is the turns of a conversation, not {type(turn).__name__}")
        if turn.state is None:
            continue
        if turn.state.schema != names:
            raise SchemaError(
                "its tables and columns are not those that the conversation is about",
                where=f"schema {schema.name!r}, turn {turn.number}",
                remedy="Begin a new conversation.",
            )
        if turn.state.model != parser.bundle.config.name:
            raise ModelError(
                f"it has not read turn {turn.number}, which {turn.state.model!r} has",
                where=f"the model {parser.bundle.config.name!r}",
                remedy="Ask with the model that the conversation began with, or begin a new one.",
            )
    return window(history, limits.turns, limits.turn_entries)


def must_continue(linked: Linked) -> bool:
    """Whether a question speaks of earlier turns whatever its query is: it calls one by its number, or says "those"."""
    return bool(called_turns(linked)) or points_back(linked.question)


def may_continue(alone: Assessed) -> bool:
    """Whether a question's earlier turns are read as well: unless it is clear by itself, and speaks of nothing before it."""
    return alone.confidence < ALONE or refers(alone)


def refers(alone: Assessed) -> bool:
    """Whether a question speaks of what was said before, as far as its own words tell."""
    linked = alone.written.linked
    return bool(called_turns(linked)) or refers_back(linked.question, [link.span for link in alone.links])


def likelier(alone: Assessed, continued: Assessed) -> Assessed:
    """Which of two readings of a question is given: by itself, or as one that may refer to earlier turns.

    How sure each is of this question's own part decides: what earlier turns were in doubt about says nothing of whether it
    refers to them. A reading that does refer has the benefit of the doubt (`GOING_ON`). Where it is not given all the same,
    it is open what is meant. How sure the other is then says also how likely the question is to stand by itself: its
    probability counts twice. A question that speaks of "those" does not stand by itself.
    """
    number = alone.written.linked.number
    own = alone.standing[number]
    benefit = GOING_ON if continued.written.earlier else 1.0
    if benefit * _odds(continued.standing[number].confidence) > _odds(own.confidence):
        return continued
    if not continued.written.earlier:
        return alone
    if refers(alone):
        return continued
    doubted = Assessment(own.confidence**2, own.unanswerable)
    return replace(alone, standing={**alone.standing, number: doubted})


def in_doubt(given: Assessed) -> bool:
    """Whether a question is read as one text with earlier ones, too: not where it is sure, or calls a turn by its number."""
    linked = given.written.linked
    return given.standing[linked.number].confidence < SURE and not called_turns(linked)


def pooled(going_on: Assessed, one_text: Assessed, limits: Limits, *, inspected: bool) -> Assessed:
    """The likeliest query of two readings together: as going on from earlier turns, and as one text with their questions.

    Each query counts with what either reading gives it. Neither knows better than the other which of the two is right, but a
    query that both find is likelier so than one that either has to itself; it is given with its references. Where answers
    were looked at, only what either would give is compared. What a reading passed over is not taken up again.
    """
    if one_text.written.fault:
        return going_on
    if going_on.written.fault:
        return one_text
    found: dict[Program, tuple[float, Assessed, int]] = {}
    for reading, weight in ((going_on, 1.0), (one_text, ONE_TEXT)):
        written = reading.written
        for number, hypothesis in enumerate(written.decoded.search.finished):
            passed_over = number < written.number or not is_sensible(written.linked, written.decoded, number)
            if passed_over and number != written.number:
                continue
            program = program_of(written.linked, written.decoded, number)
            mass, first, place = found.get(program, (0.0, reading, number))
            found[program] = mass + weight * math.exp(hypothesis.rank), first, place
    given = {reading.written.program: reading for reading in (one_text, going_on)}
    best = max(given if inspected else found, key=lambda program: found[program][0])
    _, reading, number = found[best]
    if inspected:
        return given[best]
    if number == reading.written.number:
        return reading
    other = runnable(reading.written, number, limits)
    return going_on if other is None else assess(other, reading.reliability)


def said_together(reading: Written) -> tuple[Turn, ...]:
    """The earlier turns that a question may be one text with: all since the first that this reading of it goes on from.

    It may do so by way of others. Where it goes on from none, the latest may be meant. What a later one of them says again
    itself is not said twice. None where the first is not among the turns that the question is given.
    """
    turns = [turn for turn in reading.linked.turns or () if turn.usable]
    used = {turn.number for turn in reading.uses} or {turn.number for turn in turns[-1:]}
    for turn in reversed(turns):
        if turn.number in used and not _says_again(turn):
            used.update(turn.uses)
    first = min(used)
    if all(turn.number != first for turn in turns):
        return ()
    told = [turn for turn in turns if turn.number >= first]
    said = {number for turn in told if _says_again(turn) for number in turn.uses}
    return tuple(turn for turn in told if turn.number not in said)


def _says_again(turn: Turn) -> bool:
    """Whether its question is one text with those of the turns that it uses."""
    return turn.kind == ONE_TEXT_KIND and turn.state is not None and not turns_of(turn.state.written)


def _odds(probability: float) -> float:
    return probability / max(1 - probability, 1e-6)


def as_turn(result: Result, assessed: Assessed, model: str) -> Turn:
    """A result as a turn of its conversation, with what later questions need of it."""
    written = assessed.written
    linked, own = written.linked, written.own
    state = None
    if not written.fault:
        state = TurnState(
            EarlierTurn(read_turn(written.program, linked.space), written.decoded.pooled),
            renumbered(own, [turn.number for turn in linked.turns or ()]),
            names_digest(linked.space.schema),
            model,
        )
    return Turn.of(
        result,
        number=linked.number,
        uses=tuple(turn.number for turn in written.earlier),
        kind=_kinds(written),
        standing=assessed.standing,
        state=state,
        referring=_with_tokens(written) if turns_of(own) else None,
    )


def _kinds(written: Written) -> tuple[str, ...]:
    """Those of its program; one that takes only a value from an earlier turn refers to it none the less."""
    if written.linked.together:
        return ONE_TEXT_KIND
    kinds = kinds_of(written.own, [turn.program for turn in written.linked.space.turns])
    return ("referential",) if written.uses and kinds == ("independent",) else kinds


def _with_tokens(written: Written) -> str:
    turns = written.linked.turns or ()
    return render_references(
        written.own,
        written.program,
        [turn.program for turn in written.linked.space.turns],
        [turn.number for turn in turns],
        written.schema,
        dialect=written.dialect,
        now=written.now,
    )
