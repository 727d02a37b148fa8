"""What an automaton's state knows: the stack of symbols to come, and the queries that are being written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fastsql.grammar.space import ActionSpace


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
    widths: tuple[int, ...] | None
    """As right operand of one that selects `*`: how many columns each of its sources has. It must do the same."""
    left: tuple[str, int | None] = ("other", None)
    """Type and column of the latest left-hand side: what a literal is to be compared with."""
    starred: bool = False
    """Whether the query selects `*`."""
    grouped: bool = False
    """Whether it has GROUP BY."""
    # Kept where grouping is strict (grouping.py).
    keys: tuple[tuple[int, int], ...] = ()
    """Keys of GROUP BY: column and its source's step, or -1 and the step of a derived table's item."""
    aggregated: bool = False
    """Whether the query groups or aggregates."""
    of_rows: bool = False
    """Whether it reads columns of single rows in its select list."""


class Record:
    """What a state holds. Copied as a whole; what its slots refer to never changes."""

    __slots__ = (
        "_arity",
        "_beside",
        "_closed",
        "_closed_widths",
        "_column",
        "_followers",
        "_legal",
        "_pointer",
        "_span",
        "_stands_for",
        "_widths",
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
        """Type and column of what was completed last."""
        # What the next query to open must do, and what the one closed last has done.
        self._arity: int | None = None
        self._followers = 0
        self._stands_for: tuple[Item, ...] | None = None
        self._widths: tuple[int, ...] | None = None
        self._closed: tuple[Item, ...] = ()
        self._closed_widths: tuple[int, ...] | None = None
        # The column whose source is asked for, the pointer that named it, whether it must be a key of GROUP BY; and the
        # token at which a span begins.
        self._column = -1
        self._pointer = "column"
        self._beside = False
        self._span = -1
        self._legal: NDArray[np.int64] | None = None

    def width(self, source: Source) -> int:
        """Columns that a source has."""
        return len(source.items) if source.table < 0 else len(self.space.schema.tables[source.table].columns)
