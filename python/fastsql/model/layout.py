"""The flat numbering of the actions that the decoder scores.

`[productions | tables | columns | candidates | schema values | span starts | span ends | steps]`; an action's
flat number is the offset of its kind plus its index within the kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

KINDS = ("production", "table", "column", "candidate", "value", "start", "end", "step")
PRODUCTION, TABLE, COLUMN, CANDIDATE, VALUE, START, END, STEP = range(8)


@dataclass(frozen=True)
class ActionLayout:
    """How many actions of each kind there are, in the order of `KINDS`."""

    sizes: tuple[int, int, int, int, int, int, int, int]

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """First flat number of every kind, and the total as the ninth entry."""
        offsets = [0]
        for size in self.sizes:
            offsets.append(offsets[-1] + size)
        return tuple(offsets)

    @property
    def size(self) -> int:
        """How many actions there are."""
        return self.offsets[-1]

    def split(self, action: int) -> tuple[int, int]:
        """Kind and index of a flat action number."""
        for kind in range(len(KINDS) - 1, -1, -1):
            if action >= self.offsets[kind]:
                return kind, action - self.offsets[kind]
        raise IndexError(f"action {action} is negative")
