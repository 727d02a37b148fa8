"""The decisions of a finished hypothesis in words, each with how many actions the automaton offered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastsql.explanation.trail import Decision, Span
from fastsql.grammar.actions import CANDIDATE, END, KINDS, PRODUCTION, SCHEMA_VALUE, START, STEP, TABLE
from fastsql.grammar.program import sql_literal
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.transitions import fill_in, transitions

if TYPE_CHECKING:
    from fastsql.decode import Hypothesis


def decisions_of(hypothesis: Hypothesis, space: ActionSpace) -> Iterator[Decision]:
    """The decisions of a finished hypothesis, in order, as the automaton saw them."""
    start = 0
    log_probabilities = iter(hypothesis.log_probabilities)
    for state, action, forced, _ in transitions(path_of(hypothesis, space), space):
        if forced:
            continue
        kind, index = space.locate(action)
        start = index if kind == START else start
        yield Decision(
            symbol=space.grammar.symbols[state.symbol],
            kind=KINDS[kind],
            choice=_choice(kind, index, start, space),
            legal=len(state.legal()),
            probability=math.exp(next(log_probabilities)),
            span=_pointed(kind, index, space),
        )


def path_of(hypothesis: Hypothesis, space: ActionSpace) -> Sequence[int]:
    """All actions of a finished hypothesis, those filled in that were forced."""
    return hypothesis.path or fill_in(hypothesis.actions, space)


def _choice(kind: int, index: int, start: int, space: ActionSpace) -> str:
    """An action in words; `start` is the token at which a free span has begun."""
    schema = space.schema
    if kind == PRODUCTION:
        return space.grammar.productions[index]
    if kind == TABLE:
        return schema.table_name(index)
    if kind == CANDIDATE:
        return sql_literal(space.candidates[index].value)
    if kind == SCHEMA_VALUE:
        standing = space.schema_values[index]
        return standing.name or sql_literal(standing.value)
    if kind == STEP:
        return f"what decision {index + 1} ended"
    if kind in (START, END):
        return space.span_text(start, index) if kind == END else space.span_text(index, index)
    return schema.qualified_name(index)


def _pointed(kind: int, index: int, space: ActionSpace) -> Span | None:
    if kind == CANDIDATE:
        return space.candidates[index].span
    if kind in (START, END):
        return int(space.tokens[index, 0]), int(space.tokens[index, 1])
    return None
