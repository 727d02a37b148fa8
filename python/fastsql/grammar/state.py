"""A hypothesis of the automaton: the stack of symbols to come, and the queries that are being written.

A state changes only while `step.py` takes an action in a fresh copy of it. What it refers to never changes and is shared
by all states that came from one another, so a beam forks for free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from fastsql.grammar.space import ActionSpace

_State = TypeVar("_State", bound="State")


class Typed(NamedTuple):
    """The type class of an expression, and the schema column that it passes on unchanged."""

    type: str = "other"
    column: int | None = None


class Cell(NamedTuple):
    """An entry of the stack: a symbol (>= 0) or an effect (< 0)."""

    symbol: int
    parent: int  # the production that put it there; the number of productions: none did
    depth: int  # entries of SQLite's parser stack that are taken where it stands
    below: Cell | None


class Item(NamedTuple):
    """A select item: type and column passed on, the decision that ended it."""

    typed: Typed
    step: int


class Source(NamedTuple):
    """An entry of FROM: a table (its index, no items) or a derived table (-1 and its items)."""

    table: int
    items: tuple[Item, ...]
    step: int
    width: int  # columns that it has
    any_time: bool  # whether one of them can hold a time
    turn: int = -1  # whose result it is


class Key(NamedTuple):
    """A key of GROUP BY: a column and its source's step, or -1 and the step of a derived table's item."""

    column: int
    step: int


class Offered(NamedTuple):
    """What an earlier turn offers, at steps of its own."""

    items: tuple[Item, ...]
    sources: tuple[Source, ...] = ()
    keys: tuple[Key, ...] = ()

    def behind(self, steps: int) -> Offered:
        """The same, so many steps later."""

        def later(items: tuple[Item, ...]) -> tuple[Item, ...]:
            return tuple(item._replace(step=item.step + steps) for item in items)

        sources = (s._replace(step=s.step + steps, items=later(s.items)) for s in self.sources)
        keys = (key._replace(step=key.step + steps) for key in self.keys)
        return Offered(later(self.items), tuple(sources), tuple(keys))


class Scope(NamedTuple):
    """What is known of the query that is being written, and through `outer` of those around it."""

    outer: Scope | None = None
    sources: tuple[Source, ...] = ()
    items: tuple[Item, ...] = ()
    stands_for: tuple[Item, ...] = ()  # as right operand: the left one's items, which name the result
    widths: tuple[Source, ...] = ()  # as right operand of one that selects `*`: that one's sources
    keys: tuple[Key, ...] = ()
    arity: int | None = None  # items that it must select, where something else has fixed it
    followers: int = 0  # right operands to come that must select as many items
    left: Typed = Typed()  # what a literal is to be compared with
    wanted: int = -1  # the group of keys that its item is compared with; -1: none
    starred: bool = False  # it selects `*`
    grouped: bool = False  # it has GROUP BY
    aggregated: bool = False  # it groups or aggregates
    of_rows: bool = False  # it reads columns of single rows in its select list
    reopened: int = -1  # the turn that it extends


_NO_QUERY, _UNTYPED = Scope(), Typed()


@dataclass(eq=False)
class State:
    """A point in the writing of one query."""

    space: ActionSpace
    stack: Cell | None = None
    scope: Scope = _NO_QUERY  # where `in_query`
    in_query: bool = False
    beside: bool = False  # whether the source asked for must be a key of GROUP BY
    keying: bool = False  # whether the column whose source is asked for becomes one
    compared: bool = False  # whether the turn asked for is compared with `left`
    pointer: str = "column"  # that named the column whose source is asked for
    column: int = -1  # that column
    toward: int = -1  # the table to which a way along keys leads
    span: int = -1  # token at which the span begins
    used: int = 0  # actions
    decisions: int = 0  # those that were not the only legal one
    cost: int = 0  # fewest actions that complete the query
    last: Typed = _UNTYPED  # what was completed last
    # What the next query to open must do, and what the one closed last has done.
    arity: int | None = None
    followers: int = 0
    stands_for: tuple[Item, ...] = ()
    widths: tuple[Source, ...] = ()
    wanted: int = -1
    closed: tuple[Item, ...] = ()
    closed_widths: tuple[Source, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether the query is complete."""
        return self.stack is None

    @property
    def symbol(self) -> int:
        """The frontier: the symbol to be expanded next; not once finished."""
        assert self.stack is not None
        return self.stack.symbol

    @property
    def parent(self) -> int:
        """The production that put the frontier on the stack (the number of productions: none did)."""
        assert self.stack is not None
        return self.stack.parent

    def copy(self: _State) -> _State:
        """A fork of the hypothesis."""
        other = self.__class__.__new__(self.__class__)
        other.__dict__.update(self.__dict__)
        return other
