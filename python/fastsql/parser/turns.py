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
from fastsql.parser.assess import Assessed
from fastsql.parser.link import called_turns
from fastsql.parser.write import Written
from fastsql.refusal.corrections import repaired
from fastsql.refusal.references import only_limits, points_back, refers_back
from fastsql.reliability.judges import Assessment
from fastsql.result import Result
from fastsql.schema import names_digest
from fastsql.session.turn import Turn, TurnState, window

if TYPE_CHECKING:
    from fastsql.decode import Hypothesis
    from fastsql.parser.link import Linked
    from fastsql.parser.parser import Parser
    from fastsql.schema import Schema


ALONE = 0.95
"""How sure a question of a conversation must be, read by itself, for its earlier turns not to be read as well."""
LENGTH = 15
"""Tokens of a question that is as likely to go on from earlier turns as to stand by itself, like longer ones. Shorter ones
go on the likelier, by the square of this against their length: "only over 60s" seldom stands alone."""


def next_number(history: Sequence[Turn]) -> int:
    """The number of the turn after these."""
    return 1 + max((turn.number for turn in history), default=0)


def correction(question: object, history: Sequence[object]) -> str | None:
    """What is asked where a question puts the one before it right, which was refused; None where it does not."""
    last = history[-1]
    if not isinstance(last, Turn) or not last.abstained or not isinstance(question, str):
        return None
    return repaired(question, last.question, last.suggestions)


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
    """Whether a question speaks of earlier turns whatever its query is: it calls one by its number, says "those", or limits
    an answer and asks for none.
    """
    return bool(called_turns(linked)) or points_back(linked.question) or only_limits(linked.question)


def may_continue(alone: Assessed) -> bool:
    """Whether a question's earlier turns are read as well: unless it is clear by itself, and speaks of nothing before it."""
    return alone.confidence < ALONE or refers(alone)


def refers(alone: Assessed) -> bool:
    """Whether a question speaks of what was said before, as far as its own words tell."""
    linked = alone.written.linked
    return bool(called_turns(linked)) or refers_back(linked.question, [link.span for link in alone.links])


def likelier(alone: Assessed, continued: Assessed) -> Assessed:
    """Which of two readings of a question is given: by itself, or as one that may refer to earlier turns.

    The likelier one, by what the decoder gives to the query of either, by what a reranker says of them where it was asked
    about both, and by how long the question is (`LENGTH`); how sure
    either is, as probabilities were fitted on questions of their own kind, does not tell which kind this one is. Where the
    reading that refers is not given all the same, it is open what is meant: the other's probability counts twice. A question
    that speaks of "those" does not stand by itself.
    """
    number = alone.written.linked.number
    length = max(alone.written.linked.prepared.question_tokens, 1)
    prior = max(0.0, 2 * math.log(LENGTH / length))
    rated = bool(_given(alone).rating and _given(continued).rating)
    if prior + _log_probability(continued, rated=rated) > _log_probability(alone, rated=rated):
        return continued
    if not continued.written.uses:
        return alone
    if refers(alone):
        return continued
    own = alone.standing[number]
    doubted = Assessment(own.confidence**2, own.unanswerable)
    return replace(alone, standing={**alone.standing, number: doubted})


def _log_probability(reading: Assessed, *, rated: bool) -> float:
    """Its rank, and with `rated` the log-odds by a reranker at their weight; a likelihood only one of the readings has."""
    one = _given(reading)
    second = reading.reliability.elsewhere and reading.reliability.elsewhere.second
    weight = second.weights.rating if second and rated else None
    return one.rank if weight is None else one.rank + weight * one.rating


def _given(reading: Assessed) -> Hypothesis:
    """The hypothesis of its query."""
    return reading.written.decoded.search.finished[reading.written.number]


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
        uses=tuple(turn.number for turn in written.uses),
        kind=_kinds(written),
        standing=assessed.standing,
        state=state,
        referring=_with_tokens(written) if turns_of(own) else None,
    )


def _kinds(written: Written) -> tuple[str, ...]:
    """Those of its program; one that takes only a value from an earlier turn refers to it none the less."""
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
