"""From actions to programs: reads what the decoder decided back as a program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.grammar.actions import CANDIDATE, COLUMN, END, PRODUCTION, SCHEMA_VALUE, START, STEP, TABLE, TURN
from fastsql.grammar.program import (
    EARLIER,
    ColumnRef,
    DerivedRef,
    Literal,
    Production,
    Program,
    TableRef,
    Terminal,
    TurnRef,
)
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.transitions import GroundingError, fill_in, transitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastsql.grammar.automaton import State


def read_program(decisions: Sequence[int], space: ActionSpace) -> Program:
    """The program that a complete sequence of decisions writes; forced actions are filled in.

    Raises GroundingError if the sequence is not one the automaton takes, or stops short.
    """
    return read_path(fill_in(decisions, space), space)


def read_path(path: Sequence[int], space: ActionSpace) -> Program:
    """The program that a path writes. Raises GroundingError for a path that no automaton took."""
    which = space.grammar.symbol("which")
    program: list[Terminal] = []
    start = -1
    for state, action, _, _ in transitions(path, space):
        kind, index = space.locate(action)
        if kind == START:
            start = index
        elif kind == STEP and state.symbol == which:
            reference = program[-1]
            assert isinstance(reference, ColumnRef)
            program[-1] = ColumnRef(reference.column, state.source_at(index))
        else:
            program.append(_terminal(kind, index, start, state))
    return tuple(program)


def _terminal(kind: int, index: int, start: int, state: State) -> Terminal:
    """What an action writes in a state; `start` is the token at which a free span has begun."""
    space = state.space
    if kind == PRODUCTION:
        return Production(space.grammar.productions[index])
    if kind == TABLE:
        return TableRef(index)
    if kind == TURN:
        return TurnRef(index)
    if kind == CANDIDATE:
        c = space.candidates[index]
        return _said(Literal(c.value, c.format, provenance=c.source, span=c.span), space)
    if kind == SCHEMA_VALUE:
        v = space.schema_values[index]
        return Literal(v.value, name=v.name, provenance="constant" if v.name else "schema")
    if kind == END:
        span = (int(space.tokens[start, 0]), int(space.tokens[index, 1]))
        return _said(Literal(space.text[span[0] : span[1]], provenance="span", span=span), space)
    assert state.scope is not None
    sources = state.scope.sources
    if kind == COLUMN:
        table = space.schema.columns[index].table
        asked = space.grammar.symbols[state.symbol]
        eligible = [
            k
            for k, s in enumerate(sources)
            if s.table == table and not (asked == "earlier" and k == len(sources) - 1)
        ]
        return ColumnRef(index, eligible[-1])  # of several, the `which` that follows decides
    for k, source in enumerate(sources):
        for i, item in enumerate(source.items):
            if item.step == index:
                return DerivedRef(k, i)
    raise GroundingError("a step points at nothing in scope")


def _said(literal: Literal, space: ActionSpace) -> Literal:
    """A literal that was read from the text of a question, or from behind it, where values of earlier turns stand."""
    if space.length is None or literal.span is None or literal.span[0] < space.length:
        return literal
    return replace(literal, provenance=EARLIER, span=None)
