"""The automaton's way through a query, action by action.

A path is every action of a query in its order, those included that were the only legal ones; a forced action is written
as its complement, ``~action``, as it counts as no decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fastsql.grammar.automaton import IllegalActionError, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastsql.grammar.program import Literal
    from fastsql.grammar.space import ActionSpace


class GroundingError(ValueError):
    """A query that cannot be written in this action space, such as one whose literal the question does not offer.

    `literal` is the literal that is missing, if it is one.
    """

    def __init__(self, reason: str, literal: Literal | None = None) -> None:
        super().__init__(reason)
        self.literal = literal


class Transition(NamedTuple):
    """An action between the two states that it connects."""

    before: State
    action: int
    forced: bool
    """Whether it was the only legal one."""
    after: State


def transitions(path: Sequence[int], space: ActionSpace) -> Iterator[Transition]:
    """The transitions of a path. What is legal is not asked again: the path is one that an automaton took.

    Raises GroundingError for another one.
    """
    state = State.start(space)
    for step in path:
        action, forced = (step, False) if step >= 0 else (~step, True)
        if state.finished:
            raise GroundingError("actions are left over after the end")
        try:
            after = state.advance(action, decision=not forced)
        except (IllegalActionError, IndexError) as error:
            raise GroundingError("an action is not legal where it stands") from error
        yield Transition(state, action, forced, after)
        state = after
    if not state.finished:
        raise GroundingError("the actions stop before the query is complete")


def forced_transitions(state: State) -> Iterator[Transition]:
    """The transitions that follow a state by themselves, up to the next decision or the end."""
    while not state.finished and len(legal := state.legal()) == 1:
        after = state.advance(int(legal[0]), decision=False)
        yield Transition(state, int(legal[0]), True, after)
        state = after


def fill_in(decisions: Sequence[int], space: ActionSpace) -> tuple[int, ...]:
    """The path of a complete sequence of decisions: the forced actions are filled in.

    Raises GroundingError if the sequence is not one the automaton takes, or stops short.
    """
    state = State.start(space)
    path: list[int] = []
    left = iter(decisions)
    while True:
        for transition in forced_transitions(state):
            path.append(~transition.action)
            state = transition.after
        action = next(left, None)
        if action is None:
            break
        if state.finished:
            raise GroundingError("actions are left over after the end")
        if action not in state.legal():
            raise GroundingError("an action is not legal where it stands")
        path.append(action)
        state = state.advance(action)
    if not state.finished:
        raise GroundingError("the actions stop before the query is complete")
    return tuple(path)
