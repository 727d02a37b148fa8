"""The grammar's pushdown automaton: which actions may come next, and what each one changes.

A state is immutable and shares its structure with the state it came from, so a beam forks for free. Whatever is
offered can be completed: every alternative is offered only if its cheapest completion fits in the step budget, if
the columns, tables and literals that it must point at exist, and if nesting allows (design section 2, promise a).

What a state holds is in `scope.py`, what completing a construct changes in `effects.py`, what may come next in `rules.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.compile import Alternative
from fastsql.grammar.grouping import Place
from fastsql.grammar.rules import COLUMN_POINTERS, MAX_NESTING, MAX_SOURCES, MAX_SPAN, Rules
from fastsql.grammar.scope import Cell, Record
from fastsql.grammar.space import (
    CANDIDATE,
    COLUMN,
    END,
    KINDS,
    PRODUCTION,
    SCHEMA_VALUE,
    START,
    STEP,
    TABLE,
    ActionSpace,
)

__all__ = ["MAX_NESTING", "MAX_SOURCES", "MAX_SPAN", "IllegalActionError", "State"]

_POINTERS_OF_KIND: dict[int, tuple[str, ...]] = {
    TABLE: ("table",),
    COLUMN: COLUMN_POINTERS,
    STEP: (*COLUMN_POINTERS, "which"),
    CANDIDATE: ("value", "number", "date", "text", "pattern"),
    SCHEMA_VALUE: ("value", "pattern"),
    START: ("start",),
    END: ("end",),
}


class IllegalActionError(Exception):
    """An action that the automaton does not offer in this state."""


class State(Rules):
    """A point in the decoding of one query. Made by `start` and `advance` only."""

    __slots__ = ()

    @classmethod
    def start(cls, space: ActionSpace) -> State:
        """The state before the first action."""
        state = cls(space)
        grammar = space.grammar
        state.stack = Cell(0, len(grammar.productions), 0, None)
        state.cost = grammar.cost[0]
        return state

    @property
    def finished(self) -> bool:
        """Whether the query is complete."""
        return self.stack is None

    @property
    def symbol(self) -> int:
        """The frontier: the symbol to be expanded next."""
        assert self.stack is not None
        return self.stack.symbol

    @property
    def parent(self) -> int:
        """The production that put the frontier on the stack (the number of productions: none did)."""
        assert self.stack is not None
        return self.stack.parent

    def place(self, cell: Cell) -> Place:
        """Where a cell's alternatives stand."""
        productions = self.space.grammar.productions
        parent = productions[cell.parent] if cell.parent < len(productions) else ""
        return Place(self.space.grammar.symbols[cell.symbol], parent)

    # ---------------------------------------------------------------- what may come next

    def legal(self) -> NDArray[np.int64]:
        """Flat ids of all actions that may come next, ascending; never empty before the end."""
        if self._legal is None:
            parts: list[NDArray[np.int64]] = []
            productions: list[int] = []
            grammar, budget = self.space.grammar, self.space.limits.actions
            strict = self.space.strict_grouping
            cell, rest = self.stack, self.cost
            while cell is not None:
                rest -= grammar.cost[cell.symbol]
                may_take, may_skip = self.may(grammar.symbols[cell.symbol])
                if may_take:
                    room = budget - self.used - rest
                    place = self.place(cell)
                    for alternative in grammar.alternatives[cell.symbol]:
                        if alternative.cost + self.surcharge(cell.symbol, alternative) > room:
                            continue
                        if not self.meets(cell.symbol, alternative, cell.depth):
                            continue
                        if strict and not self.groups(place, alternative):
                            continue
                        if alternative.action is not None:
                            productions.append(alternative.action)
                        elif alternative.pointer is not None:
                            parts.append(self.pointed(alternative.pointer, place))
                if not (grammar.nullable[cell.symbol] and may_skip):
                    break
                cell = cell.below
            parts.insert(0, np.asarray(productions, dtype=np.int64))
            self._legal = np.unique(np.concatenate(parts))
        return self._legal

    def mask(self) -> NDArray[np.bool_]:
        """Which actions may come next: bool[A]."""
        mask = np.zeros(self.space.size, dtype=bool)
        mask[self.legal()] = True
        return mask

    # ---------------------------------------------------------------- what an action changes

    def advance(self, action: int, *, decision: bool = True) -> State:
        """The state after an action. `decision` is False for an action that was the only legal one.

        Raises IllegalActionError for an action that the frontier does not know; call `legal` first where the caller
        cannot be trusted: requirements and the budget are checked there.
        """
        space = self.space
        grammar = space.grammar
        kind, index = space.locate(action)
        cell, rest = self.stack, self.cost
        alternative: Alternative | None = None
        while cell is not None:
            symbol = cell.symbol
            rest -= grammar.cost[symbol]
            alternative = self._alternative(symbol, kind, index)
            if alternative is not None:
                break
            if not grammar.nullable[symbol]:
                raise IllegalActionError(
                    f"{KINDS[kind]} {index} cannot stand for {grammar.symbols[self.symbol]!r}"
                )
            cell = cell.below
        if cell is None or alternative is None:
            raise IllegalActionError(f"{KINDS[kind]} {index} comes after the end")
        after = self._copy()
        after.used += 1
        after.decisions += decision
        after.cost = rest + self.surcharge(cell.symbol, alternative)
        parent = alternative.action if alternative.action is not None else cell.parent
        depth = cell.depth + alternative.weight
        below = cell.below
        for child in reversed(alternative.children):
            below = Cell(child, parent, depth, below)
            if child >= 0:
                after.cost += grammar.cost[child]
        after.stack = below
        if space.strict_grouping:
            after.account(self.place(cell), alternative)
        if alternative.pointer is not None:
            after._point(alternative.pointer, kind, index, parent, depth, self.place(cell))
            if space.strict_grouping:
                after.add_key(self.place(cell), kind, index, self._column)
        after.settle(kind, index)
        return after

    def _copy(self) -> State:
        other = State.__new__(State)
        for name in Record.__slots__:
            setattr(other, name, getattr(self, name))
        other._legal = None
        return other

    def _alternative(self, symbol: int, kind: int, index: int) -> Alternative | None:
        grammar = self.space.grammar
        if kind == PRODUCTION:
            return grammar.by_production[symbol].get(index)
        table = grammar.by_pointer[symbol]
        for pointer in _POINTERS_OF_KIND[kind]:
            if pointer in table:
                return table[pointer]
        return None

    def _point(self, pointer: str, kind: int, index: int, parent: int, depth: int, place: Place) -> None:
        """Notes what was pointed at; asks which source is meant where several offer the column."""
        if kind == COLUMN:
            self.last = (self.space.column_types[index], index)
            table = self.table_of(index)
            if sum(source.table == table for source in self.eligible(pointer)) > 1:
                which = self.space.grammar.symbol("which")
                self._column, self._pointer = index, pointer
                self._beside = self.restricts(place)
                self.stack = Cell(which, parent, depth, self.stack)
                self.cost += self.space.grammar.cost[which]
        elif kind == STEP and pointer != "which":
            item = next(i for s in self.eligible(pointer) for i in s.items if i.step == index)
            self.last = (item.type, item.column)
        elif kind == START:
            self._span = index
