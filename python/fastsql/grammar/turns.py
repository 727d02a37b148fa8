"""Earlier turns of a conversation, as the automaton of a later question sees them.

A turn is a finished query with everything that it took from turns before it written out. What it offers is numbered: its
select items, the sources of its FROM, and the columns of those that are derived tables. These entries stand behind the
decisions of the query that is being written, turn after turn, so that to point at one is to point at a step.

`reading_turns.py` makes a turn of a program, `inlining.py` writes turns out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastsql.grammar.program import Program
from fastsql.grammar.state import Offered


@dataclass(frozen=True)
class Turn:
    """An earlier turn. What it takes, it takes of the query that points at it, where it is written out.

    Attributes:
        program: its query, free of turns.
        offered: its entries, counted from 0: select items; of a single SELECT, also the sources of its FROM and the columns
            that it groups by.
        entries: how many they are.
        nesting: entries of SQLite's parser stack that it takes.
        actions: those that write it.
        spelled: those that write it where `*` is spelled out, as in a derived table.
        starred: whether it selects `*`.
        grouped: whether it has GROUP BY.
        aggregated: whether it groups or aggregates.
        of_rows: whether it selects columns of single rows.
        usable: whether it may be pointed at: it was neither refused nor forgotten, and did not fail.
    """

    program: Program
    offered: Offered
    entries: int
    nesting: int
    actions: int
    spelled: int
    starred: bool = False
    grouped: bool = False
    aggregated: bool = False
    of_rows: bool = False
    usable: bool = True

    @property
    def unusable(self) -> Turn:
        """The same turn, which nothing may point at."""
        return replace(self, usable=False)
