"""States by the names of what led to them, and by gold queries."""

from __future__ import annotations

from collections.abc import Iterator

from fastsql.grammar import ActionSpace, State, sql_to_program, trace_program
from fastsql.grammar.actions import COLUMN, PRODUCTION, TABLE


def unforced(state: State) -> State:
    """The state behind all actions that are the only legal ones."""
    while len(state.legal()) == 1:
        state = state.advance(int(state.legal()[0]), decision=False)
    return state


def state_after(space: ActionSpace, *steps: str) -> State:
    """The state after productions, tables and columns by name; forced actions between them come of themselves."""
    state, schema = State.start(space), space.schema
    for step in steps:
        state = unforced(state)
        if step in space.grammar.productions:
            action = space.grammar.productions.index(step)
        elif "." in step:
            action = space.flat(COLUMN, schema.column_index(*step.split(".")))
        else:
            action = space.flat(TABLE, schema.table_index(step))
        state = state.advance(action)
    return state


def columns(state: State, *, all_legal: bool = False) -> set[str]:
    """The columns that a search may take, or that are legal."""
    space = state.space
    actions = state.legal() if all_legal else state.legal()[state.takable()]
    found = (space.locate(int(action)) for action in actions)
    return {space.schema.qualified_name(index) for kind, index in found if kind == COLUMN}


def productions(state: State) -> set[str]:
    """The productions that a search may take."""
    found = (state.space.locate(int(action)) for action in state.legal()[state.takable()])
    return {state.space.grammar.productions[index] for kind, index in found if kind == PRODUCTION}


def decisions(space: ActionSpace, sql: str) -> Iterator[tuple[State, int]]:
    """Each state of a query with the decision that is made there."""
    state = State.start(space)
    for action in trace_program(sql_to_program(sql, space.schema), space).actions.tolist():
        state = unforced(state)
        yield state, action
        state = state.advance(action)
