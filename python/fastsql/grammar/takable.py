"""Which of the legal actions a search may take: those that say what exists and compare what can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.comparing import is_sensible, weighs
from fastsql.grammar.grounding import binds, is_grounded

if TYPE_CHECKING:
    from fastsql.grammar.state import State


def chooses(state: State) -> bool:
    """Whether some legal action may be one to pass over."""
    return binds(state) or weighs(state)


def is_takable(state: State, action: int) -> bool:
    """Whether a search may take a legal action. Where it may take none, it takes any."""
    return is_grounded(state, action) and is_sensible(state, action)
