"""Which of the legal actions a search may take: those that say what exists, compare what can be compared, follow keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.comparing import is_sensible, weighs
from fastsql.grammar.grounding import binds, is_grounded
from fastsql.grammar.joining import is_keyed, joins
from fastsql.grammar.matching import binds_pattern, matches
from fastsql.grammar.subqueries import follows, seeks

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastsql.grammar.state import State


RULES: tuple[tuple[Callable[[State], bool], Callable[[State, int], bool]], ...] = (
    (binds, is_grounded),
    (binds_pattern, matches),
    (weighs, is_sensible),
    (lambda state: state.stack is not None and joins(state, state.stack), is_keyed),
    (seeks, follows),
)
"""Whether a rule may pass over an action in a state, and whether it lets one be taken: all, where it passes over none."""


def chooses(state: State) -> bool:
    """Whether some legal action may be one to pass over."""
    return any(may_choose(state) for may_choose, _ in RULES)


def is_takable(state: State, action: int) -> bool:
    """Whether a search may take a legal action. Where it may take none, it takes any."""
    return all(lets(state, action) for _, lets in RULES)
