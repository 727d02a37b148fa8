"""From actions to programs: reads what the decoder decided back as a program.

A path is every action of a query in its order, those included that were the only legal ones; a forced action is written
as its complement, ``~action``, as it counts as no decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastsql.grammar.automaton import IllegalActionError, State
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Production, Program, TableRef, Terminal
from fastsql.grammar.space import (
    CANDIDATE,
    COLUMN,
    END,
    PRODUCTION,
    SCHEMA_VALUE,
    START,
    STEP,
    TABLE,
    ActionSpace,
)
from fastsql.grammar.trace import GroundingError

if TYPE_CHECKING:
    from collections.abc import Sequence


def read_program(actions: Sequence[int], space: ActionSpace) -> Program:
    """The program that a complete sequence of decisions writes; forced actions are filled in.

    Raises GroundingError if the sequence is not one the automaton takes, or stops short.
    """
    return read_path(fill_in(actions, space), space)


def fill_in(actions: Sequence[int], space: ActionSpace) -> tuple[int, ...]:
    """The path of a complete sequence of decisions.

    Raises GroundingError if the sequence is not one the automaton takes, or stops short.
    """
    state = State.start(space)
    path: list[int] = []
    queue = list(reversed(actions))
    while not state.finished:
        legal = state.legal()
        forced = len(legal) == 1
        if forced:
            action = int(legal[0])
        elif queue:
            action = int(queue.pop())
            if not np.any(legal == action):
                raise GroundingError("an action is not legal where it stands")
        else:
            raise GroundingError("the actions stop before the query is complete")
        path.append(~action if forced else action)
        state = state.advance(action, decision=not forced)
    if queue:
        raise GroundingError("actions are left over after the end")
    return tuple(path)


def read_path(path: Sequence[int], space: ActionSpace) -> Program:
    """The program that a path writes. What is legal is not asked again: the path is one that an automaton took.

    Raises GroundingError for one that is none.
    """
    state = State.start(space)
    which = space.grammar.symbol("which")
    program: list[Terminal] = []
    start = -1
    for step in path:
        action, forced = (step, False) if step >= 0 else (~step, True)
        if state.finished:
            raise GroundingError("actions are left over after the end")
        before, scope, asked = state, state.scope, state.symbol
        try:
            kind, index = space.locate(action)
            state = state.advance(action, decision=not forced)
        except (IllegalActionError, IndexError) as error:
            raise GroundingError("an action is not legal where it stands") from error
        if kind == START:
            start = index
        elif kind == STEP and asked == which:
            reference = program[-1]
            assert isinstance(reference, ColumnRef)
            program[-1] = ColumnRef(reference.column, before.source_at(index))
        else:
            program.append(_terminal(kind, index, scope, space, start, space.grammar.symbols[asked]))
    if not state.finished:
        raise GroundingError("the actions stop before the query is complete")
    return tuple(program)


def _terminal(kind: int, index: int, scope: object, space: ActionSpace, start: int, asked: str) -> Terminal:
    if kind == PRODUCTION:
        return Production(space.grammar.productions[index])
    if kind == TABLE:
        return TableRef(index)
    if kind == CANDIDATE:
        c = space.candidates[index]
        return Literal(c.value, c.format, provenance=c.source, span=c.span)
    if kind == SCHEMA_VALUE:
        v = space.schema_values[index]
        return Literal(v.value, name=v.name, provenance="constant" if v.name else "schema")
    if kind == END:
        span = (int(space.tokens[start, 0]), int(space.tokens[index, 1]))
        return Literal(space.text[span[0] : span[1]], provenance="span", span=span)
    sources = getattr(scope, "sources")  # noqa: B009
    if kind == COLUMN:
        table = space.schema.columns[index].table
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
