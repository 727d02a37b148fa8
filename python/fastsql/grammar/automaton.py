"""The grammar's pushdown automaton: which actions may come next, and what each one changes.

Whatever is offered can be completed: every alternative is offered only if its cheapest completion fits in the step budget,
if the columns, tables and literals that it must point at exist, and if nesting allows.

The native core has the same automaton, mask for mask. Files of one name hold functions of the same names in the same order,
to be read side by side; `tests/grammar/test_twins.py` sees to that, and `tests/native` walks through queries in both.

=============================  ===================================================================================
`fastsql/grammar`              `csrc/grammar`
=============================  ===================================================================================
`actions.py`, `reading.py`     `numbering.h`: kinds, pointers, effects, requirements
`bounds.py`                    `views.h`: `Bounds`
`compile.py`                   `grammar.h`, `views.h`: the compiled grammar
`space.py`                     `action_space.h`, and `literals.h`: which literals and tokens fit what
`state.py`                     `state.h`: what a state holds
`scope.py`                     `scope.h`: what the rules ask of a query's scope
`effects.py`                   `effects.h`: what completing a construct changes
`grouping.py`                  `grouping.h`: strict grouping
`routes.py`                    `routes.h`: joins along keys
`pointed.py`                   `pointed.h`: what a pointer may point at
`mask.py`                      `mask.h`: what may come next
`grounding.py`                 `grounding.h`: which of it says literals that exist
`matching.py`                  `matching.h`: which of it says patterns that match
`comparing.py`                 `comparing.h`: which of it compares what can be compared
`joining.py`                   `joining.h`: which of it joins tables on keys
`subqueries.py`                `subqueries.h`: which of it selects the keys that a subquery is compared with
`takable.py`                   `takable.h`: all four
`step.py`                      `step.h`: what an action changes
`turns.py`                     `turns.h`: what earlier turns of a conversation offer
`automaton.py`                 `automaton.h`: the face of it all
`tables.py`                    `grammar.cc`, `schema_items.cc`, `action_space.cc` read what it writes
=============================  ===================================================================================

Where C++ has sets of bits (`head_set.h`, `bits.h`), Python has a list of alternatives or bool[A]; where C++ has lists in an
arena, whose last element leads to those before it, Python has tuples; -1 or null for what is not fixed is None or ().
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.space import ActionSpace
from fastsql.grammar.state import State as Data
from fastsql.grammar.step import IllegalActionError, advance, start

__all__ = ["IllegalActionError", "State"]


class State(Data):
    """A point in the writing of one query; never changes. Made by `start` and `advance` only."""

    _legal: NDArray[np.int64] | None = None

    @classmethod
    def start(cls, space: ActionSpace) -> State:
        """The state before the first action."""
        state = cls(space)
        start(state)
        return state

    def advance(self, action: int, *, decision: bool = True) -> State:
        """The state after an action. `decision` is False for an action that was the only legal one.

        Raises IllegalActionError for an action that the frontier does not know; call `legal` first where the caller
        cannot be trusted: requirements and the budget are checked there.
        """
        after = self.copy()
        after._legal = None
        advance(after, action, decision=decision)
        return after

    def mask(self) -> NDArray[np.bool_]:
        """Which actions may come next: bool[A]."""
        allowed = np.zeros(self.space.size, dtype=bool)
        allowed[self.legal()] = True
        return allowed

    def legal(self) -> NDArray[np.int64]:
        """Flat ids of all actions that may come next, ascending; never empty before the end."""
        if self._legal is None:
            from fastsql.grammar.mask import mask  # which the native core does without

            self._legal = np.flatnonzero(mask(self))
        return self._legal

    def takable(self) -> NDArray[np.bool_]:
        """Which of the legal actions a search may take: bool[L]; all where it would be none (`takable.py`)."""
        from fastsql.grammar.takable import RULES  # which the native core does without

        legal = self.legal()
        rules = [lets for may_choose, lets in RULES if may_choose(self)]
        if not rules:
            return np.ones(len(legal), dtype=bool)
        takable = np.asarray(
            [all(lets(self, action) for lets in rules) for action in legal.tolist()], dtype=bool
        )
        return takable if takable.any() else ~takable

    def source_at(self, step: int) -> int:
        """Place in FROM of the source that a step stands for where one is asked for.

        Sources that no decision chose, as where a right operand repeats those of the left, stand at the same step: of those
        that offer the column, the first is meant.
        """
        table = self.space.schema.columns[self.column].table
        sources = enumerate(self.scope.sources)
        return next(k for k, source in sources if source.step == step and source.table == table)
