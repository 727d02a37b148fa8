"""Which of the legal actions a search may take: those that say what exists, compare what can be compared, follow keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.comparing import is_sensible, weighs
from fastsql.grammar.grounding import binds, is_grounded
from fastsql.grammar.joining import is_keyed, joins
from fastsql.grammar.matching import binds_pattern, matches
from fastsql.grammar.subqueries import follows, seeks

if TYPE_CHECKING:
    from fastsql.grammar.state import State


def chooses(state: State) -> bool:
    """Whether some legal action may be one to pass over."""
    cell = state.stack
    return (
        binds(state)
        or binds_pattern(state)
        or weighs(state)
        or (cell is not None and joins(state, cell))
        or seeks(state)
    )


def is_takable(state: State, action: int) -> bool:
    """Whether a search may take a legal action. Where it may take none, it takes any."""
    return (
        is_grounded(state, action)
        and matches(state, action)
        and is_sensible(state, action)
        and is_keyed(state, action)
        and follows(state, action)
    )
