"""The automaton's rules: which alternatives of a symbol may be taken in a scope, and what a pointer may point at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.compile import Alternative
from fastsql.grammar.grouping import Grouping, Place
from fastsql.grammar.scope import Scope, Source
from fastsql.grammar.space import COLUMN, STEP, TABLE, can_hold_time, takes_span

MAX_NESTING = 75
"""Entries on SQLite's parser stack that constructs nested in one another may take, by the weights of the grammar.
The stack has 100 (YYSTACKDEPTH); a flat query needs at most 22 of them, and 3 are left for other versions of SQLite.
It also keeps the nesting of parentheses far below 48."""
MAX_SOURCES = 8
"""Tables and derived tables in one FROM (SQLite joins at most 64, counted after it flattens subqueries)."""
MAX_COLUMNS = 1_000
"""Columns that `*` may select (SQLite's result sets have at most 2,000)."""
MAX_SPAN = 64
"""Tokens of a free span."""

COLUMN_POINTERS = ("column", "time", "earlier", "newest")
JOINS = ("join", "left_join", "cross_join")
LEAST_JOIN = 2
"""Actions that one more source costs at least: `cross_join` and a table."""


class Rules(Grouping):
    """Decides what may come next."""

    __slots__ = ()

    # ---------------------------------------------------------------- alternatives

    def may(self, symbol: str) -> tuple[bool, bool]:
        """Whether a symbol that may be left out may be taken, and whether it may be left out."""
        scope = self.scope
        if scope is None:
            return True, True
        if symbol == "joins" and scope.widths is not None:
            return len(scope.sources) < len(scope.widths), len(scope.sources) >= len(scope.widths)
        if symbol not in ("items", "bare_items") or scope.arity is None:
            return True, True
        return len(scope.items) < scope.arity, len(scope.items) >= scope.arity

    def surcharge(self, symbol: int, alternative: Alternative) -> int:
        """Actions that an alternative will cost in right operands; negative where they were set aside."""
        scope = self.scope
        if scope is None:
            return 0
        name = self.space.grammar.symbols[symbol]
        if name == "items":
            per_item = self.space.grammar.cost[self.space.grammar.symbol("item")]
            return per_item * scope.followers if scope.stands_for is None else -per_item
        if name == "joins" and scope.widths is not None:
            return -LEAST_JOIN
        if "columns" in alternative.requires and scope.widths is None:
            return LEAST_JOIN * (len(scope.sources) - 1) * scope.followers
        return 0

    def meets(self, symbol: int, alternative: Alternative, depth: int) -> bool:
        """Whether nesting, scope and question allow an alternative."""
        if depth + alternative.nesting > MAX_NESTING:
            return False
        for requirement in alternative.requires:
            if requirement == "time" and not self._has_time():
                return False
            if requirement == "date" and not len(self.space.date_ids):
                return False
            if requirement == "text" and not self.space.offers_text:
                return False
            if requirement == "columns" and not self._offers_all_columns():
                return False
            if requirement == "grouped" and not self._grouped():
                return False
        scope = self.scope
        if not self._repeats(symbol, alternative):
            return False
        if alternative.action is not None and scope is not None and len(scope.sources) >= MAX_SOURCES:
            return self.space.grammar.productions[alternative.action] not in JOINS
        return alternative.pointer != "start" or self._offers_span()

    def _offers_all_columns(self) -> bool:
        """Whether the query may select `*`: the outermost one, or an operand of it whose other operands can do so too."""
        scope = self.scope
        if scope is None or scope.outer is not None or (scope.arity is not None and scope.widths is None):
            return False
        if scope.followers and any(source.table < 0 for source in scope.sources):
            return False
        return sum(self.width(source) for source in scope.sources) <= MAX_COLUMNS

    def _grouped(self) -> bool:
        """Whether a window may be ordered by an aggregate. Strict grouping has rules of its own for that."""
        return self.space.strict_grouping or (self.scope is not None and self.scope.grouped)

    def _repeats(self, symbol: int, alternative: Alternative) -> bool:
        """Whether an alternative lets the right operand of a query that selects `*` do the same, source by source."""
        if self._widths is None and (self.scope is None or self.scope.widths is None):
            return True
        name = self.space.grammar.symbols[symbol]
        if self._width_to_come(name) is not None:
            return alternative.pointer == "table"
        return name != "operand_body" or "columns" in alternative.requires

    def _width_to_come(self, symbol: str) -> int | None:
        """How many columns the source that opens or joins FROM must have, where that is fixed."""
        scope = self.scope
        if symbol == "operand" and self._widths is not None:
            return self._widths[0]
        if symbol == "new_source" and scope is not None and scope.widths is not None:
            return scope.widths[len(scope.sources)]
        return None

    def _has_time(self) -> bool:
        assert self.scope is not None
        return any(
            any(can_hold_time(item.type) for item in source.items)
            if source.table < 0
            else len(self.space.times_of_table[source.table]) > 0
            for source in self.scope.sources
        )

    def _offers_span(self) -> bool:
        if not len(self.space.tokens) or self.scope is None or self.stack is None:
            return False
        return takes_span(self.scope.left[0]) or self._partial

    @property
    def _partial(self) -> bool:
        """Whether the literal to come may be a part of a value."""
        return self.stack is not None and self.space.grammar.symbols[self.stack.symbol] in ("text", "pattern")

    # ---------------------------------------------------------------- pointers

    def eligible(self, pointer: str) -> tuple[Source, ...]:
        """Sources whose columns a pointer may name."""
        assert self.scope is not None
        sources = self.scope.sources
        return sources[:-1] if pointer == "earlier" else sources[-1:] if pointer == "newest" else sources

    def source_at(self, step: int) -> int:
        """Place in FROM of the source that a step stands for where one is asked for.

        Sources that no decision chose, as where a right operand repeats those of the left, stand at the same step: of those
        that offer the column, the first is meant.
        """
        table = self.table_of(self._column)
        sources = self._scope().sources
        return next(k for k, source in enumerate(sources) if source.step == step and source.table == table)

    def pointed(self, pointer: str, place: Place) -> NDArray[np.int64]:
        """Flat ids that a pointer may take where it stands."""
        space = self.space
        if pointer == "table":
            return self._tables(self._width_to_come(place.symbol))
        if pointer in COLUMN_POINTERS:
            return self._keys() if self.restricts(place) else self._columns(pointer)
        if pointer == "which":
            column, table = self._column, self.table_of(self._column)
            meant = [s for s in self.eligible(self._pointer) if s.table == table]
            keys_only = self.restricts(place)
            return self._steps([s.step for s in meant if not keys_only or self.is_key(s, column)])
        if pointer == "number":
            return space.whole_number_ids
        if pointer == "date":
            return space.date_ids
        if pointer == "text":
            return space.text_ids
        if pointer == "end":
            return space.span_ends(self._span, MAX_SPAN)
        left = self._scope().left
        if pointer == "value":
            return space.literal_ids(*left)
        if pointer == "pattern":
            return np.concatenate([space.literal_ids(*left), space.text_ids])
        return space.span_starts(*left, partial=self._partial)

    def _tables(self, width: int | None) -> NDArray[np.int64]:
        first, last = self.space.offsets[TABLE], self.space.offsets[TABLE + 1]
        if width is None:
            return np.arange(first, last)
        tables = self.space.schema.tables
        return np.asarray(
            [first + t for t, table in enumerate(tables) if len(table.columns) == width], dtype=np.int64
        )

    def _columns(self, pointer: str) -> NDArray[np.int64]:
        per_table = self.space.times_of_table if pointer == "time" else self.space.columns_of_table
        parts, steps = [], []
        for source in self.eligible(pointer):
            if source.table >= 0:
                parts.append(per_table[source.table])
            else:
                steps += [i.step for i in source.items if pointer != "time" or can_hold_time(i.type)]
        return np.concatenate([*parts, self._steps(steps)])

    def _keys(self) -> NDArray[np.int64]:
        keys = self._scope().keys
        steps = self._steps([step for column, step in keys if column < 0])
        columns = [column + self.space.offsets[COLUMN] for column, _ in keys if column >= 0]
        return np.concatenate([np.asarray(columns, dtype=np.int64), steps])

    def _steps(self, steps: list[int]) -> NDArray[np.int64]:
        return np.asarray(steps, dtype=np.int64) + self.space.offsets[STEP]

    def _scope(self) -> Scope:
        assert self.scope is not None
        return self.scope

    def table_of(self, column: int) -> int:
        """The table of a column."""
        return self.space.schema.columns[column].table
