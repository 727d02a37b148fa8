"""Walks the automaton through a finished program, whose question is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fastsql.grammar.actions import CANDIDATE, COLUMN, PRODUCTION, STEP, TABLE
from fastsql.grammar.automaton import State
from fastsql.grammar.compile import Grammar, load_grammar
from fastsql.grammar.program import ColumnRef, DerivedRef, Production, Program, TableRef, Terminal
from fastsql.grammar.space import ActionSpace
from fastsql.limits import DEFAULT
from fastsql.linking.candidate import Candidate
from fastsql.schema import Schema

_ANY_LITERAL = (Candidate(1, "number", (0, 1), "number"),)


def open_space(
    schema: Schema,
    grammar: Grammar | None = None,
    *,
    actions: int = DEFAULT.actions,
    strict_grouping: bool = False,
) -> ActionSpace:
    """An action space without a question, in which one candidate stands for every literal."""
    return ActionSpace.for_question(
        schema,
        "?",
        np.asarray([[0, 1]], dtype=np.int32),
        _ANY_LITERAL,
        grammar=grammar or load_grammar(),
        limits=replace(DEFAULT, actions=actions),
        strict_grouping=strict_grouping,
    )


def walk(program: Program, space: ActionSpace) -> Iterator[tuple[State, Terminal, State]]:
    """The states before and after each terminal of a program, in a space of `open_space`.

    Raises IllegalActionError where the grammar does not derive it; KeyError for a production that it does not know.
    """
    state = State.start(space)
    for terminal in program:
        after = take(state, terminal)
        yield state, terminal, after
        state = after


def take(state: State, terminal: Terminal) -> State:
    """The state after a terminal; of several sources of one table, the one that a column names is chosen along with it.

    Raises IllegalActionError where the frontier does not know it.
    """
    after = state.advance(_action(terminal, state))
    if (
        isinstance(terminal, ColumnRef)
        and not after.finished
        and after.symbol == state.space.grammar.symbol("which")
    ):
        source = after.scope.sources[terminal.source]
        after = after.advance(state.space.flat(STEP, source.step))
    return after


def _action(terminal: Terminal, state: State) -> int:
    space = state.space
    match terminal:
        case Production(name):
            return space.flat(PRODUCTION, space.grammar.production(name))
        case TableRef(table):
            return space.flat(TABLE, table)
        case ColumnRef(column):
            return space.flat(COLUMN, column)
        case DerivedRef(source, item):
            return space.flat(STEP, state.scope.sources[source].items[item].step)
    return space.flat(CANDIDATE, 0)
