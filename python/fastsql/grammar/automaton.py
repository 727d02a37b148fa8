"""The grammar's pushdown automaton: which actions may come next, and what each one changes.

A state is immutable and shares its structure with the state it came from, so a beam forks for free. Whatever is
offered can be completed: every alternative is offered only if its cheapest completion fits in the step budget, if
the columns, tables and literals that it must point at exist, and if nesting allows (design section 2, promise a).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.compile import EFFECTS, Alternative
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
    can_hold_time,
    takes_span,
)

MAX_NESTING = 75
"""Entries on SQLite's parser stack that constructs nested in one another may take, by the weights of the grammar.
The stack has 100 (YYSTACKDEPTH); a flat query needs at most 22 of them, and 3 are left for other versions of SQLite.
It also keeps the nesting of parentheses far below 48."""
MAX_SOURCES = 8
"""Tables and derived tables in one FROM (SQLite joins at most 64, counted after it flattens subqueries)."""
MAX_SPAN = 64
"""Tokens of a free span."""

_COLUMN_POINTERS = ("column", "time", "earlier", "newest")
_POINTERS_OF_KIND: dict[int, tuple[str, ...]] = {
    TABLE: ("table",),
    COLUMN: _COLUMN_POINTERS,
    STEP: (*_COLUMN_POINTERS, "which"),
    CANDIDATE: ("value", "number", "date", "text"),
    SCHEMA_VALUE: ("value",),
    START: ("start",),
    END: ("end",),
}


class Cell(NamedTuple):
    """One entry of the stack: a symbol (>= 0) or effect (< 0), the production that put it there, its nesting weight."""

    symbol: int
    parent: int
    depth: int
    below: Cell | None


class Item(NamedTuple):
    """A select item: its type class, the schema column it passes on unchanged (or None), the decision that ended it."""

    type: str
    column: int | None
    step: int


class Source(NamedTuple):
    """An entry of FROM: a table (its index, no items) or a derived table (-1 and its items)."""

    table: int
    items: tuple[Item, ...]
    step: int


class Scope(NamedTuple):
    """What is known of the query that is being written, and of those around it."""

    outer: Scope | None
    sources: tuple[Source, ...]
    items: tuple[Item, ...]
    arity: int | None
    """Items that the query must select, where something else has fixed it."""
    followers: int
    """Right operands of set operations yet to come that must select as many items as this query."""
    stands_for: tuple[Item, ...] | None
    """As right operand: the left one's items, which name the result."""
    left: tuple[str, int | None]
    """Type and column of the latest left-hand side: what a literal is to be compared with."""


class IllegalActionError(Exception):
    """An action that the automaton does not offer in this state."""


class State:
    """A point in the decoding of one query. Made by `start` and `advance` only."""

    __slots__ = (
        "_arity",
        "_closed",
        "_column",
        "_followers",
        "_legal",
        "_pointer",
        "_span",
        "_stands_for",
        "cost",
        "decisions",
        "last",
        "scope",
        "space",
        "stack",
        "used",
    )

    def __init__(self, space: ActionSpace) -> None:
        self.space = space
        self.stack: Cell | None = None
        self.scope: Scope | None = None
        self.used = 0
        self.decisions = 0
        self.cost = 0
        self.last: tuple[str, int | None] = ("other", None)
        self._arity: int | None = None
        self._followers = 0
        self._stands_for: tuple[Item, ...] | None = None
        self._closed: tuple[Item, ...] = ()
        self._column = -1
        self._pointer = "column"
        self._span = -1
        self._legal: NDArray[np.int64] | None = None

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

    # ---------------------------------------------------------------- what may come next

    def legal(self) -> NDArray[np.int64]:
        """Flat ids of all actions that may come next, ascending; never empty before the end."""
        if self._legal is None:
            parts: list[NDArray[np.int64]] = []
            productions: list[int] = []
            grammar, budget = self.space.grammar, self.space.limits.actions
            cell, rest = self.stack, self.cost
            while cell is not None:
                rest -= grammar.cost[cell.symbol]
                may_take, may_skip = self._arity_rule(cell.symbol)
                if may_take:
                    room = budget - self.used - rest - self._extra_cost(cell.symbol)
                    for alternative in grammar.alternatives[cell.symbol]:
                        if alternative.cost > room or not self._meets(alternative, cell.depth):
                            continue
                        if alternative.action is not None:
                            productions.append(alternative.action)
                        else:
                            parts.append(self._pointed(alternative))
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

    def _arity_rule(self, symbol: int) -> tuple[bool, bool]:
        """Whether one more select item may, and need not, follow."""
        scope = self.scope
        if (
            self.space.grammar.symbols[symbol] not in ("items", "bare_items")
            or scope is None
            or scope.arity is None
        ):
            return True, True
        return len(scope.items) < scope.arity, len(scope.items) >= scope.arity

    def _extra_cost(self, symbol: int) -> int:
        """Actions that one more select item will cost in right operands; negative where they were set aside."""
        scope = self.scope
        if scope is None or self.space.grammar.symbols[symbol] != "items":
            return 0
        per_item = self.space.grammar.cost[self.space.grammar.symbol("item")]
        return per_item * scope.followers if scope.stands_for is None else -per_item

    def _meets(self, alternative: Alternative, depth: int) -> bool:
        if depth + alternative.nesting > MAX_NESTING:
            return False
        for requirement in alternative.requires:
            if requirement == "time" and not self._has_time():
                return False
            if requirement == "date" and not len(self.space.date_ids):
                return False
            if requirement == "text" and not self.space.offers_text:
                return False
        if (
            alternative.action is not None
            and self.scope is not None
            and len(self.scope.sources) >= MAX_SOURCES
        ):
            return self.space.grammar.productions[alternative.action] not in ("join", "left_join")
        return alternative.pointer != "start" or self._offers_span()

    def _has_time(self) -> bool:
        assert self.scope is not None
        return any(
            any(can_hold_time(item.type) for item in source.items)
            if source.table < 0
            else len(self.space.times_of_table[source.table]) > 0
            for source in self.scope.sources
        )

    def _offers_span(self) -> bool:
        if not len(self.space.tokens):
            return False
        if self.scope is None or self.stack is None:
            return False
        return takes_span(self.scope.left[0]) or self._partial

    @property
    def _partial(self) -> bool:
        """Whether the literal to come may be a part of a value."""
        return self.stack is not None and self.space.grammar.symbols[self.stack.symbol] == "text"

    def _eligible(self, pointer: str) -> tuple[Source, ...]:
        """Sources whose columns a pointer may name."""
        assert self.scope is not None
        sources = self.scope.sources
        return sources[:-1] if pointer == "earlier" else sources[-1:] if pointer == "newest" else sources

    def _pointed(self, alternative: Alternative) -> NDArray[np.int64]:
        """Flat ids that a pointer may take."""
        space, pointer = self.space, alternative.pointer
        if pointer == "table":
            return np.arange(space.offsets[TABLE], space.offsets[TABLE + 1])
        if pointer in _COLUMN_POINTERS:
            return self._columns(pointer)
        if pointer == "which":
            table = self._table_of(self._column)
            return self._steps([s.step for s in self._eligible(self._pointer) if s.table == table])
        if pointer == "value":
            assert self.scope is not None
            return space.literal_ids(*self.scope.left)
        if pointer == "number":
            return space.whole_number_ids
        if pointer == "date":
            return space.date_ids
        if pointer == "text":
            return space.text_ids
        if pointer == "start":
            assert self.scope is not None
            return space.span_starts(*self.scope.left, partial=self._partial)
        return space.span_ends(self._span, MAX_SPAN)

    def _columns(self, pointer: str) -> NDArray[np.int64]:
        per_table = self.space.times_of_table if pointer == "time" else self.space.columns_of_table
        parts, steps = [], []
        for source in self._eligible(pointer):
            if source.table >= 0:
                parts.append(per_table[source.table])
            else:
                steps += [i.step for i in source.items if pointer != "time" or can_hold_time(i.type)]
        return np.concatenate([*parts, self._steps(steps)])

    def _steps(self, steps: list[int]) -> NDArray[np.int64]:
        return np.asarray(steps, dtype=np.int64) + self.space.offsets[STEP]

    def _table_of(self, column: int) -> int:
        return self.space.schema.columns[column].table

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
        after.cost = rest + self._extra_cost(cell.symbol)
        parent = alternative.action if alternative.action is not None else cell.parent
        depth = cell.depth + alternative.weight
        below = cell.below
        for child in reversed(alternative.children):
            below = Cell(child, parent, depth, below)
            if child >= 0:
                after.cost += grammar.cost[child]
        after.stack = below
        if alternative.pointer is not None:
            after._point(alternative.pointer, kind, index, parent, depth)
        after._settle(kind, index)
        return after

    def _copy(self) -> State:
        other = State.__new__(State)
        for name in State.__slots__:
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

    def _point(self, pointer: str, kind: int, index: int, parent: int, depth: int) -> None:
        """Notes what was pointed at; asks which source is meant where several offer the column."""
        if kind == COLUMN:
            self.last = (self.space.column_types[index], index)
            table = self._table_of(index)
            if sum(source.table == table for source in self._eligible(pointer)) > 1:
                which = self.space.grammar.symbol("which")
                self._column, self._pointer = index, pointer
                self.stack = Cell(which, parent, depth, self.stack)
                self.cost += self.space.grammar.cost[which]
        elif kind == STEP and pointer != "which":
            item = next(i for s in self._eligible(pointer) for i in s.items if i.step == index)
            self.last = (item.type, item.column)
        elif kind == START:
            self._span = index

    def _settle(self, kind: int, index: int) -> None:
        """Carries out the semantic actions that now lie on top of the stack."""
        while self.stack is not None and self.stack.symbol < 0:
            effect = EFFECTS[-1 - self.stack.symbol]
            self.stack = self.stack.below
            getattr(self, f"_do_{effect}")(kind, index)

    def _open(self, sources: tuple[Source, ...]) -> None:
        self.scope = Scope(
            self.scope, sources, (), self._arity, self._followers, self._stands_for, ("other", None)
        )
        self._arity, self._followers, self._stands_for = None, 0, None

    def _add(self, source: Source) -> None:
        assert self.scope is not None
        self.scope = self.scope._replace(sources=(*self.scope.sources, source))

    def _do_from(self, kind: int, index: int) -> None:
        """A query opens with the table just pointed at."""
        self._open((Source(index, (), self.decisions - 1),))

    def _do_scope(self, kind: int, index: int) -> None:
        """A query opens whose first source is yet to come."""
        self._open(())

    def _do_source(self, kind: int, index: int) -> None:
        """The table just pointed at joins FROM."""
        self._add(Source(index, (), self.decisions - 1))

    def _do_derived(self, kind: int, index: int) -> None:
        """The query just closed joins FROM."""
        self._add(Source(-1, self._closed, self.decisions - 1))

    def _do_item(self, kind: int, index: int) -> None:
        """A select item is complete."""
        assert self.scope is not None
        item = Item(*self.last, self.decisions - 1)
        self.scope = self.scope._replace(items=(*self.scope.items, item))

    def _do_close(self, kind: int, index: int) -> None:
        """The innermost query is complete."""
        assert self.scope is not None
        self._closed = self.scope.stands_for or self.scope.items
        self.last = (self._closed[0].type, self._closed[0].column)
        self.scope = self.scope.outer

    def _do_one(self, kind: int, index: int) -> None:
        """The query to come selects one item."""
        self._arity = 1

    def _do_first(self, kind: int, index: int) -> None:
        """The left operand of a set operation comes."""
        self._followers += 1

    def _do_second(self, kind: int, index: int) -> None:
        """The right operand of a set operation comes: as many items as the left one had."""
        self._arity, self._stands_for = len(self._closed), self._closed

    def _do_left(self, kind: int, index: int) -> None:
        """What was just completed is the left-hand side of a comparison."""
        assert self.scope is not None
        self.scope = self.scope._replace(left=self.last)

    def _do_number(self, kind: int, index: int) -> None:
        """What was just completed is a number."""
        self.last = ("number", None)

    def _do_text(self, kind: int, index: int) -> None:
        """What was just completed is text."""
        self.last = ("text", None)

    def _do_time(self, kind: int, index: int) -> None:
        """What was just completed is a time."""
        self.last = ("time", None)

    def _do_numbers(self, kind: int, index: int) -> None:
        """The literals to come are numbers."""
        assert self.scope is not None
        self.scope = self.scope._replace(left=("number", None))
